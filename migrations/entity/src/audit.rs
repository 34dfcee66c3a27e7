//! Who changed what. The rows are chained by hash, so that a missing or changed row shows.

use sea_orm::entity::prelude::*;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "audit")]
pub struct Model {
    /// Given by the database, ascending.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Unix milliseconds.
    pub at: i64,
    /// Who did it.
    pub actor: String,
    /// What was done.
    pub action: String,
    /// Kind of the thing it was done to.
    pub resource_kind: String,
    /// Id of the thing it was done to.
    pub resource_id: String,
    /// JSON object.
    pub detail: String,
    /// `hash` of the row before; empty on the first row.
    pub previous_hash: String,
    /// Hash over this row and `previous_hash`.
    pub hash: String,
}

/// Audit rows refer to nothing, so that they outlive what they tell of.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
