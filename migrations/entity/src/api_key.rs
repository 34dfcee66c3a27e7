//! The keys clients present. Secrets are stored only as a keyed hash.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// Whether a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Serialize, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum KeyStatus {
    /// It works.
    Active,
    /// It is refused until it is made active again.
    Disabled,
    /// It is refused for ever.
    Revoked,
}

/// Whether prompts and answers of a key's requests are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Serialize, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum ContentLogging {
    /// As the configuration file says.
    Inherit,
    /// Kept.
    On,
    /// Not kept.
    Off,
}

/// One key: exactly one of user and agent owns it.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "api_key")]
pub struct Model {
    /// UUIDv7 text.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// Name shown to people.
    pub name: String,
    /// The public part of a minted secret; none for a declared secret of another form. Unique.
    #[sea_orm(unique)]
    pub public_id: Option<String>,
    /// Keyed hash of the secret, 64 lower-case hex digits. Unique.
    #[sea_orm(unique)]
    pub secret_hash: String,
    /// The end of the secret, to recognise it by.
    pub last_four: String,
    /// Keyed hash of the secret before the last rotation.
    pub previous_secret_hash: Option<String>,
    /// Until when the previous secret works, Unix milliseconds.
    pub previous_valid_until: Option<i64>,
    /// The owner, when it is a user.
    pub user_id: Option<String>,
    /// The owner, when it is an agent.
    pub agent_id: Option<String>,
    /// The team the key's use counts for.
    pub team_id: Option<String>,
    /// The application the key's use counts for.
    pub application_id: Option<String>,
    /// The role whose limits apply.
    pub role_id: Option<String>,
    /// JSON array of model names; none = all models.
    pub allowed_models: Option<String>,
    /// Requests in any minute; none = no limit, 0 = blocked.
    pub rpm_limit: Option<i64>,
    /// Tokens in any minute; none = no limit, 0 = blocked.
    pub tpm_limit: Option<i64>,
    /// Requests at the same time; none = no limit, 0 = blocked.
    pub max_parallel: Option<i64>,
    /// From when the key is refused, Unix milliseconds.
    pub expires_at: Option<i64>,
    /// Whether the key works.
    pub status: KeyStatus,
    /// JSON object of text to text.
    pub tags: Option<String>,
    /// Whether prompts and answers are kept.
    pub content_logging: ContentLogging,
    /// What is done about fields a provider of another shape has no words for; none = as the model says.
    pub translation: Option<super::Translation>,
    /// Where the row came from.
    pub source: super::Source,
    /// Who made it, as the audit names actors.
    pub created_by: String,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
}

/// What a key refers to and what refers to it.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// The owner, when it is a user.
    #[sea_orm(belongs_to = "super::user::Entity", from = "Column::UserId", to = "super::user::Column::Id")]
    User,
    /// The owner, when it is an agent.
    #[sea_orm(belongs_to = "super::agent::Entity", from = "Column::AgentId", to = "super::agent::Column::Id")]
    Agent,
    /// The team its use counts for.
    #[sea_orm(belongs_to = "super::team::Entity", from = "Column::TeamId", to = "super::team::Column::Id")]
    Team,
    /// The application its use counts for.
    #[sea_orm(belongs_to = "super::application::Entity", from = "Column::ApplicationId", to = "super::application::Column::Id")]
    Application,
    /// The role whose limits apply.
    #[sea_orm(belongs_to = "super::role::Entity", from = "Column::RoleId", to = "super::role::Column::Id")]
    Role,
    /// When it was last used.
    #[sea_orm(has_one = "super::api_key_use::Entity")]
    ApiKeyUse,
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

impl Related<super::team::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Team.def()
    }
}

impl Related<super::application::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Application.def()
    }
}

impl Related<super::role::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Role.def()
    }
}

impl Related<super::api_key_use::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::ApiKeyUse.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
