use super::*;

/// Fifty rules that do not match, each by another condition.
fn fifty() -> RuleSet {
    let specs = (0..50).map(|index| {
        let mut spec = json!({"name": format!("r{index}"), "kind": "cost_saver", "priority": index, "redirect": {"model": "small"}});
        let (field, value) = match index % 6 {
            0 => ("when", json!({"models": [format!("model-{index}"), "small", "mini"]})),
            1 => ("scope", json!({"teams": ["finance", "sales", format!("team-{index}")]})),
            2 => ("when", json!({"tools": true, "prompt_tokens": {"min": 1000}})),
            3 => ("scope", json!({"owners": [{"user": format!("p{index}@example.com")}]})),
            4 => ("when", json!({"tags": {"job": format!("job-{index}")}})),
            _ => ("when", json!({"headers": {"x-plan": format!("plan-{index}")}})),
        };
        spec[field] = value;
        spec
    });
    rules(specs.collect())
}

#[test]
#[ignore = "a measurement: run it alone, optimised and with --nocapture"]
fn fifty_rules_that_do_not_match_take_a_microsecond() {
    let (rules, none, models) = (fifty(), RuleSet::default(), models());
    for (name, rules) in [("no rules", &none), ("fifty rules", &rules)] {
        Given::full().sampled(|sample| {
            let rounds = 200_000;
            let started = std::time::Instant::now();
            for _ in 0..rounds {
                std::hint::black_box(explain(rules, &models, std::hint::black_box(sample), &NoSpends));
            }
            println!("{name}: {:?}", started.elapsed() / rounds);
        });
    }
}

#[test]
fn fifty_rules_that_do_not_match_change_nothing() {
    let (rules, models) = (fifty(), models());
    Given::full().sampled(|sample| {
        let decision = explain(&rules, &models, sample, &NoSpends);
        assert_eq!(decision.tried.len(), 50);
        assert!(decision.tried.iter().all(|tried| matches!(tried.result, Tested::Unmet(_))));
        assert!(decision.rule.is_none());
    });
}
