//! Events that operators are told of: written by gateways, handed over by whoever delivers them.

use sea_orm::entity::prelude::*;

/// One event. A row is written once, by its id: a journal that is read again meets it. So rows are marked when they are handed
/// over, and not deleted before no journal can hold them any more.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "event_outbox")]
pub struct Model {
    /// UUIDv7 text; ascending in the order one gateway saw the events.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// What happened, such as `circuit.opened`.
    pub kind: String,
    /// JSON object: to what, and why. Never a secret.
    pub data: String,
    /// Unix milliseconds of the event.
    pub created_at: i64,
    /// Unix milliseconds; none = nobody has taken it over yet.
    pub dispatched_at: Option<i64>,
}

/// Events outlive what they name.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
