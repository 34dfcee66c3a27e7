//! What is wrong with a rule.

use super::{RuleKind, RuleSpec};

/// One thing wrong with a rule as it is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("compile the rule `{rule}`: {}{message}", .field.as_ref().map(|field| format!("`{field}`: ")).unwrap_or_default())]
pub struct RuleError {
    /// The rule's name.
    pub rule: String,
    /// The way from the rule to the field, such as `when.cel`; `None` for the rule itself.
    pub field: Option<&'static str>,
    /// What is wrong there.
    pub message: String,
}

impl RuleSpec {
    pub(super) fn wrong(&self, field: &'static str, message: impl Into<String>) -> RuleError {
        let field = (!field.is_empty()).then_some(field);
        RuleError { rule: self.name.clone(), field, message: message.into() }
    }

    /// Everything that is wrong with the rule but for what only compiling finds: expressions and header names.
    #[must_use]
    pub fn problems(&self) -> Vec<RuleError> {
        let mut problems = Vec::new();
        if self.name.trim().is_empty() {
            problems.push(self.wrong("name", "must not be empty"));
        }
        let is_pin = self.region.is_some();
        let redirects = matches!(self.kind, RuleKind::CostSaver | RuleKind::Custom);
        let (is_split, is_circuit) = (self.kind == RuleKind::Ab, self.kind == RuleKind::SpendCircuit);
        self.belongs(&mut problems, ("", "redirect"), self.redirect.is_some(), redirects && !is_pin, redirects || is_circuit);
        self.belongs(&mut problems, ("", "split"), !self.split.is_empty(), is_split, is_split);
        self.belongs(&mut problems, ("", "spend"), self.spend.is_some(), is_circuit, is_circuit);
        let is_custom = self.kind == RuleKind::Custom;
        self.belongs(&mut problems, ("when", "when.cel"), self.when.cel.is_some(), is_custom, is_custom);
        self.values(&mut problems);
        problems
    }

    fn values(&self, problems: &mut Vec<RuleError>) {
        if !self.split.is_empty() && (self.split.len() < 2 || self.split.iter().all(|arm| arm.weight == 0)) {
            problems.push(self.wrong("split", "expected two models or more, one of them with a weight"));
        }
        if self.spend.as_ref().is_some_and(|spend| spend.window.is_zero()) {
            problems.push(self.wrong("spend.window", "must not be 0"));
        }
        if let Some(range) = &self.when.prompt_tokens
            && let (Some(min), Some(max)) = (range.min, range.max)
            && min > max
        {
            problems.push(self.wrong("when.prompt_tokens", "`min` must not be more than `max`"));
        }
        if self.region.as_ref().is_some_and(String::is_empty) {
            problems.push(self.wrong("region", "must not be empty"));
        }
    }

    /// Reports a key that is missing where it is needed, or given where it means nothing.
    fn belongs(
        &self,
        problems: &mut Vec<RuleError>,
        (parent, field): (&'static str, &'static str),
        given: bool,
        needed: bool,
        allowed: bool,
    ) {
        let key = field.rsplit('.').next().unwrap_or(field);
        if needed && !given {
            problems.push(self.wrong(parent, format!("the key `{key}` is missing")));
        } else if given && !allowed {
            problems.push(self.wrong(field, "means nothing for this kind or action"));
        }
    }
}
