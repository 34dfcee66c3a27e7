//! Rows on SQLite: statements with a placeholder per value.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use sea_orm::sqlx;
use sqlx::Arguments;
use sqlx::sqlite::{SqliteArguments, SqlitePool};

use super::CHUNK;
use super::columns::{COLUMNS, Sink, row};
use crate::store::record::Record;

static MANY: LazyLock<String> = LazyLock::new(|| statement(CHUNK));
static ONE: LazyLock<String> = LazyLock::new(|| statement(1));

pub(super) async fn write<S: AsRef<str>>(pool: &SqlitePool, records: &[Record<S>]) -> Result<(), sqlx::Error> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let mut recent = Recent([const { None }; COLUMNS.len()]);
    let (chunks, rest) = records.as_chunks::<CHUNK>();
    for chunk in chunks {
        sqlx::query_with(MANY.as_str(), arguments(chunk, &mut recent)?).execute(&mut *transaction).await?;
    }
    for record in rest {
        sqlx::query_with(ONE.as_str(), arguments(std::slice::from_ref(record), &mut recent)?).execute(&mut *transaction).await?;
    }
    transaction.commit().await
}

fn statement(rows: usize) -> String {
    let names = COLUMNS.map(|(name, _)| name).join(", ");
    let values = format!("({})", vec!["?"; COLUMNS.len()].join(", "));
    format!("INSERT INTO request_log ({names}) VALUES {} ON CONFLICT (request_id) DO NOTHING", vec![values; rows].join(", "))
}

fn arguments<S: AsRef<str>>(records: &[Record<S>], recent: &mut Recent) -> Result<SqliteArguments, sqlx::Error> {
    let mut values = Values { arguments: SqliteArguments::default(), recent, column: 0, failure: None };
    values.arguments.reserve(records.len() * COLUMNS.len(), 0);
    for record in records {
        values.column = 0;
        row(record, &mut values);
    }
    match values.failure {
        None => Ok(values.arguments),
        Some(error) => Err(sqlx::Error::Encode(error)),
    }
}

/// The last text of each column. Neighbouring rows mostly agree in shape, model, key and the like, and share it then.
struct Recent([Option<Arc<str>>; COLUMNS.len()]);

struct Values<'r> {
    arguments: SqliteArguments,
    recent: &'r mut Recent,
    column: usize,
    failure: Option<sqlx::error::BoxDynError>,
}

impl Values<'_> {
    fn shared(&mut self, text: &str) -> Arc<str> {
        let Some(recent) = self.recent.0.get_mut(self.column) else { return Arc::from(text) };
        match recent {
            Some(recent) if **recent == *text => recent.clone(),
            _ => recent.insert(Arc::from(text)).clone(),
        }
    }
}

impl<'a> Sink<'a> for Values<'_> {
    fn text(&mut self, value: Option<Cow<'a, str>>) {
        let value = value.map(|text| self.shared(&text));
        self.failure = self.arguments.add(value).err().or(self.failure.take());
        self.column += 1;
    }

    fn number(&mut self, value: Option<i64>) {
        self.failure = self.arguments.add(value).err().or(self.failure.take());
        self.column += 1;
    }
}
