//! `models`: the names clients ask for and where requests for them go.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{TimeoutOverrides, Translation};

/// One model as clients see it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The canonical name.
    pub name: String,
    /// Other names for it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Where requests may go, at least one.
    #[schemars(length(min = 1))]
    pub targets: Vec<Target>,
    /// Models tried in this order once every target has failed.
    #[serde(default)]
    pub fallbacks: Vec<String>,
    /// Whether one key and end user stay on one target inside a priority group, which keeps the vendor's prompt cache warm.
    #[serde(default = "yes")]
    pub affinity: bool,
    /// What the model can do.
    #[serde(default)]
    pub capabilities: Capabilities,
    /// What is done about fields that a provider of another shape has no words for: `lossy`, `safe` or `strict`.
    #[serde(default)]
    pub translation: Option<Translation>,
    /// Time-outs that differ from its providers'.
    #[serde(default)]
    pub timeouts: TimeoutOverrides,
    /// Declared only where this environment variable is set and not empty.
    #[serde(default, skip_serializing)]
    pub when_set: Option<String>,
}

/// A provider and the name it knows the model by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The provider's name.
    pub provider: String,
    /// The model's name there.
    pub model: String,
    /// Targets of the lowest number are tried first.
    #[serde(default)]
    pub priority: u32,
    /// The share of requests inside its priority group. 0 leaves it in reserve; where all are 0 they share equally.
    #[serde(default = "one")]
    pub weight: u32,
    /// A label for region pins, where it differs from the provider's.
    #[serde(default)]
    pub region: Option<String>,
}

/// What a model can do. `null` means not known, and nothing is refused for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Capabilities {
    /// Images in the prompt.
    pub vision: Option<bool>,
    /// Tool calls.
    pub tools: Option<bool>,
    /// Reasoning that can be asked for.
    pub thinking: Option<bool>,
    /// Tokens of prompt and answer together.
    pub context_window: Option<u64>,
}

const fn yes() -> bool {
    true
}

const fn one() -> u32 {
    1
}
