//! The credentials a provider is called with, sealed.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

/// Whether a provider key is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Serialize, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum ProviderKeyStatus {
    /// It is used.
    Active,
    /// The provider refused it; it waits for an operator.
    Quarantined,
    /// An operator took it out of use.
    Disabled,
}

/// One credential.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "provider_key")]
pub struct Model {
    /// UUIDv7 text.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// The provider it is for.
    pub provider_id: String,
    /// Order among the provider's keys, from 0; unique per provider.
    pub position: i32,
    /// Name shown to people.
    pub name: Option<String>,
    /// Base64 of nonce and ciphertext.
    pub secret_sealed: String,
    /// The end of the secret, to recognise it by.
    pub last_four: String,
    /// Whether it is used.
    pub status: ProviderKeyStatus,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
}

/// What a provider key refers to.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// The provider it is for.
    #[sea_orm(belongs_to = "super::provider::Entity", from = "Column::ProviderId", to = "super::provider::Column::Id")]
    Provider,
}

impl Related<super::provider::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Provider.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
