use super::*;

const PEOPLE: usize = 100_000;

fn split(sticky: &str) -> RuleSet {
    rules(json!([{"name": "try", "kind": "ab", "sticky": sticky, "split": [
        {"model": "large", "weight": 70}, {"model": "mini", "weight": 0}, {"model": "cheap", "weight": 30},
    ]}]))
}

fn arm(rules: &RuleSet, models: &ModelTable, key: &str, end_user: Option<&str>, random: u64) -> String {
    Given::default().sampled(|sample| {
        let sample = Sample { key_id: key, end_user, random, ..*sample };
        let decision = explain(rules, models, &sample, &NoSpends);
        decision.arm.map(ToString::to_string).unwrap_or_default()
    })
}

#[test]
fn a_split_keeps_its_weights_within_one_percent() {
    let (rules, models) = (split("key"), models());
    let mut arms: BTreeMap<String, usize> = BTreeMap::new();
    for person in 0..PEOPLE {
        *arms.entry(arm(&rules, &models, &format!("0192a3b4-{person:012x}"), None, 0)).or_default() += 1;
    }
    for (model, share) in [("large", 70), ("cheap", 30)] {
        let found = arms.remove(model).unwrap_or(0);
        assert!(found.abs_diff(PEOPLE * share / 100) < PEOPLE / 100, "{model}: {found}");
    }
    assert!(arms.is_empty(), "an arm without weight gets nothing: {arms:?}");
}

#[test]
fn a_split_sticks_to_the_key_whoever_the_end_user_is() {
    let (rules, models) = (split("key"), models());
    for key in ["a", "b", "c", "d", "e"] {
        let first = arm(&rules, &models, key, None, 0);
        for user in 0..50_u64 {
            assert_eq!(arm(&rules, &models, key, Some(&user.to_string()), user), first);
        }
    }
}

#[test]
fn a_split_sticks_to_the_end_user_and_to_the_key_where_none_is_named() {
    let (rules, models) = (split("end_user"), models());
    for user in ["a", "b", "c", "d", "e"] {
        assert_eq!(arm(&rules, &models, "one", Some(user), 1), arm(&rules, &models, "another", Some(user), 2));
    }
    assert_eq!(arm(&rules, &models, "one", None, 1), arm(&rules, &models, "one", None, 2));
    let users: std::collections::BTreeSet<String> = (0..100).map(|user| arm(&rules, &models, "one", Some(&user.to_string()), 0)).collect();
    assert_eq!(users.len(), 2, "users of one key are split");
}

#[test]
fn two_splits_choose_independently() {
    let two = |name: &str| {
        rules(json!([{"name": name, "kind": "ab", "split": [{"model": "large", "weight": 1}, {"model": "small", "weight": 1}]}]))
    };
    let (one, other, models) = (two("one"), two("other"), models());
    let same = (0..10_000).filter(|key| arm(&one, &models, &key.to_string(), None, 0) == arm(&other, &models, &key.to_string(), None, 0));
    let same = same.count();
    assert!(same.abs_diff(5_000) < 300, "{same}");
}
