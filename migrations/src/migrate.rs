//! Bringing the schema up to date when several programs start at once.

use std::time::{Duration, Instant};

use sea_orm::sqlx;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, RuntimeErr, SqliteTransactionMode, TransactionOptions,
    TransactionTrait,
};
use sea_orm_migration::MigratorTrait;

use crate::Migrator;

/// How long a program waits for another one that is migrating.
const DEADLINE: Duration = Duration::from_secs(60);
/// Pause before SQLite is asked again; each asking itself waits for the connection's busy timeout.
const RETRY_PAUSE: Duration = Duration::from_millis(50);
/// Key of the PostgreSQL advisory lock a migrating program holds, as operators find it in `pg_locks`: the text `svc_mig`.
pub const ADVISORY_LOCK: i64 = 0x0073_7663_5f6d_6967;
/// PostgreSQL's code for a lock that was not to be had in time.
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// Why the schema could not be brought up to date. Nothing was changed then.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// Another program held the migration lock for the whole time.
    #[error("migrate the database: another program was still migrating it after {} s", waited.as_secs())]
    Busy {
        /// How long it was waited for.
        waited: Duration,
    },
    /// The lock could not be asked for, or a migration failed.
    #[error("migrate the database: {0}")]
    Database(#[from] DbErr),
}

/// Runs the migrations the database does not have yet, all or none.
///
/// Of several programs that start at once one migrates and the others wait for it, at most 60 seconds.
///
/// # Errors
/// When the lock is not to be had in time, when a migration fails, or when the database has a migration this program does
/// not know, which means that a newer program has been here.
pub async fn migrate(db: &DatabaseConnection) -> Result<(), MigrateError> {
    migrate_within(db, DEADLINE).await
}

/// [`migrate`] with another limit to the wait. On SQLite a wait is at least as long as the connection's busy timeout.
///
/// # Errors
/// As [`migrate`].
pub async fn migrate_within(db: &DatabaseConnection, deadline: Duration) -> Result<(), MigrateError> {
    // The lock is a transaction's, and the migrations run inside that transaction: so lock and work share one connection,
    // a pool of one is enough, and the lock cannot outlive the program that took it.
    let alone = match db.get_database_backend() {
        DbBackend::Postgres => lock_postgres(db, deadline).await?,
        _ => lock_sqlite(db, deadline).await?,
    };
    match Migrator::up(&alone, None).await {
        Ok(()) => Ok(alone.commit().await?),
        Err(cause) => {
            alone.rollback().await?;
            Err(cause.into())
        }
    }
}

async fn lock_postgres(db: &DatabaseConnection, deadline: Duration) -> Result<DatabaseTransaction, MigrateError> {
    let transaction = db.begin().await?;
    let timeout_ms = deadline.as_millis().max(1);
    let lock = format!(
        "SET LOCAL client_min_messages = warning; SET LOCAL lock_timeout = {timeout_ms};
         SELECT pg_advisory_xact_lock({ADVISORY_LOCK}); SET LOCAL lock_timeout = DEFAULT"
    );
    match transaction.execute_unprepared(&lock).await {
        Ok(_) => Ok(transaction),
        Err(cause) if code(&cause).as_deref() == Some(LOCK_NOT_AVAILABLE) => Err(MigrateError::Busy { waited: deadline }),
        Err(cause) => Err(cause.into()),
    }
}

async fn lock_sqlite(db: &DatabaseConnection, deadline: Duration) -> Result<DatabaseTransaction, MigrateError> {
    let started = Instant::now();
    let options = TransactionOptions { sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate), ..TransactionOptions::default() };
    loop {
        match db.begin_with_options(options).await {
            Ok(transaction) => return Ok(transaction),
            Err(cause) if !code(&cause).is_some_and(|code| is_sqlite_busy(&code)) => return Err(cause.into()),
            Err(_) if started.elapsed() >= deadline => return Err(MigrateError::Busy { waited: started.elapsed() }),
            Err(_) => tokio::time::sleep(RETRY_PAUSE).await,
        }
    }
}

/// The database's own code of an error, if the error came from the database.
fn code(error: &DbErr) -> Option<String> {
    let (DbErr::Conn(RuntimeErr::SqlxError(cause))
    | DbErr::Exec(RuntimeErr::SqlxError(cause))
    | DbErr::Query(RuntimeErr::SqlxError(cause))) = error
    else {
        return None;
    };
    cause.as_database_error().and_then(sqlx::error::DatabaseError::code).map(std::borrow::Cow::into_owned)
}

/// Whether a result code of SQLite means that somebody else holds the database: `SQLITE_BUSY` (5) and `SQLITE_LOCKED` (6)
/// with all their extended codes, whose lowest byte is the primary code (<https://www.sqlite.org/rescode.html>).
pub(crate) fn is_sqlite_busy(code: &str) -> bool {
    code.parse::<u32>().is_ok_and(|code| matches!(code & 0xff, 5 | 6))
}
