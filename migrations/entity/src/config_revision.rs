//! The number that grows with every change of configuration. Database triggers write it; programs only read it.

use sea_orm::entity::prelude::*;

/// Id of the only row.
pub const ROW_ID: i32 = 1;

/// The only row.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "config_revision")]
pub struct Model {
    /// Always [`ROW_ID`].
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i32,
    /// Grows by at least one with every transaction that changes configuration.
    pub revision: i64,
}

/// The revision refers to nothing.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
