//! Organisations: the top of the identity hierarchy.

use sea_orm::entity::prelude::*;

/// One organisation.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "organisation")]
pub struct Model {
    /// UUIDv7 text.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// Name shown to people.
    pub name: String,
    /// Unix milliseconds.
    pub created_at: i64,
}

/// What refers to an organisation.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// Its teams.
    #[sea_orm(has_many = "super::team::Entity")]
    Team,
}

impl Related<super::team::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Team.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
