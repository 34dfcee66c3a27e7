//! A database of a test's own.

use anyhow::{Context, Result};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr, Statement, Value};
use svc_migrations::{connect, migrate};
use tempfile::TempDir;

pub(crate) struct Place {
    pub(crate) url: String,
    /// Removed when the test ends.
    _folder: Option<TempDir>,
}

impl Place {
    pub(crate) fn on_sqlite() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let url = format!("sqlite://{}/svc.db", folder.path().display());
        Ok(Self { url, _folder: Some(folder) })
    }

    pub(crate) async fn on_postgresql() -> Result<Self> {
        Ok(Self { url: svc_tests::postgres::fresh_database().await?, _folder: None })
    }

    pub(crate) async fn connect(&self, max_connections: u32) -> Result<DatabaseConnection> {
        Ok(connect(&self.url, max_connections).await?)
    }

    pub(crate) async fn migrated(&self) -> Result<DatabaseConnection> {
        let db = self.connect(4).await?;
        migrate(&db).await?;
        Ok(db)
    }
}

pub(crate) async fn run(db: &impl ConnectionTrait, sql: &str) -> Result<(), DbErr> {
    db.execute_unprepared(sql).await.map(drop)
}

/// The only number of the only row `sql` gives.
pub(crate) async fn number(db: &impl ConnectionTrait, sql: &str, values: Vec<Value>) -> Result<i64> {
    let statement = Statement::from_sql_and_values(db.get_database_backend(), sql, values);
    let row = db.query_one_raw(statement).await?.context("no row")?;
    Ok(row.try_get_by_index(0)?)
}
