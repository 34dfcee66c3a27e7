//! Groups of users and agents, across teams.

use sea_orm::entity::prelude::*;

/// One group.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "groups")]
pub struct Model {
    /// UUIDv7 text.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// Unique.
    #[sea_orm(unique)]
    pub name: String,
    /// Unix milliseconds.
    pub created_at: i64,
}

/// What refers to a group.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// Its members; they go with it.
    #[sea_orm(has_many = "super::group_member::Entity")]
    GroupMember,
}

impl Related<super::group_member::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::GroupMember.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
