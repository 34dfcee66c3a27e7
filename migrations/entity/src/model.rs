//! Models as clients ask for them.

use sea_orm::entity::prelude::*;

/// One model.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "model")]
pub struct Model {
    /// UUIDv7 text.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// Canonical name, unique.
    #[sea_orm(unique)]
    pub name: String,
    /// Whether a key and end user stay on one target inside a priority group.
    pub affinity: bool,
    /// JSON object: vision, tools, thinking, context window.
    pub capabilities: String,
    /// What is done about fields a provider of another shape has no words for; none = as the key says.
    pub translation: Option<super::Translation>,
    /// JSON object of time-outs in place of the providers': connect, first_byte, idle, total; none = the providers'.
    pub timeouts: Option<String>,
    /// Whether it takes requests.
    pub enabled: bool,
    /// Where the row came from.
    pub source: super::Source,
    /// Order in lists, from 0.
    pub position: i32,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
}

/// What refers to a model; all of it goes with the model.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// Its other names.
    #[sea_orm(has_many = "super::model_alias::Entity")]
    ModelAlias,
    /// Where it is served.
    #[sea_orm(has_many = "super::model_target::Entity")]
    ModelTarget,
    /// What is tried when all targets fail.
    #[sea_orm(has_many = "super::model_fallback::Entity")]
    ModelFallback,
}

impl Related<super::model_alias::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::ModelAlias.def()
    }
}

impl Related<super::model_target::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::ModelTarget.def()
    }
}

impl Related<super::model_fallback::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::ModelFallback.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
