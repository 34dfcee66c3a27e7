//! People who own keys.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// Whether a user or an agent may use the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Serialize, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum AccountStatus {
    /// Its keys work.
    Active,
    /// Its keys are refused.
    Disabled,
}

/// One person.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "users")]
pub struct Model {
    /// UUIDv7 text.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// Unique; whoever writes it has made it lower-case.
    #[sea_orm(unique)]
    pub email: String,
    /// Name shown to people.
    pub name: String,
    /// The role whose limits apply to all the user's keys.
    pub role_id: Option<String>,
    /// Whether the user's keys work.
    pub status: AccountStatus,
    /// Where the row came from.
    pub source: super::Source,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
}

/// What a user refers to and what refers to it.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// The user's role.
    #[sea_orm(belongs_to = "super::role::Entity", from = "Column::RoleId", to = "super::role::Column::Id")]
    Role,
    /// The keys the user owns.
    #[sea_orm(has_many = "super::api_key::Entity")]
    ApiKey,
}

impl Related<super::role::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Role.def()
    }
}

impl Related<super::api_key::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::ApiKey.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
