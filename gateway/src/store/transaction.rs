//! Transactions as the store uses them: one writer at a time, and reads that see one moment.

use sea_orm::{
    AccessMode, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, IsolationLevel, SqliteTransactionMode,
    TransactionOptions, TransactionTrait,
};

/// The PostgreSQL advisory lock every writer of configuration and audit holds: an arbitrary number, the same in all programs.
const WRITERS_LOCK: i64 = 0x7376_635f_7772;

/// Begins a change of configuration. Only one such transaction runs at a time, over all processes, so that what it reads
/// stays true and the audit's chain stays a chain.
pub(crate) async fn begin_write(db: &DatabaseConnection) -> Result<DatabaseTransaction, DbErr> {
    let sqlite_transaction_mode = (db.get_database_backend() == DbBackend::Sqlite).then_some(SqliteTransactionMode::Immediate);
    let transaction = db.begin_with_options(TransactionOptions { sqlite_transaction_mode, ..TransactionOptions::default() }).await?;
    if db.get_database_backend() == DbBackend::Postgres {
        transaction.execute_unprepared(&format!("SELECT pg_advisory_xact_lock({WRITERS_LOCK})")).await?;
    }
    Ok(transaction)
}

/// Begins a transaction whose reads all see the same moment.
pub(crate) async fn begin_read(db: &DatabaseConnection) -> Result<DatabaseTransaction, DbErr> {
    if db.get_database_backend() == DbBackend::Postgres {
        return db.begin_with_config(Some(IsolationLevel::RepeatableRead), Some(AccessMode::ReadOnly)).await;
    }
    // On SQLite a transaction sees the moment of its first read.
    db.begin().await
}
