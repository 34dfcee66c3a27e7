//! The database: how it is opened, and every step its schema has taken.
//!
//! A migration that has been released is never edited: what it got wrong is put right by a later one. Migrations only add,
//! so that the release before still runs on the new schema, and they are written as SQL text, so that no later change
//! of an entity changes what they do.

mod connect;
mod m20261121_events;
mod m20261121_guardrails;
mod m20261121_identity;
mod m20261121_records;
mod m20261121_revision;
mod m20261121_routing;
mod m20261121_rules;
mod m20261121_translation;
mod migrate;
mod sql;

pub use connect::{ConnectError, backend_name, connect};
pub use migrate::{ADVISORY_LOCK, MigrateError, migrate, migrate_within};
use sea_orm_migration::prelude::*;

/// All migrations, oldest first.
#[derive(Debug)]
pub struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m20261121_identity::Migration),
            Box::new(m20261121_routing::Migration),
            Box::new(m20261121_records::Migration),
            Box::new(m20261121_revision::Migration),
            Box::new(m20261121_translation::Migration),
            Box::new(m20261121_rules::Migration),
            Box::new(m20261121_events::Migration),
            Box::new(m20261121_guardrails::Migration),
        ]
    }
}
