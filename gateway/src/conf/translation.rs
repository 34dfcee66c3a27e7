//! `translation`: what is done about fields that a provider of another shape has no words for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is done about fields that a provider of another shape has no words for. Where the key and the model both say, the
/// stricter holds; where neither does, `safe`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Translation {
    /// They are left out whatever that does to the answer.
    Lossy,
    /// They are left out unless the caller would get something else than it asked for; then the request is refused.
    Safe,
    /// The request is refused for any of them but hints such as cache marks.
    Strict,
}
