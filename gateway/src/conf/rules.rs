//! Routing rules and guardrails that do not come from the file, such as those an operator wants to try.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::error::Problem;
use super::node::{Entry, Mark, Node, Scalar, Value};
use super::{Guardrail, Rule, de, validate};

/// Where everything is: JSON from elsewhere has no lines.
const NOWHERE: Mark = Mark { line: 1, column: 1 };

#[derive(Deserialize)]
struct Rules {
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
struct Guardrails {
    guardrails: Vec<Guardrail>,
}

impl super::Conf {
    /// Reads a JSON list of rules in the form of the configuration's section `rules`. What the file would be refused for is
    /// refused in the same words, by the same path.
    ///
    /// # Errors
    /// Everything that is wrong; of what cannot be read at all, the first. At least one problem.
    pub fn rules_of(json: &Json) -> Result<Vec<Rule>, Vec<Problem>> {
        let (section, root) = section::<Rules>("rules", json)?;
        let problems = validate::check_rules(&section.rules, &root);
        if problems.is_empty() { Ok(section.rules) } else { Err(problems) }
    }

    /// The same for a list of guardrails in the form of the section `guardrails`.
    ///
    /// # Errors
    /// As [`Self::rules_of`].
    pub fn guardrails_of(json: &Json) -> Result<Vec<Guardrail>, Vec<Problem>> {
        let (section, root) = section::<Guardrails>("guardrails", json)?;
        let problems = validate::check_guardrails(&section.guardrails, &root);
        if problems.is_empty() { Ok(section.guardrails) } else { Err(problems) }
    }
}

fn section<T: DeserializeOwned>(key: &str, json: &Json) -> Result<(T, Node), Vec<Problem>> {
    let entry = Entry { key: key.to_owned(), key_mark: NOWHERE, value: node(json) };
    let root = Node { mark: NOWHERE, value: Value::Map(vec![entry]) };
    let section = de::from_tree(&root, "").map_err(|problem| vec![*problem])?;
    Ok((section, root))
}

fn node(json: &serde_json::Value) -> Node {
    let scalar = |text: String, plain: bool| Value::Scalar(Scalar { text, plain, expanded: false });
    let value = match json {
        serde_json::Value::String(text) => scalar(text.clone(), false),
        serde_json::Value::Array(items) => Value::List(items.iter().map(node).collect()),
        serde_json::Value::Object(members) => {
            Value::Map(members.iter().map(|(key, value)| Entry { key: key.clone(), key_mark: NOWHERE, value: node(value) }).collect())
        }
        other => scalar(other.to_string(), true),
    };
    Node { mark: NOWHERE, value }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::conf::{Conf, ConfError};

    fn of_json(rules: &serde_json::Value) -> Vec<(String, String)> {
        let problems = Conf::rules_of(rules).expect_err("they are refused");
        problems.into_iter().map(|problem| (problem.path, problem.message)).collect()
    }

    fn of_file(rules: &serde_json::Value) -> Vec<(String, String)> {
        // JSON is YAML.
        match Conf::parse(&format!("rules: {rules}\n"), "test.yaml", &|_| None) {
            Err(ConfError::Invalid { problems }) => problems.into_iter().map(|problem| (problem.path, problem.message)).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rules_are_refused_as_those_of_the_file_are() {
        let redirect = json!({"model": "small"});
        for rules in [
            json!({"name": "a"}),
            json!(["a"]),
            json!([{"name": "a", "kind": "denies"}]),
            json!([{"name": "a", "kind": "deny", "wenn": {}}]),
            json!([{"name": "a", "kind": "deny", "priority": "high"}]),
            json!([{"name": "a", "kind": "deny", "when": {"stream": 1}}]),
            json!([{"name": "a", "kind": "deny", "when": {"time": {"from": "25:00"}}}]),
            json!([{"name": "a", "kind": "deny"}, {"name": "a", "kind": "deny", "redirect": redirect}]),
            json!([{"name": "a", "kind": "custom", "redirect": redirect, "when": {"cel": "model ==\n  5 && nobody"}}]),
            json!([{"name": "a", "kind": "custom", "redirect": redirect, "when": {"cel": "stream &&"}}, {"name": " ", "kind": "deny"}]),
        ] {
            let (json, file) = (of_json(&rules), of_file(&rules));
            assert!(!json.is_empty() && json[0].0.starts_with("rules"), "{rules}: {json:?}");
            let (mut json, mut file) = (json, file);
            json.sort();
            file.sort();
            assert_eq!(json, file, "{rules}");
        }
    }

    #[test]
    fn sound_rules_are_read() {
        let rules = json!([
            {"name": "a", "kind": "deny", "priority": -3, "log_only": true, "region": null, "when": {"prompt_tokens": {"min": 5}}},
            {"name": "b \u{1f600}", "kind": "spend_circuit", "spend": {"limit_usd": 2.5, "window": "1h"}},
        ]);
        let read = Conf::rules_of(&rules).expect("they are sound");
        assert_eq!(read.iter().map(|rule| (&*rule.name, rule.priority)).collect::<Vec<_>>(), [("a", -3), ("b \u{1f600}", 0)]);
        assert!(Conf::rules_of(&json!([])).expect("none is sound").is_empty());
    }
}
