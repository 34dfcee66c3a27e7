//! What is looked for in prompts and answers.

use sea_orm::entity::prelude::*;

/// One guardrail.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "guardrail")]
pub struct Model {
    /// UUIDv7 text.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// Unique name.
    #[sea_orm(unique)]
    pub name: String,
    /// JSON object in the form of the configuration's guardrails: kind, pattern, action, places and scope.
    pub spec: String,
    /// Whether it is applied.
    pub enabled: bool,
    /// Where the row came from.
    pub source: super::Source,
    /// Order among those of one priority, from 0.
    pub position: i32,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
}

/// Nothing refers to a guardrail.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
