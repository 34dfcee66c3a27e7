//! What is done about fields that a provider of another shape has no words for.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// What is done about fields that a provider of another shape has no words for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Serialize, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Translation {
    /// They are left out whatever that does to the answer.
    Lossy,
    /// They are left out unless the caller would get something else than it asked for.
    Safe,
    /// The request is refused.
    Strict,
}
