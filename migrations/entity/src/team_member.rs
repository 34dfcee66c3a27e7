//! Who is in a team.

use sea_orm::entity::prelude::*;

/// One membership: exactly one of user and agent is set.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "team_member")]
pub struct Model {
    /// UUIDv7 text.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// The team.
    pub team_id: String,
    /// The member, when it is a user.
    pub user_id: Option<String>,
    /// The member, when it is an agent.
    pub agent_id: Option<String>,
}

/// What a membership refers to.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// The team.
    #[sea_orm(belongs_to = "super::team::Entity", from = "Column::TeamId", to = "super::team::Column::Id")]
    Team,
    /// The member, when it is a user.
    #[sea_orm(belongs_to = "super::user::Entity", from = "Column::UserId", to = "super::user::Column::Id")]
    User,
    /// The member, when it is an agent.
    #[sea_orm(belongs_to = "super::agent::Entity", from = "Column::AgentId", to = "super::agent::Column::Id")]
    Agent,
}

impl Related<super::team::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Team.def()
    }
}

impl Related<super::user::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::User.def()
    }
}

impl Related<super::agent::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Agent.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
