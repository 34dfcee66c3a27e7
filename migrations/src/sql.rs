//! Running SQL text inside a migration.
//!
//! Deleting what is still referred to is refused by foreign keys without an action. They are not declared `ON DELETE RESTRICT`,
//! since SQLite then reports the refusal as one of a trigger, which callers cannot tell from others.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

/// Runs one or more statements that mean the same to both databases.
pub(crate) async fn run(manager: &SchemaManager<'_>, statements: &str) -> Result<(), DbErr> {
    manager.get_connection().execute_unprepared(statements).await.map(drop)
}

/// Drops `tables` in the order given.
pub(crate) async fn drop_tables(manager: &SchemaManager<'_>, tables: &[&str]) -> Result<(), DbErr> {
    for table in tables {
        run(manager, &format!("DROP TABLE {table}")).await?;
    }
    Ok(())
}

/// Whether the migration runs on PostgreSQL; else it runs on SQLite.
pub(crate) fn is_postgres(manager: &SchemaManager<'_>) -> bool {
    manager.get_database_backend() == DbBackend::Postgres
}
