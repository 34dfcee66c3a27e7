//! `guardrails`: what is looked for in prompts and answers, and what is done about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Redirect, Scope};

/// One guardrail. All that concern a request are applied.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Guardrail {
    /// Its name, as it appears in decision records.
    pub name: String,
    /// How it looks.
    pub kind: GuardrailKind,
    /// The regular expression of a `regex` guardrail: at most 1 KiB, no look-around, no back-references.
    #[serde(default)]
    pub pattern: Option<String>,
    /// The score, 0 to 1, from which a model-based guardrail acts.
    #[serde(default)]
    pub threshold: Option<f64>,
    /// What is done about a match.
    pub action: Action,
    /// Where the request goes when the action is `redirect`.
    #[serde(default)]
    pub redirect: Option<Redirect>,
    /// What is searched.
    #[serde(default = "both")]
    pub applies_to: Vec<AppliesTo>,
    /// Whom it concerns; empty means everybody.
    #[serde(default)]
    pub scope: Scope,
}

/// How a guardrail looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GuardrailKind {
    /// With a regular expression.
    Regex,
    /// For prompt injection, with a model (Enterprise).
    Injection,
    /// For toxic language, with a model (Enterprise).
    Toxicity,
    /// For personal data, with a model (Enterprise).
    Pii,
}

/// What is done about a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The request is refused, or the answer cut off.
    Block,
    /// The match is replaced.
    Mask,
    /// The request goes to another model.
    Redirect,
    /// It is only noted.
    LogOnly,
}

/// What a guardrail searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AppliesTo {
    /// What the client sends.
    Prompt,
    /// What the model answers.
    Answer,
}

fn both() -> Vec<AppliesTo> {
    vec![AppliesTo::Prompt, AppliesTo::Answer]
}
