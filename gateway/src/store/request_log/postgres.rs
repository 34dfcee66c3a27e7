//! Rows on PostgreSQL: one array per column, so that one statement fits any number of rows.

use std::borrow::Cow;
use std::sync::LazyLock;

use sea_orm::sqlx;
use sqlx::Arguments;
use sqlx::postgres::{PgArguments, PgPool};

use super::Failure;
use super::columns::{COLUMNS, Kind, Sink, clean, row};
use crate::store::record::Record;

/// Rows of one statement, to bound the size of its arguments.
const ROWS: usize = 1024;

static STATEMENT: LazyLock<String> = LazyLock::new(statement);

pub(super) async fn write<S: AsRef<str>>(pool: &PgPool, records: &[Record<S>]) -> Result<(), Failure> {
    let mut transaction = pool.begin().await?;
    for chunk in records.chunks(ROWS) {
        sqlx::query_with(STATEMENT.as_str(), arguments(chunk)?).execute(&mut *transaction).await?;
    }
    Ok(transaction.commit().await?)
}

fn statement() -> String {
    let each = |form: &dyn Fn(usize, &str, Kind) -> String| {
        let parts: Vec<String> = (1..).zip(COLUMNS).map(|(number, (name, kind))| form(number, name, kind)).collect();
        parts.join(", ")
    };
    let names = each(&|_, name, _| name.to_owned());
    let chosen = each(&|_, name, kind| if kind == Kind::Flag { format!("{name} <> 0") } else { name.to_owned() });
    let arrays = each(&|number, _, kind| format!("${number}::{}", if kind == Kind::Text { "text[]" } else { "bigint[]" }));
    format!("INSERT INTO request_log ({names}) SELECT {chosen} FROM UNNEST({arrays}) AS rows ({names}) ON CONFLICT (request_id) DO NOTHING")
}

fn arguments<S: AsRef<str>>(records: &[Record<S>]) -> Result<PgArguments, sqlx::Error> {
    let mut values = Values { columns: COLUMNS.map(|(_, kind)| Column::of(kind, records.len())), column: 0 };
    for record in records {
        values.column = 0;
        row(record, &mut values);
    }
    let mut arguments = PgArguments::default();
    for column in values.columns {
        match column {
            Column::Texts(texts) => arguments.add(texts),
            Column::Numbers(numbers) => arguments.add(numbers),
        }
        .map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

enum Column<'a> {
    Texts(Vec<Option<Cow<'a, str>>>),
    Numbers(Vec<Option<i64>>),
}

impl Column<'_> {
    fn of(kind: Kind, rows: usize) -> Self {
        match kind {
            Kind::Text => Self::Texts(Vec::with_capacity(rows)),
            Kind::Number | Kind::Flag => Self::Numbers(Vec::with_capacity(rows)),
        }
    }
}

struct Values<'a> {
    columns: [Column<'a>; COLUMNS.len()],
    column: usize,
}

impl<'a> Values<'a> {
    fn push(&mut self, value: Option<Cow<'a, str>>) {
        if let Some(Column::Texts(texts)) = self.columns.get_mut(self.column) {
            texts.push(value.map(clean));
        }
        self.column += 1;
    }
}

impl<'a> Sink<'a> for Values<'a> {
    fn text(&mut self, value: Option<&'a str>) {
        self.push(value.map(Cow::Borrowed));
    }

    fn made(&mut self, value: Option<String>) {
        self.push(value.map(Cow::Owned));
    }

    fn number(&mut self, value: Option<i64>) {
        if let Some(Column::Numbers(numbers)) = self.columns.get_mut(self.column) {
            numbers.push(value);
        }
        self.column += 1;
    }
}
