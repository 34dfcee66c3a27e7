//! When each key was last used. Apart from the key, because using a key is no change of configuration.

use sea_orm::entity::prelude::*;

/// The last use of one key.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "api_key_use")]
pub struct Model {
    /// The key.
    #[sea_orm(primary_key, auto_increment = false)]
    pub api_key_id: String,
    /// Unix milliseconds.
    pub last_used_at: i64,
}

/// What a use refers to.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// The key.
    #[sea_orm(belongs_to = "super::api_key::Entity", from = "Column::ApiKeyId", to = "super::api_key::Column::Id")]
    ApiKey,
}

impl Related<super::api_key::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::ApiKey.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
