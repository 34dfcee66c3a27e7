use super::*;

/// What comes of a request: the model and its providers in order, or the reason it is refused.
fn decided(rules: &RuleSet, given: &Given, spends: &dyn Spends) -> String {
    let models = models();
    given.sampled(|sample| match explain(rules, &models, sample, spends).outcome {
        Outcome::Route { model, plan } => {
            let plan: Vec<&str> = plan.iter().map(|target| &*target.provider).collect();
            format!("{} {}", model.name, plan.join(","))
        }
        Outcome::Deny { rule, denial } => format!("{rule} {denial:?}"),
        Outcome::ModelNotFound => "not found".to_owned(),
    })
}

fn outcome(specs: Value, given: &Given) -> String {
    decided(&rules(specs), given, &NoSpends)
}

fn results(rules: &RuleSet, given: &Given) -> Vec<String> {
    let models = models();
    given.sampled(|sample| {
        let decision = explain(rules, &models, sample, &NoSpends);
        decision.tried.iter().map(|tried| format!("{} {}", tried.rule, serde_json::to_value(tried.result).expect("written"))).collect()
    })
}

/// The same spending by everybody.
#[derive(Debug)]
struct Spent(i64);

impl Spends for Spent {
    fn spent(&self, rule: &Rule, now: i64) -> Option<i64> {
        assert_eq!(now, FRIDAY);
        assert_eq!(rule.spend.expect("a circuit").window, std::time::Duration::from_secs(86_400));
        Some(self.0)
    }
}

#[test]
fn without_rules_the_asked_model_decides() {
    assert_eq!(outcome(json!([]), &Given::default()), "large us-large,eu-large,any");
    assert_eq!(outcome(json!([]), &Given { model: "best", ..Given::default() }), "large us-large,eu-large,any");
    assert_eq!(outcome(json!([]), &Given { model: "gone", ..Given::default() }), "not found");
}

#[test]
fn the_first_rule_in_order_of_priority_decides() {
    let specs = json!([
        {"name": "late", "kind": "deny", "priority": 2},
        {"name": "early", "kind": "cost_saver", "priority": -1, "redirect": {"model": "cheap"}},
        {"name": "tied", "kind": "deny", "priority": -1},
    ]);
    assert_eq!(outcome(specs.clone(), &Given::default()), "small eu-small");
    assert_eq!(results(&rules(specs), &Given::default()), ["early \"decided\""]);
}

#[test]
fn a_redirect_brings_the_fallbacks_of_its_model_and_may_catch_an_unknown_name() {
    let specs = json!([{"name": "r", "kind": "cost_saver", "redirect": {"model": "mini"}}]);
    assert_eq!(outcome(specs.clone(), &Given::default()), "mini us-mini,eu-small");
    assert_eq!(outcome(specs, &Given { model: "gone", ..Given::default() }), "mini us-mini,eu-small");
}

#[test]
fn a_custom_rule_sends_what_its_expression_matches() {
    let specs = json!([{"name": "r", "kind": "custom", "when": {"cel": "prompt_tokens < 100"}, "redirect": {"model": "small"}}]);
    assert_eq!(outcome(specs.clone(), &Given::default()), "small eu-small");
    assert_eq!(outcome(specs, &Given::full()), "large us-large,eu-large,any");
}

#[test]
fn a_deny_rule_refuses_and_is_named() {
    assert_eq!(outcome(json!([{"name": "no", "kind": "deny"}]), &Given::default()), "no Rule");
}

#[test]
fn a_rule_that_only_logs_is_noted_and_changes_nothing() {
    let rules = rules(json!([
        {"name": "log", "kind": "deny", "log_only": true, "region": "eu", "tags": ["gdpr"]},
        {"name": "next", "kind": "cost_saver", "priority": 1, "redirect": {"model": "mini"}},
    ]));
    assert_eq!(decided(&rules, &Given::default(), &NoSpends), "mini us-mini,eu-small");
    assert_eq!(results(&rules, &Given::default()), ["log \"log_only\"", "next \"decided\""]);
    Given::default().sampled(|sample| {
        let models = models();
        let decision = explain(&rules, &models, sample, &NoSpends);
        assert_eq!(decision.log_only().collect::<Vec<_>>(), ["log"]);
        assert!(decision.tags.is_empty() && decision.pins.is_empty());
    });
}

#[test]
fn a_spend_circuit_opens_once_more_than_its_limit_is_spent() {
    let deny = rules(json!([{"name": "c", "kind": "spend_circuit", "spend": {"limit_usd": "12.50", "window": "1d"}}]));
    assert_eq!(decided(&deny, &Given::default(), &Spent(12_500_000_000)), "large us-large,eu-large,any");
    assert_eq!(decided(&deny, &Given::default(), &Spent(12_500_000_001)), "c Spend");
    let spec = json!([{"name": "c", "kind": "spend_circuit", "spend": {"limit_usd": 1, "window": "1d"}, "redirect": {"model": "small"}}]);
    assert_eq!(decided(&rules(spec), &Given::default(), &Spent(i64::MAX)), "small eu-small");
    assert_eq!(results(&deny, &Given::default()), ["c \"spend_unknown\""]);
}

#[test]
fn a_redirect_to_an_unknown_model_is_passed_over_and_noted() {
    let specs = json!([
        {"name": "a", "kind": "cost_saver", "redirect": {"model": "gone"}},
        {"name": "b", "kind": "ab", "split": [{"model": "gone", "weight": 1}, {"model": "small", "weight": 0}]},
        {"name": "c", "kind": "cost_saver", "redirect": {"model": "small"}},
    ]);
    assert_eq!(outcome(specs.clone(), &Given::default()), "small eu-small");
    let noted = ["a {\"unknown_model\":\"gone\"}", "b {\"unknown_model\":\"gone\"}", "c \"decided\""];
    assert_eq!(results(&rules(specs), &Given::default()), noted);
}

#[test]
fn an_expression_that_fails_does_not_match_and_says_why() {
    let rules = rules(json!([{"name": "r", "kind": "custom", "when": {"cel": "tags.x == 'y'"}, "redirect": {"model": "small"}}]));
    assert_eq!(results(&rules, &Given::default()), ["r {\"failed\":[\"when.cel\",\"a key is missing\"]}"]);
}

#[test]
fn a_region_holds_whichever_rule_decides() {
    let pin = |name: &str, priority: i64, region: &str| json!({"name": name, "kind": "cost_saver", "priority": priority, "region": region});
    let redirect = json!({"name": "move", "kind": "cost_saver", "priority": 5, "redirect": {"model": "mini"}});
    assert_eq!(outcome(json!([pin("eu", 1, "eu")]), &Given::default()), "large eu-large", "a target of no region is none of this one");
    assert_eq!(outcome(json!([pin("eu", 1, "eu"), redirect]), &Given::default()), "mini eu-small", "fallbacks are held to it as well");
    assert_eq!(outcome(json!([pin("eu", 9, "eu"), redirect]), &Given::default()), "mini eu-small", "also of a rule that comes later");
    assert_eq!(outcome(json!([pin("eu", 1, "eu"), pin("again", 2, "eu")]), &Given::default()), "large eu-large");
    let own = json!([{"name": "r", "kind": "cost_saver", "region": "us", "redirect": {"model": "mini"}}]);
    assert_eq!(outcome(own, &Given::default()), "mini us-mini");
    let other = json!([{"name": "r", "kind": "cost_saver", "region": "eu", "when": {"stream": true}}]);
    assert_eq!(outcome(other, &Given::default()), "large us-large,eu-large,any", "a rule that does not match holds nothing");
}

#[test]
fn where_no_target_is_left_the_request_is_refused() {
    let pin = |name: &str, region: &str| json!({"name": name, "kind": "cost_saver", "region": region});
    assert_eq!(outcome(json!([pin("moon", "moon")]), &Given::default()), "moon Region(\"moon\")");
    assert_eq!(outcome(json!([pin("eu", "eu"), pin("us", "us")]), &Given::default()), "us Region(\"us\")", "two regions leave nothing");
    assert_eq!(outcome(json!([pin("EU", "EU")]), &Given::default()), "EU Region(\"EU\")", "regions are compared as written");
    let skipped = json!([{"name": "r", "kind": "cost_saver", "region": "moon", "redirect": {"model": "gone"}}]);
    assert_eq!(outcome(skipped, &Given::default()), "r Region(\"moon\")", "a rule that is passed over still holds the region");
}

#[test]
fn tags_of_every_rule_that_matches_are_collected_once() {
    let rules = rules(json!([
        {"name": "a", "kind": "cost_saver", "redirect": {"model": "small"}, "tags": ["gdpr", "hipaa"]},
        {"name": "b", "kind": "deny", "tags": ["gdpr", "soc2"]},
        {"name": "c", "kind": "deny", "tags": ["never"], "when": {"stream": true}},
        {"name": "d", "kind": "deny"},
    ]));
    assert_eq!(results(&rules, &Given::default()), ["a \"decided\"", "b \"applied\"", "c {\"unmet\":\"when.stream\"}"]);
    Given::default().sampled(|sample| {
        let models = models();
        let decision = explain(&rules, &models, sample, &NoSpends);
        assert_eq!(decision.tags.iter().map(|tag| &***tag).collect::<Vec<_>>(), ["gdpr", "hipaa", "soc2"]);
        assert_eq!(decision.rule.map(|rule| &*rule.name), Some("a"));
    });
}

proptest::proptest! {
    #[test]
    fn no_rules_and_no_request_break_the_decision(
        chosen in proptest::collection::vec((0_usize..9, -3_i64..3, proptest::prelude::any::<bool>(), 0_usize..8), 0..12),
        model in proptest::sample::select(&["large", "best", "mini", "gone", ""][..]),
        (now, prompt_tokens, stream) in proptest::prelude::any::<(i64, u64, bool)>(),
        end_user in proptest::option::of(".{0,20}"),
    ) {
        let specs = chosen.into_iter().enumerate().map(|(index, (kind, priority, log_only, when))| {
            let mut spec = KINDS.with(|kinds| kinds[kind].clone());
            spec["name"] = json!(format!("r{index}"));
            spec["priority"] = json!(priority);
            spec["log_only"] = json!(log_only);
            if spec["kind"] != "custom" {
                spec["when"] = WHENS.with(|whens| whens[when].clone());
            }
            spec
        });
        let given = Given { model, now, prompt_tokens, stream, end_user, ..Given::full() };
        let _ = outcome(Value::Array(specs.collect()), &given);
    }
}

thread_local! {
    static KINDS: [Value; 9] = [
        json!({"kind": "deny"}),
        json!({"kind": "deny", "region": "eu"}),
        json!({"kind": "cost_saver", "redirect": {"model": "best"}, "region": "us"}),
        json!({"kind": "cost_saver", "redirect": {"model": "gone"}, "tags": ["t"]}),
        json!({"kind": "cost_saver", "region": "moon"}),
        json!({"kind": "ab", "sticky": "end_user", "split": [{"model": "large", "weight": 4_294_967_295_u32}, {"model": "mini", "weight": 4_294_967_295_u32}]}),
        json!({"kind": "spend_circuit", "spend": {"limit_usd": 0, "window": "1ms"}}),
        json!({"kind": "custom", "when": {"cel": "prompt_tokens + 1 > 5 && now.hour < 12"}, "redirect": {"model": "small"}}),
        json!({"kind": "custom", "when": {"cel": "headers[end_user] == tags[model]"}, "redirect": {"model": "small"}}),
    ];
    static WHENS: [Value; 8] = [
        json!({}),
        json!({"stream": true}),
        json!({"time": {"days": ["monday", "sunday"], "from": "22:00", "to": "04:00", "offset": "-14:00"}}),
        json!({"time": {"from": "00:00", "to": "23:59", "offset": "+14:00"}}),
        json!({"prompt_tokens": {"max": 100}}),
        json!({"models": ["best", "gone"]}),
        json!({"headers": {"x-plan": "gold"}}),
        json!({"metadata": {"run": "nightly"}, "tags": {"job": "batch"}}),
    ];
}
