use super::*;

/// Each of these holds for [`Given::full`] in its first form and not in its second.
#[test]
fn every_scope_and_condition_decides_by_itself() {
    let cases = [
        (
            Condition::ScopeOwners,
            json!({"scope": {"owners": [{"agent": "bot"}, {"user": "Ann@example.com"}]}}),
            json!({"scope": {"owners": [{"agent": "ann@example.com"}]}}),
        ),
        (Condition::ScopeKeys, json!({"scope": {"keys": ["other", "build key"]}}), json!({"scope": {"keys": ["k-1"]}})),
        (Condition::ScopeTeams, json!({"scope": {"teams": ["search"]}}), json!({"scope": {"teams": ["Search"]}})),
        (Condition::ScopeApplications, json!({"scope": {"applications": ["crawler"]}}), json!({"scope": {"applications": ["x"]}})),
        (Condition::ScopeGroups, json!({"scope": {"groups": ["x", "berlin"]}}), json!({"scope": {"groups": ["x"]}})),
        (Condition::Models, json!({"when": {"models": ["x", "large"]}}), json!({"when": {"models": ["small"]}})),
        (
            Condition::Owners,
            json!({"when": {"owners": [{"user": "ann@example.com"}]}}),
            json!({"when": {"owners": [{"user": "bob@example.com"}]}}),
        ),
        (Condition::Teams, json!({"when": {"teams": ["search"]}}), json!({"when": {"teams": ["x"]}})),
        (Condition::Tags, json!({"when": {"tags": {"job": "batch"}}}), json!({"when": {"tags": {"job": "batch", "more": "x"}}})),
        (Condition::Metadata, json!({"when": {"metadata": {"run": "nightly"}}}), json!({"when": {"metadata": {"run": "daily"}}})),
        (
            Condition::PromptTokens,
            json!({"when": {"prompt_tokens": {"min": 1200, "max": 1200}}}),
            json!({"when": {"prompt_tokens": {"min": 1201}}}),
        ),
        (Condition::PromptTokens, json!({"when": {"prompt_tokens": {"min": 5}}}), json!({"when": {"prompt_tokens": {"max": 1199}}})),
        (Condition::Tools, json!({"when": {"tools": false}}), json!({"when": {"tools": true}})),
        (Condition::Images, json!({"when": {"images": false}}), json!({"when": {"images": true}})),
        (Condition::Stream, json!({"when": {"stream": true}}), json!({"when": {"stream": false}})),
        (
            Condition::Time,
            json!({"when": {"time": {"days": ["friday"], "from": "11:00", "to": "12:00", "offset": "+01:00"}}}),
            json!({"when": {"time": {"from": "11:00", "to": "12:00"}}}),
        ),
        (Condition::Headers, json!({"when": {"headers": {"X-Plan": "gold"}}}), json!({"when": {"headers": {"x-plan": "Gold"}}})),
        (Condition::Cel, json!({"when": {"cel": "team == 'search'"}}), json!({"when": {"cel": "team == 'x'"}})),
        (Condition::Cel, json!({"when": {"cel": "stream"}}), json!({"when": {"cel": "tags.none == 'x'"}})),
    ];
    for (condition, holds, fails) in cases {
        assert_eq!(unmet(holds.clone(), &Given::full()), None, "{holds}");
        assert_eq!(unmet(fails.clone(), &Given::full()), Some(condition), "{fails}");
    }
}

#[test]
fn nothing_known_of_the_caller_meets_no_scope() {
    for scope in ["owners", "keys", "teams", "applications", "groups"] {
        let list = if scope == "owners" { json!([{"user": "a"}]) } else { json!(["a"]) };
        assert!(unmet(json!({"scope": {scope: list}}), &Given::default()).is_some(), "{scope}");
    }
}

#[test]
fn every_kind_of_scope_and_every_condition_must_hold() {
    assert_eq!(unmet(json!({}), &Given::default()), None, "empty means always");
    let both = |team: &str, group: &str| json!({"scope": {"teams": [team], "groups": [group]}, "when": {"stream": true}});
    assert_eq!(unmet(both("search", "staff"), &Given::full()), None);
    assert_eq!(unmet(both("search", "x"), &Given::full()), Some(Condition::ScopeGroups));
    assert_eq!(
        unmet(both("x", "x"), &Given { stream: false, ..Given::full() }),
        Some(Condition::Stream),
        "the cheapest is looked at first"
    );
}

#[test]
fn a_model_is_the_same_by_each_of_its_names() {
    for asked in ["large", "best"] {
        for written in ["large", "best"] {
            assert_eq!(
                unmet(json!({"when": {"models": [written]}}), &Given { model: asked, ..Given::default() }),
                None,
                "{asked} {written}"
            );
        }
    }
    let unknown = Given { model: "gone", ..Given::default() };
    assert_eq!(unmet(json!({"when": {"models": ["gone"]}}), &unknown), None, "a rule can catch a name no model has");
}

#[test]
fn long_lists_are_searched_as_well() {
    let names: Vec<String> = (0..100).map(|index| format!("team-{index}")).chain(["search".to_owned()]).collect();
    assert_eq!(unmet(json!({"when": {"teams": names}}), &Given::full()), None);
    assert_eq!(unmet(json!({"when": {"teams": names[..100]}}), &Given::full()), Some(Condition::Teams));
}

#[test]
fn one_of_several_lines_of_a_header_is_enough() {
    let mut given = Given::default();
    given.headers.append("x-plan", http::HeaderValue::from_static("a"));
    given.headers.append("x-plan", http::HeaderValue::from_static("b"));
    assert_eq!(unmet(json!({"when": {"headers": {"x-plan": "b"}}}), &given), None);
}

#[test]
fn what_costs_something_is_asked_only_when_it_is_needed() {
    let rules = rules(json!([
        {"name": "a", "kind": "deny", "when": {"stream": true, "prompt_tokens": {"min": 1}, "metadata": {"a": "b"}}},
        {"name": "b", "kind": "deny", "when": {"stream": false, "prompt_tokens": {"min": 100}}},
        {"name": "c", "kind": "deny", "when": {"stream": false, "prompt_tokens": {"min": 200}}},
    ]));
    let asked = std::cell::Cell::new(0);
    let (prompt_tokens, metadata) = (
        || {
            asked.set(asked.get() + 1);
            5
        },
        || panic!("nothing needs it"),
    );
    Given::default().sampled(|sample| {
        let sample = Sample { prompt_tokens: &prompt_tokens, metadata: &metadata, ..*sample };
        let _ = explain(&rules, &models(), &sample, &NoSpends);
    });
    assert_eq!(asked.get(), 1, "once for all rules");
}

#[test]
fn a_rule_that_makes_no_sense_is_refused_with_its_field() {
    let redirect = json!({"model": "small"});
    for (spec, expected) in [
        (json!({"kind": "cost_saver"}), "compile the rule `r`: the key `redirect` is missing"),
        (json!({"kind": "ab"}), "compile the rule `r`: the key `split` is missing"),
        (
            json!({"kind": "ab", "split": [{"model": "a", "weight": 1}]}),
            "compile the rule `r`: `split`: expected two models or more, one of them with a weight",
        ),
        (
            json!({"kind": "ab", "split": [{"model": "a", "weight": 0}, {"model": "b", "weight": 0}]}),
            "compile the rule `r`: `split`: expected two models or more, one of them with a weight",
        ),
        (json!({"kind": "spend_circuit"}), "compile the rule `r`: the key `spend` is missing"),
        (json!({"kind": "spend_circuit", "spend": {"limit_usd": 5, "window": 0}}), "compile the rule `r`: `spend.window`: must not be 0"),
        (json!({"kind": "custom", "redirect": redirect}), "compile the rule `r`: `when`: the key `cel` is missing"),
        (json!({"kind": "deny", "redirect": redirect}), "compile the rule `r`: `redirect`: means nothing for this kind or action"),
        (json!({"kind": "deny", "when": {"cel": "true"}}), "compile the rule `r`: `when.cel`: means nothing for this kind or action"),
        (
            json!({"kind": "deny", "when": {"prompt_tokens": {"min": 5, "max": 4}}}),
            "compile the rule `r`: `when.prompt_tokens`: `min` must not be more than `max`",
        ),
        (
            json!({"kind": "deny", "when": {"headers": {"a b": "c"}}}),
            "compile the rule `r`: `when.headers`: `a b` is not the name of a header",
        ),
        (
            json!({"kind": "custom", "redirect": redirect, "when": {"cel": "stream &&\n nope"}}),
            "compile the rule `r`: `when.cel`: line 2, column 2: there is no variable `nope`, there are model, stream, tools, images, prompt_tokens, max_tokens, key, owner, team, application, groups, tags, metadata, headers, end_user, endpoint, shape, now",
        ),
    ] {
        let mut spec = spec;
        spec["name"] = json!("r");
        let error = Rule::compile(&serde_json::from_value(spec.clone()).expect("a rule")).expect_err("refused");
        assert_eq!(error.to_string(), expected, "{spec}");
    }
}

#[test]
fn a_rule_is_written_as_it_is_read() {
    let spec = json!({"name": "r", "kind": "ab", "priority": 3, "split": [{"model": "a", "weight": 1}, {"model": "b", "weight": 2}], "region": "eu"});
    let read: RuleSpec = serde_json::from_value(spec).expect("a rule");
    let again: RuleSpec = serde_json::from_str(&serde_json::to_string(&read).expect("written")).expect("a rule");
    assert_eq!(serde_json::to_value(&read).ok(), serde_json::to_value(&again).ok());
}
