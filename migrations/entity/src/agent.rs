//! Programs that own keys.

use sea_orm::entity::prelude::*;

/// One agent.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "agent")]
pub struct Model {
    /// UUIDv7 text.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// Unique.
    #[sea_orm(unique)]
    pub name: String,
    /// The team that answers for it.
    pub team_id: Option<String>,
    /// Whether the agent's keys work.
    pub status: super::AccountStatus,
    /// Where the row came from.
    pub source: super::Source,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
}

/// What an agent refers to and what refers to it.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// The team that answers for it.
    #[sea_orm(belongs_to = "super::team::Entity", from = "Column::TeamId", to = "super::team::Column::Id")]
    Team,
    /// The keys the agent owns.
    #[sea_orm(has_many = "super::api_key::Entity")]
    ApiKey,
}

impl Related<super::team::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Team.def()
    }
}

impl Related<super::api_key::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::ApiKey.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
