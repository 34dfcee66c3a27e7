//! Rows on SQLite: one prepared statement, run for each row on the connection itself. Through the driver every value would be put
//! into a list, handed to another thread and copied there.

use std::borrow::Cow;
use std::sync::LazyLock;

use rusqlite::types::Null;
use rusqlite::{Connection, PrepFlags, Statement};
use sea_orm::sqlx::sqlite::{LockedSqliteHandle, SqlitePool};

use super::Failure;
use super::columns::{COLUMNS, Sink, clean, row};
use crate::store::record::Record;

static STATEMENT: LazyLock<String> = LazyLock::new(statement);

pub(super) async fn write<S: AsRef<str>>(pool: &SqlitePool, records: &[Record<S>]) -> Result<(), Failure> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let mut handle = transaction.lock_handle().await?;
    // It may wait for the disk, and this thread has other things to do.
    tokio::task::block_in_place(|| insert(&mut handle, records))?;
    drop(handle);
    Ok(transaction.commit().await?)
}

fn statement() -> String {
    let names = COLUMNS.map(|(name, _)| name).join(", ");
    let values = ["?"; COLUMNS.len()].join(", ");
    format!("INSERT INTO request_log ({names}) VALUES ({values}) ON CONFLICT (request_id) DO NOTHING")
}

fn insert<S: AsRef<str>>(handle: &mut LockedSqliteHandle<'_>, records: &[Record<S>]) -> Result<(), rusqlite::Error> {
    #[expect(unsafe_code, reason = "the driver lends out its connection as a pointer")]
    // SAFETY: the lock keeps all others from the connection, which stays open at least as long and is not closed by what is made here.
    let connection = unsafe { Connection::from_handle(handle.as_raw_handle().as_ptr()) }?;
    let statement = connection.prepare_with_flags(&STATEMENT, PrepFlags::SQLITE_PREPARE_PERSISTENT)?;
    let mut values = Values { statement, bound: [const { Bound::Null }; COLUMNS.len()], column: 0, failure: None };
    for record in records {
        values.column = 0;
        row(record, &mut values);
        match values.failure.take() {
            None => values.statement.raw_execute()?,
            Some(error) => return Err(error),
        };
    }
    Ok(())
}

/// The values of a row on their way into the statement. It keeps them from one row to the next, and neighbouring rows mostly agree in
/// shape, model, key and the like, so only what differs is bound.
struct Values<'c, 'a> {
    statement: Statement<'c>,
    bound: [Bound<'a>; COLUMNS.len()],
    column: usize,
    failure: Option<rusqlite::Error>,
}

#[derive(Clone, Copy, PartialEq)]
enum Bound<'a> {
    /// Also what a statement begins with.
    Null,
    Number(i64),
    Text(&'a str),
}

impl<'a> Values<'_, 'a> {
    /// Binds the next value where it is another than that of the row before.
    fn rebind(&mut self, value: Bound<'a>) {
        match self.bound.get_mut(self.column) {
            Some(bound) if *bound == value => self.column += 1,
            Some(bound) => {
                *bound = value;
                self.bind(value);
            }
            None => {}
        }
    }

    fn bind(&mut self, value: Bound<'_>) {
        self.column += 1;
        let result = match value {
            Bound::Null => self.statement.raw_bind_parameter(self.column, Null),
            Bound::Number(number) => self.statement.raw_bind_parameter(self.column, number),
            Bound::Text(text) => self.statement.raw_bind_parameter(self.column, &*clean(Cow::Borrowed(text))),
        };
        if let Err(error) = result {
            self.failure = Some(error);
        }
    }
}

impl<'a> Sink<'a> for Values<'_, 'a> {
    fn text(&mut self, value: Option<&'a str>) {
        self.rebind(value.map_or(Bound::Null, Bound::Text));
    }

    fn made(&mut self, value: Option<String>) {
        self.bind(value.as_deref().map_or(Bound::Null, Bound::Text));
    }

    fn number(&mut self, value: Option<i64>) {
        self.rebind(value.map_or(Bound::Null, Bound::Number));
    }
}
