//! Upstream providers.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// Which vendor's interface a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Serialize, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text")]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// OpenAI and servers that speak its interface.
    #[sea_orm(string_value = "openai")]
    #[serde(rename = "openai")]
    OpenAi,
    /// Azure OpenAI.
    #[sea_orm(string_value = "azure_openai")]
    #[serde(rename = "azure_openai")]
    AzureOpenAi,
    /// Anthropic.
    #[sea_orm(string_value = "anthropic")]
    Anthropic,
    /// Amazon Bedrock.
    #[sea_orm(string_value = "bedrock")]
    Bedrock,
    /// Google Gemini.
    #[sea_orm(string_value = "gemini")]
    Gemini,
    /// Google Vertex AI.
    #[sea_orm(string_value = "vertex")]
    Vertex,
}

/// One provider.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "provider")]
pub struct Model {
    /// UUIDv7 text.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// Unique.
    #[sea_orm(unique)]
    pub name: String,
    /// Which vendor's interface it speaks.
    pub kind: ProviderKind,
    /// Where its interface starts, as a URL.
    pub base_url: String,
    /// The region it runs in.
    pub region: Option<String>,
    /// JSON object: whatever only some kinds have, never a secret.
    pub settings: String,
    /// Whether it takes requests.
    pub enabled: bool,
    /// Where the row came from.
    pub source: super::Source,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
}

/// What refers to a provider.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// Its keys; they go with it.
    #[sea_orm(has_many = "super::provider_key::Entity")]
    ProviderKey,
    /// The targets that use it.
    #[sea_orm(has_many = "super::model_target::Entity")]
    ModelTarget,
}

impl Related<super::provider_key::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::ProviderKey.def()
    }
}

impl Related<super::model_target::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::ModelTarget.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
