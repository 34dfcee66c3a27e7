use super::*;

/// What a request whose tools, metadata, holder and end user nobody knows gets, whether that is certain, and what came of the rules.
fn looked_at(specs: Value) -> (String, bool, Vec<Tested<'static>>) {
    let rules: &'static RuleSet = Box::leak(Box::new(rules(specs)));
    let unknown = Unknown::NOTHING.and(Fact::Tools).and(Fact::Metadata).and(Fact::Caller).and(Fact::EndUser);
    let given = Given { unknown, ..Given::default() };
    let models = models();
    given.sampled(|sample| {
        let decision = explain(rules, &models, sample, &NoSpends);
        let outcome = match &decision.outcome {
            Outcome::Route { model, .. } => model.name.to_string(),
            other => format!("{other:?}"),
        };
        (outcome, decision.certain, decision.tried.iter().map(|tried| tried.result).collect())
    })
}

fn redirect(when: Value) -> Value {
    json!({"name": "r", "kind": "cost_saver", "when": when, "redirect": {"model": "small"}})
}

#[test]
fn a_condition_on_what_is_not_known_is_neither_met_nor_unmet() {
    for (when, condition) in [
        (json!({"tools": true}), Condition::Tools),
        (json!({"tools": false}), Condition::Tools),
        (json!({"metadata": {"a": "b"}}), Condition::Metadata),
        (json!({"teams": ["search"]}), Condition::Teams),
        (json!({"models": ["large"], "tags": {"job": "batch"}}), Condition::Tags),
    ] {
        assert_eq!(looked_at(json!([redirect(when.clone())])), ("large".to_owned(), false, vec![Tested::Unknown(condition)]), "{when}");
    }
}

#[test]
fn what_is_known_not_to_hold_needs_nothing_else() {
    for (when, condition) in [
        (json!({"tools": true, "stream": true}), Condition::Stream),
        (json!({"tools": true, "models": ["mini"]}), Condition::Models),
        (json!({"metadata": {"a": "b"}, "prompt_tokens": {"min": 100}}), Condition::PromptTokens),
    ] {
        assert_eq!(looked_at(json!([redirect(when.clone())])), ("large".to_owned(), true, vec![Tested::Unmet(condition)]), "{when}");
    }
}

#[test]
fn expressions_are_open_where_they_ask_for_what_is_not_known() {
    let custom = |cel: &str| json!([{"name": "r", "kind": "custom", "when": {"cel": cel}, "redirect": {"model": "small"}}]);
    assert_eq!(looked_at(custom("tools || stream")), ("large".to_owned(), false, vec![Tested::Unknown(Condition::Cel)]));
    assert_eq!(looked_at(custom("prompt_tokens < 100 && !images")), ("small".to_owned(), true, vec![Tested::Decided]));
}

#[test]
fn a_split_by_end_user_is_open_where_the_end_user_is_not_known() {
    let split = |sticky: &str| {
        let arms = json!([{"model": "small", "weight": 1}, {"model": "mini", "weight": 0}]);
        json!([{"name": "r", "kind": "ab", "split": arms, "sticky": sticky}])
    };
    assert_eq!(looked_at(split("end_user")), ("large".to_owned(), false, vec![Tested::Unknown(Condition::Sticky)]));
    assert_eq!(looked_at(split("key")), ("small".to_owned(), true, vec![Tested::Decided]));
}

#[test]
fn a_rule_that_only_logs_leaves_the_decision_certain_and_a_region_does_not() {
    let log = json!({"name": "log", "kind": "deny", "log_only": true, "when": {"tools": true}});
    assert_eq!(looked_at(json!([log])), ("large".to_owned(), true, vec![Tested::Unknown(Condition::Tools)]));
    let first = json!({"name": "go", "kind": "cost_saver", "redirect": {"model": "small"}});
    let pin = json!({"name": "pin", "kind": "cost_saver", "priority": 1, "region": "us", "when": {"tools": true}});
    let (outcome, certain, results) = looked_at(json!([first, pin]));
    assert_eq!((outcome.as_str(), certain, results.len()), ("small", false, 2), "the pin might leave no target");
}
