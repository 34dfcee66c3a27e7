//! Settings that are edited while the programs run.

use sea_orm::entity::prelude::*;

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "setting")]
pub struct Model {
    /// Name of the setting.
    #[sea_orm(primary_key, auto_increment = false)]
    pub key: String,
    /// JSON.
    pub value: String,
    /// Unix milliseconds.
    pub updated_at: i64,
}

/// Settings refer to nothing.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
