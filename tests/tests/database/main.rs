//! The database layer, the same cases on SQLite and on PostgreSQL.

/// Makes every case, a function over a [`place::Place`], a test on both databases.
macro_rules! on_both_databases {
    ($($case:ident),+ $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test]
            async fn $case() -> anyhow::Result<()> {
                super::$case(crate::place::Place::on_sqlite()?).await
            })+
        }

        mod on_postgresql {
            $(#[tokio::test]
            async fn $case() -> anyhow::Result<()> {
                super::$case(crate::place::Place::on_postgresql().await?).await
            })+
        }
    };
}

mod connecting;
mod constraints;
mod migrating;
mod place;
mod revision;
mod rows;
