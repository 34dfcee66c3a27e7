//! Teams of an organisation.

use sea_orm::entity::prelude::*;

/// One team.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "team")]
pub struct Model {
    /// UUIDv7 text.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// The organisation it belongs to.
    pub organisation_id: String,
    /// Unique inside the organisation.
    pub name: String,
    /// Unix milliseconds.
    pub created_at: i64,
}

/// What a team refers to and what refers to it.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// The organisation it belongs to.
    #[sea_orm(belongs_to = "super::organisation::Entity", from = "Column::OrganisationId", to = "super::organisation::Column::Id")]
    Organisation,
    /// Its applications.
    #[sea_orm(has_many = "super::application::Entity")]
    Application,
    /// Its members.
    #[sea_orm(has_many = "super::team_member::Entity")]
    TeamMember,
}

impl Related<super::organisation::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Organisation.def()
    }
}

impl Related<super::application::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Application.def()
    }
}

impl Related<super::team_member::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::TeamMember.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
