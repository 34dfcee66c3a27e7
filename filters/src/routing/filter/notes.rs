//! What the request log keeps of a decision, beside the rule that decided.

use std::borrow::Cow;

use crate::routing::rules::{Decision, Tested};

/// Writes down what is worth it. Rules that simply do not match are not: a dry run shows those.
pub(super) fn write(decision: &Decision<'_>, notes: &mut Vec<(Cow<'static, str>, String)>) {
    let mut note = |name: &'static str, value: String| {
        if !value.is_empty() {
            notes.push((Cow::Borrowed(name), value));
        }
    };
    note("rule_arm", decision.arm.map(ToString::to_string).unwrap_or_default());
    note("rules_log_only", joined(decision.log_only()));
    note("rules_region", joined(decision.pins.iter().map(|rule| &*rule.name)));
    note("region", joined(decision.pins.iter().filter_map(|rule| rule.region.as_deref())));
    note("compliance", joined(decision.tags.iter().map(|tag| &***tag)));
    for tried in &decision.tried {
        match tried.result {
            Tested::UnknownModel(model) => note("rule_skipped", format!("{}: there is no model `{model}`", tried.rule)),
            Tested::Failed(_, reason) => note("rule_failed", format!("{}: {reason}", tried.rule)),
            Tested::SpendUnknown => note("rule_spend_unknown", tried.rule.to_owned()),
            Tested::Decided | Tested::Applied | Tested::LogOnly | Tested::Unmet(_) | Tested::Unknown(_) => {}
        }
    }
}

fn joined<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut joined = String::new();
    for name in names {
        if !joined.is_empty() {
            joined.push(',');
        }
        joined.push_str(name);
    }
    joined
}
