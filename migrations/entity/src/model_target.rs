//! Where models are served.

use sea_orm::entity::prelude::*;

/// One place a model is served.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "model_target")]
pub struct Model {
    /// UUIDv7 text.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// The model.
    pub model_id: String,
    /// Order among the targets of the model, from 0.
    pub position: i32,
    /// The provider that serves it.
    pub provider_id: String,
    /// What the provider calls the model.
    pub upstream_model: String,
    /// Lower goes first.
    pub priority: i32,
    /// Share inside its priority group.
    pub weight: i32,
    /// The region it is served from.
    pub region: Option<String>,
}

/// What the row refers to.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// The model.
    #[sea_orm(belongs_to = "super::model::Entity", from = "Column::ModelId", to = "super::model::Column::Id")]
    Model,
    /// The provider that serves it.
    #[sea_orm(belongs_to = "super::provider::Entity", from = "Column::ProviderId", to = "super::provider::Column::Id")]
    Provider,
}

impl Related<super::model::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Model.def()
    }
}

impl Related<super::provider::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Provider.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
