//! The request log's rows: the hottest statements of the database.
//!
//! Both databases get constant statements, which are prepared once: SQLite one for a row, PostgreSQL one that unpacks an array per
//! column.

mod columns;
mod postgres;
mod sqlite;

use sea_orm::sqlx;
use sea_orm::{DatabaseConnection, DbBackend, DbErr, RuntimeErr};

use super::record::Record;

/// Rows among which a bad one is looked for at once.
const CHUNK: usize = 64;

/// Writes records, all or none, and each once: a request that is in the log already is passed over. A record the database
/// will never take is logged and left out, so that it does not keep back the ones behind it.
///
/// # Errors
/// When the database is away or full. The records can be given again.
///
/// # Panics
/// On SQLite, on a runtime of one thread.
pub async fn insert<S: AsRef<str> + Sync>(db: &DatabaseConnection, records: &[Record<S>]) -> Result<(), DbErr> {
    match write(db, records).await {
        Err(Failure::Values(_)) => one_by_one(db, records).await,
        Err(Failure::Database(error)) => Err(error),
        Ok(()) => Ok(()),
    }
}

async fn write<S: AsRef<str> + Sync>(db: &DatabaseConnection, records: &[Record<S>]) -> Result<(), Failure> {
    if records.is_empty() {
        return Ok(());
    }
    match db.get_database_backend() {
        DbBackend::Postgres => postgres::write(db.get_postgres_connection_pool(), records).await,
        _ => sqlite::write(db.get_sqlite_connection_pool(), records).await,
    }
}

/// Finds the records the database does not take.
async fn one_by_one<S: AsRef<str> + Sync>(db: &DatabaseConnection, records: &[Record<S>]) -> Result<(), DbErr> {
    for chunk in records.chunks(CHUNK) {
        match write(db, chunk).await {
            Err(Failure::Values(_)) => {}
            Err(Failure::Database(error)) => return Err(error),
            Ok(()) => continue,
        }
        for record in chunk {
            match write(db, std::slice::from_ref(record)).await {
                Err(Failure::Values(error)) => {
                    let id = record.request_id.as_ref();
                    log::error!("the record of request {id} is left out of the request log: {error}");
                }
                Err(Failure::Database(error)) => return Err(error),
                Ok(()) => {}
            }
        }
    }
    Ok(())
}

/// Why rows were not written.
enum Failure {
    /// The values are at fault, so that the same statement will never succeed.
    Values(DbErr),
    /// Anything else.
    Database(DbErr),
}

impl Failure {
    fn of(values: bool, error: RuntimeErr) -> Self {
        if values { Self::Values(DbErr::Exec(error)) } else { Self::Database(DbErr::Exec(error)) }
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        let values = match &error {
            sqlx::Error::Encode(_) => true,
            // Data exception, integrity constraint violation, program limit exceeded. SQLite's own codes have other lengths.
            sqlx::Error::Database(error) => {
                error.code().is_some_and(|code| code.len() == 5 && ["22", "23", "54"].iter().any(|class| code.starts_with(class)))
            }
            _ => false,
        };
        Self::of(values, RuntimeErr::SqlxError(error.into()))
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{ConstraintViolation, TooBig, TypeMismatch};
        let values = matches!(error.sqlite_error_code(), Some(TooBig | ConstraintViolation | TypeMismatch));
        Self::of(values, RuntimeErr::Internal(error.to_string()))
    }
}

#[cfg(test)]
mod tests;
