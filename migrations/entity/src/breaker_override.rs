//! Circuit breakers an operator holds open or closed.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// One order.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "breaker_override")]
pub struct Model {
    /// UUIDv7 text.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// The provider.
    pub provider_id: String,
    /// The model's name there; none = every model of the provider.
    pub upstream_model: Option<String>,
    /// Where the breaker is held.
    pub position: ForcedPosition,
    /// Why.
    pub reason: String,
    /// Unix milliseconds after which it no longer holds; none = until it is taken back.
    pub expires_at: Option<i64>,
    /// Who ordered it.
    pub created_by: String,
    /// Unix milliseconds.
    pub created_at: i64,
}

/// Where a breaker is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Serialize, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum ForcedPosition {
    /// No request passes.
    Open,
    /// Every request passes.
    Closed,
}

/// What the row refers to.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// The provider.
    #[sea_orm(belongs_to = "super::provider::Entity", from = "Column::ProviderId", to = "super::provider::Column::Id")]
    Provider,
}

impl Related<super::provider::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Provider.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
