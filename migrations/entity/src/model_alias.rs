//! Other names of models.

use sea_orm::entity::prelude::*;

/// One other name of a model.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "model_alias")]
pub struct Model {
    /// UUIDv7 text.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// The model.
    pub model_id: String,
    /// Unique over all models.
    #[sea_orm(unique)]
    pub alias: String,
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
