//! What is tried when all targets of a model fail.

use sea_orm::entity::prelude::*;

/// One fallback of a model.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "model_fallback")]
pub struct Model {
    /// UUIDv7 text.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// The model.
    pub model_id: String,
    /// Order among the fallbacks of the model, from 0.
    pub position: i32,
    /// Name of the model to try; by name, so that it may be declared later.
    pub fallback_model: String,
}

/// What the row refers to.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// The model.
    #[sea_orm(belongs_to = "super::model::Entity", from = "Column::ModelId", to = "super::model::Column::Id")]
    Model,
}

impl Related<super::model::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Model.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
