//! Guardrails as they are written: in the configuration, as JSON in the database and in the admin API.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::action::{Action, Detour, Template};
use super::place::{Place, Places};
use super::rule::{DEFAULT_PRIORITY, LooksFor, Rule, RuleError, RuleSpec};
use crate::routing::rules::Scope;

/// One guardrail. All that concern a request are applied.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Guardrail"))]
#[serde(deny_unknown_fields)]
pub struct GuardrailSpec {
    /// Its name, as it appears in decision records.
    pub name: String,
    /// How it looks.
    pub kind: GuardrailKind,
    /// The regular expression of a `regex` guardrail: at most 1 KiB, no look-around, no back-references.
    #[serde(default)]
    pub pattern: Option<String>,
    /// The ready-made detector of a `detector` guardrail, such as `card_number`.
    #[serde(default)]
    pub detector: Option<String>,
    /// The bytes one match may have at most: 1 to 65536; as the detector has it, or 1024.
    #[serde(default)]
    pub max_match: Option<usize>,
    /// The score, 0 to 1, from which a model-based guardrail acts; 0.5 where nothing is said.
    #[serde(default)]
    pub threshold: Option<f64>,
    /// The name of the model of a model-based guardrail, as the sidecar has it; the kind's where nothing is said.
    #[serde(default)]
    pub model: Option<String>,
    /// What a model-based guardrail does about a request its model cannot look at; `closed` where nothing is said.
    #[serde(default)]
    pub on_failure: Option<OnFailure>,
    /// Among guardrails of the same action the lower number decides.
    #[serde(default = "default_priority")]
    pub priority: i32,
    /// What is done about a match.
    pub action: ActionKind,
    /// What takes the place of a match when the action is `mask`: text with `{rule}`, `{length}` and `{last4}`.
    #[serde(default)]
    pub mask: Option<String>,
    /// Where the request goes when the action is `redirect`.
    #[serde(default)]
    pub redirect: Option<Elsewhere>,
    /// What is searched; prompt and answer where nothing is said, only the prompt for a redirect to a model and for a model-based
    /// guardrail, which looks at nothing else.
    #[serde(default)]
    pub applies_to: Option<Vec<AppliesTo>>,
    /// Whom it concerns; empty means everybody.
    #[serde(default)]
    pub scope: Scope,
}

const fn default_priority() -> i32 {
    DEFAULT_PRIORITY
}

/// How a guardrail looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GuardrailKind {
    /// With a regular expression.
    Regex,
    /// With a ready-made detector of the library.
    Detector,
    /// For prompt injection, with a model.
    Injection,
    /// For toxic language, with a model.
    Toxicity,
    /// For personal data, with a model.
    Pii,
}

impl GuardrailKind {
    /// Whether a model looks, rather than a pattern.
    #[must_use]
    pub const fn needs_model(self) -> bool {
        matches!(self, Self::Injection | Self::Toxicity | Self::Pii)
    }

    /// The word for it in configurations.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Regex => "regex",
            Self::Detector => "detector",
            Self::Injection => "injection",
            Self::Toxicity => "toxicity",
            Self::Pii => "pii",
        }
    }
}

/// What happens to a request that a model was to look at and could not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// It is refused.
    #[default]
    Closed,
    /// It goes on without having been looked at.
    Open,
}

/// What is done about a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Action"))]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    /// The request is refused, or the answer cut off.
    Block,
    /// The match is replaced.
    Mask,
    /// The request goes to another model, or a fixed text is the answer.
    Redirect,
    /// It is only noted.
    LogOnly,
}

/// Where a request goes: exactly one of the two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Elsewhere {
    /// To another model, by name or alias.
    Model(String),
    /// Nowhere: this text is the answer.
    Text(String),
}

/// What a guardrail searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AppliesTo {
    /// All that the client sends: system, messages, tool results and documents.
    Prompt,
    /// All that the model answers: text, reasoning and arguments of tools.
    Answer,
    /// Instructions of the system or the developer.
    System,
    /// What users and the model said.
    Messages,
    /// What tools gave back.
    ToolResults,
    /// Documents that came with a request.
    Documents,
    /// The text of the answer.
    AnswerText,
    /// The model's reasoning.
    Reasoning,
    /// Arguments of tools that the model calls.
    ToolArguments,
}

impl AppliesTo {
    pub(super) const fn places(self) -> Places {
        match self {
            Self::Prompt => Places::PROMPT,
            Self::Answer => Places::ANSWER,
            Self::System => Places::NONE.with(Place::System),
            Self::Messages => Places::NONE.with(Place::Messages),
            Self::ToolResults => Places::NONE.with(Place::ToolResults),
            Self::Documents => Places::NONE.with(Place::Documents),
            Self::AnswerText => Places::NONE.with(Place::Answer),
            Self::Reasoning => Places::NONE.with(Place::Reasoning),
            Self::ToolArguments => Places::NONE.with(Place::ToolArguments),
        }
    }
}

/// One thing wrong with a guardrail as it is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("compile the guardrail `{guardrail}`: {}{message}", .field.map(|field| format!("`{field}`: ")).unwrap_or_default())]
pub struct GuardrailError {
    /// The guardrail's name.
    pub guardrail: String,
    /// The field; `None` for the guardrail itself.
    pub field: Option<&'static str>,
    /// What is wrong there.
    pub message: String,
}

impl GuardrailSpec {
    pub(super) fn wrong(&self, field: Option<&'static str>, message: impl Into<String>) -> GuardrailError {
        GuardrailError { guardrail: self.name.clone(), field, message: message.into() }
    }

    /// Where it looks.
    #[must_use]
    pub fn places(&self) -> Places {
        match (&self.applies_to, &self.redirect) {
            (Some(parts), _) => parts.iter().fold(Places::NONE, |places, part| places.union(part.places())),
            (None, Some(Elsewhere::Model(_))) => Places::PROMPT,
            (None, _) if self.kind.needs_model() => Places::PROMPT,
            (None, _) => Places::ALL,
        }
    }

    /// Compiles the rule of a guardrail that looks with a pattern.
    ///
    /// # Errors
    /// What is wrong with it, with the field that is to blame.
    pub fn rule(&self) -> Result<Rule, GuardrailError> {
        let looks_for = match (&self.pattern, &self.detector) {
            (Some(pattern), _) => LooksFor::Pattern(pattern.clone()),
            (None, Some(detector)) => LooksFor::Detector(detector.clone()),
            (None, None) => return Err(self.wrong(None, "the key `pattern` is missing")),
        };
        let field = if self.pattern.is_some() { "pattern" } else { "detector" };
        let spec = RuleSpec {
            name: self.name.clone(),
            priority: self.priority,
            looks_for,
            check: None,
            max_match: self.max_match,
            action: self.action()?,
            places: self.places(),
        };
        Rule::compile(spec).map_err(|error| {
            let field = match error {
                RuleError::MaxMatch(_) | RuleError::OutOfBound { .. } => "max_match",
                RuleError::Nowhere => "applies_to",
                _ => field,
            };
            self.wrong(Some(field), error.to_string())
        })
    }

    pub(super) fn action(&self) -> Result<Action, GuardrailError> {
        Ok(match (self.action, &self.redirect) {
            (ActionKind::Block, _) => Action::Block,
            (ActionKind::LogOnly, _) => Action::LogOnly,
            (ActionKind::Mask, _) => match &self.mask {
                None => Action::Mask(Template::default()),
                Some(text) => Action::Mask(Template::parse(text).map_err(|problem| self.wrong(Some("mask"), problem))?),
            },
            (ActionKind::Redirect, Some(Elsewhere::Model(model))) => Action::Redirect(Detour::Model(Arc::from(&**model))),
            (ActionKind::Redirect, Some(Elsewhere::Text(text))) => Action::Redirect(Detour::Text(Arc::from(&**text))),
            (ActionKind::Redirect, None) => return Err(self.wrong(None, "the key `redirect` is missing")),
        })
    }
}
