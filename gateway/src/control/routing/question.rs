//! What a dry run is asked: about which request, by which rules, and when.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use svc_filters::routing::ModelTable;
use svc_filters::routing::rules::{Rule, RuleSet};

use super::sample::{self, Sample};
use crate::conf::Conf;
use crate::control::fields::Fields;
use crate::control::problem::{Fault, Problem};

/// The question.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) about: About,
    /// Unix milliseconds, in place of the present or of the time of the log.
    pub(super) at: Option<i64>,
    /// Rules to try instead of those in force.
    rules: Option<Vec<crate::conf::Rule>>,
}

/// The request it is about.
#[derive(Debug)]
pub(super) enum About {
    /// One that is made up.
    Sample(Box<Sample>),
    /// One of the request log, by its id.
    Logged(String),
}

/// The member that has to stay as it was written: what rules see of it is found in its bytes.
#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(borrow)]
    body: Option<&'a RawValue>,
}

impl Question {
    /// Reads a question.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(super) fn read(json: &Bytes, json_depth: usize) -> Result<Self, Problem> {
        let mut fields = Fields::parse(json)?;
        let at = fields.moment("at").flatten();
        let rules = rules(&mut fields);
        let about = if fields.has("request_id") {
            let id = fields.text("request_id");
            for field in sample::FIELDS {
                if fields.value(field).is_some() {
                    fields.fault(field, "does not go with `request_id`");
                }
            }
            id.map(About::Logged)
        } else {
            let body = raw_body(json)?;
            Sample::read(&mut fields, body, json_depth).map(|sample| About::Sample(Box::new(sample)))
        };
        fields.finish()?;
        Ok(Self { about: about.ok_or(Problem::Internal)?, at, rules })
    }

    /// The rules to try, as they were written.
    pub(super) fn tried(&self) -> &[crate::conf::Rule] {
        self.rules.as_deref().unwrap_or_default()
    }

    /// The rules to try, ready to be asked.
    ///
    /// # Errors
    /// When one makes no sense.
    pub(super) fn candidates(&self, models: &ModelTable) -> Result<Option<RuleSet>, Problem> {
        let Some(rules) = &self.rules else { return Ok(None) };
        let compiled: Result<_, _> = rules.iter().map(Rule::compile).collect();
        let compiled = compiled.map_err(|error| Problem::field("rules", format!("cannot be used: failed to {error}")))?;
        Ok(Some(RuleSet::new(compiled, models)))
    }
}

fn rules(fields: &mut Fields) -> Option<Vec<crate::conf::Rule>> {
    let given = fields.value("rules").filter(|given| !given.is_null())?;
    match Conf::rules_of(&given) {
        Ok(rules) => Some(rules),
        Err(problems) => {
            fields.faults(problems.into_iter().map(|problem| Fault { field: problem.path, detail: problem.message }));
            None
        }
    }
}

fn raw_body(json: &Bytes) -> Result<Option<Bytes>, Problem> {
    let raw: Raw<'_> = serde_json::from_slice(json).map_err(|error| Problem::Malformed(format!("The body is not valid: {error}.")))?;
    Ok(raw.body.map(|body| json.slice_ref(body.get().as_bytes())))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(question: &Value) -> Result<Question, Problem> {
        Question::read(&question.to_string().into(), 128)
    }

    fn faults(question: &Value) -> Vec<String> {
        match read(question) {
            Err(Problem::Invalid(faults)) => faults.into_iter().map(|fault| format!("{} {}", fault.field, fault.detail)).collect(),
            other => panic!("{question}: {other:?}"),
        }
    }

    fn chat() -> Value {
        json!({"model": "m", "messages": []})
    }

    #[test]
    fn a_question_is_about_one_request() {
        let sample = read(&json!({"key": "k", "body": chat(), "headers": {"X-Lane": "b"}, "at": "2026-11-20T10:30:00Z"})).unwrap();
        let About::Sample(request) = &sample.about else { panic!("{sample:?}") };
        assert_eq!((&*request.key, &*request.model, request.headers["x-lane"].as_bytes()), ("k", "m", &b"b"[..]));
        assert_eq!(sample.at, Some(1_795_170_600_000));
        let logged = read(&json!({"request_id": "r", "rules": []})).unwrap();
        assert!(matches!(&logged.about, About::Logged(id) if id == "r") && logged.rules.is_some_and(|rules| rules.is_empty()));
        assert_eq!(faults(&json!({"request_id": "r", "key": "k", "body": {}})).len(), 2);
        assert_eq!(faults(&json!({})), ["key is required", "body is required"]);
    }

    #[test]
    fn every_fault_names_its_field() {
        for (question, expected) in [
            (json!({"key": 1, "body": chat()}), "key must be a text"),
            (json!({"key": "k", "body": chat(), "endpoint": "list_models"}), "endpoint must be one of"),
            (
                json!({"key": "k", "body": chat(), "endpoint": "messages", "path": "/v1/chat/completions"}),
                "endpoint is not the one of `path`",
            ),
            (json!({"key": "k", "body": chat(), "path": "/v1/models"}), "path is an endpoint that asks no model"),
            (json!({"key": "k", "body": chat(), "path": "/v2/x"}), "path is no endpoint of the gateway"),
            (json!({"key": "k", "body": chat(), "path": "/v1beta/models/..:generateContent"}), "path does not hold a valid model name"),
            (json!({"key": "k", "body": chat(), "headers": {"a b": "c"}}), "headers.a b is not the name of a header"),
            (json!({"key": "k", "body": chat(), "headers": {"a": "\n"}}), "headers.a must be the text of a header line"),
            (json!({"key": "k", "body": chat(), "headers": []}), "headers must be an object"),
            (json!({"key": "k", "body": []}), "body must be an object"),
            (json!({"key": "k", "body": {"model": "m", "stream": "yes"}}), "body is not valid: failed to read `stream`"),
            (json!({"key": "k", "body": {}}), "body.model is refused: The request names no model"),
            (json!({"key": "k", "body": chat(), "at": "tomorrow"}), "at must be a moment"),
            (json!({"key": "k", "body": chat(), "rules": {"name": "a"}}), "rules expected a list"),
            (json!({"key": "k", "body": chat(), "rules": [{"name": "a", "kind": "deny", "when": {"toools": true}}]}), "rules[0].when"),
            (json!({"key": "k", "body": chat(), "colour": 1}), "colour is not a known field"),
        ] {
            let found = faults(&question);
            assert!(found.len() == 1 && found[0].starts_with(expected), "{question}: {found:?}");
        }
    }

    #[test]
    fn a_body_that_says_a_thing_twice_is_refused_as_the_gateway_refuses_it() {
        let twice = br#"{"key": "k", "body": {"model": "a", "model": "b"}}"#;
        let refused = Question::read(&Bytes::from_static(twice), 128);
        assert!(matches!(&refused, Err(Problem::Invalid(faults)) if faults[0].field == "body"), "{refused:?}");
        let bodies = br#"{"key": "k", "body": {"model": "a"}, "body": {"model": "b"}}"#;
        assert!(matches!(Question::read(&Bytes::from_static(bodies), 128), Err(Problem::Malformed(_))));
    }

    #[test]
    fn the_model_may_be_in_the_path() {
        let path = "/v1beta/models/g:streamGenerateContent?alt=sse";
        let read = read(&json!({"key": "k", "path": path, "body": {"contents": []}})).unwrap();
        let About::Sample(sample) = read.about else { panic!("a sample") };
        assert_eq!((&*sample.model, sample.endpoint.as_str()), ("g", "stream_generate_content"));
    }
}
