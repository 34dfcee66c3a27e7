//! Roles: named sets of limits that users and keys share.

use sea_orm::entity::prelude::*;

/// One role.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "role")]
pub struct Model {
    /// UUIDv7 text.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// Unique.
    #[sea_orm(unique)]
    pub name: String,
    /// Requests in any minute; none = no limit, 0 = blocked.
    pub rpm_limit: Option<i64>,
    /// Tokens in any minute; none = no limit, 0 = blocked.
    pub tpm_limit: Option<i64>,
    /// Requests at the same time; none = no limit, 0 = blocked.
    pub max_parallel: Option<i64>,
    /// Unix milliseconds.
    pub created_at: i64,
}

/// What refers to a role: nothing is looked up from here.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
