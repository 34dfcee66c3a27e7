//! Rules that decide where requests go.

use sea_orm::entity::prelude::*;

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "routing_rule")]
pub struct Model {
    /// UUIDv7 text.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// Unique name.
    #[sea_orm(unique)]
    pub name: String,
    /// JSON object in the form of the configuration's rules: kind, priority, scope, conditions and what follows.
    pub spec: String,
    /// Whether it is asked.
    pub enabled: bool,
    /// Where the row came from.
    pub source: super::Source,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
}

/// Nothing refers to a rule.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
