//! The request log's rows: the hottest statements of the database.
//!
//! Both databases get constant statements, so that the driver prepares each once per connection: SQLite one with many rows of
//! placeholders and one with a single row, PostgreSQL one that unpacks an array per column.

mod columns;
mod postgres;
mod sqlite;

use sea_orm::sqlx;
use sea_orm::{DatabaseConnection, DbBackend, DbErr, RuntimeErr};

use super::record::Record;

/// Rows written by one statement.
const CHUNK: usize = 64;

/// Writes records, all or none, and each once: a request that is in the log already is passed over. A record the database
/// will never take is logged and left out, so that it does not keep back the ones behind it.
///
/// # Errors
/// When the database is away or full. The records can be given again.
pub async fn insert<S: AsRef<str> + Sync>(db: &DatabaseConnection, records: &[Record<S>]) -> Result<(), DbErr> {
    match write(db, records).await {
        Err(error) if is_data_error(&error) => one_by_one(db, records).await,
        result => result.map_err(database_error),
    }
}

async fn write<S: AsRef<str> + Sync>(db: &DatabaseConnection, records: &[Record<S>]) -> Result<(), sqlx::Error> {
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
            Err(error) if is_data_error(&error) => {}
            result => {
                result.map_err(database_error)?;
                continue;
            }
        }
        for record in chunk {
            match write(db, std::slice::from_ref(record)).await {
                Err(error) if is_data_error(&error) => {
                    let id = record.request_id.as_ref();
                    log::error!("the record of request {id} is left out of the request log: {error}");
                }
                result => result.map_err(database_error)?,
            }
        }
    }
    Ok(())
}

/// Whether the values are at fault, so that the same statement will never succeed.
fn is_data_error(error: &sqlx::Error) -> bool {
    const SQLITE_TOO_BIG: u32 = 18;
    const SQLITE_CONSTRAINT: u32 = 19;
    const SQLITE_MISMATCH: u32 = 20;
    match error {
        sqlx::Error::Encode(_) => true,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| match code.len() {
            // SQLSTATE: data exception, integrity constraint violation, program limit exceeded.
            5 if error.try_downcast_ref::<sqlx::postgres::PgDatabaseError>().is_some() => {
                ["22", "23", "54"].iter().any(|class| code.starts_with(class))
            }
            // SQLite's extended codes keep the primary code in the low byte.
            _ => code.parse::<u32>().is_ok_and(|code| matches!(code & 0xff, SQLITE_TOO_BIG | SQLITE_CONSTRAINT | SQLITE_MISMATCH)),
        }),
        _ => false,
    }
}

fn database_error(error: sqlx::Error) -> DbErr {
    DbErr::Exec(RuntimeErr::SqlxError(error.into()))
}

#[cfg(test)]
mod tests;
