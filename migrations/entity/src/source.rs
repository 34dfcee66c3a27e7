//! Where a row came from.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// Who owns a row: rows declared in the configuration file are read-only in the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Serialize, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Made over an API.
    Api,
    /// Declared in the configuration file.
    File,
}
