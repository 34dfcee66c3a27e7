//! Opening databases, and what errors say about them.

use anyhow::{Context, Result};
use svc_migrations::{ConnectError, backend_name, connect, migrate};

use crate::place::{Place, number, run};

const PASSWORD: &str = "hunter2-hunter2";

/// All an operator may see of an error: its text, its causes and its debug form.
fn all_text(error: &ConnectError) -> String {
    let mut text = format!("{error:?} {error:#?}");
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[tokio::test]
async fn folder_of_a_sqlite_file_is_created() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("not/there yet/svc.db");
    let db = connect(&format!("sqlite://{}", file.display()), 2).await?;
    assert_eq!(backend_name(&db), "sqlite");
    assert!(file.is_file());
    Ok(())
}

#[tokio::test]
async fn every_sqlite_connection_has_its_pragmas() -> Result<()> {
    use sea_orm::TransactionTrait;
    let db = Place::on_sqlite()?;
    let db = db.connect(2).await?;
    let (first, second) = (db.begin().await?, db.begin().await?);
    for connection in [&first, &second] {
        assert_eq!(number(connection, "PRAGMA foreign_keys", vec![]).await?, 1);
        assert_eq!(number(connection, "PRAGMA synchronous", vec![]).await?, 1, "NORMAL");
        assert_eq!(number(connection, "PRAGMA busy_timeout", vec![]).await?, 5000);
        assert_eq!(number(connection, "SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'", vec![]).await?, 1);
    }
    Ok(())
}

#[tokio::test]
async fn sqlite_in_memory_keeps_its_data_and_is_its_own() -> Result<()> {
    let (one, other) = (connect("sqlite::memory:", 10).await?, connect("sqlite::memory:", 10).await?);
    migrate(&one).await?;
    migrate(&other).await?;
    run(&one, "INSERT INTO role (id, name, created_at) VALUES ('r1', 'r', 1)").await?;
    assert_eq!(number(&one, "SELECT count(*) FROM role", vec![]).await?, 1);
    assert_eq!(number(&other, "SELECT count(*) FROM role", vec![]).await?, 0);
    Ok(())
}

#[tokio::test]
async fn errors_do_not_show_the_password() -> Result<()> {
    let place = Place::on_postgresql().await?;
    assert_eq!(backend_name(&place.connect(1).await?), "postgresql");
    let url = place.url.replace("trusted", PASSWORD);
    for url in [
        format!("{url}_that_is_not_there"),
        format!("{url}?sslmode={PASSWORD}"),
        format!("{url}?sslmode=require"),
        format!("postgres://svc:{PASSWORD}/x@127.0.0.1/svc"),
        format!("mysql://svc:{PASSWORD}@127.0.0.1/svc"),
        format!("svc:{PASSWORD}@127.0.0.1/svc"),
    ] {
        let refused = connect(&url, 1).await.err().context("nothing is there to connect to")?;
        let text = all_text(&refused);
        assert!(!text.contains("hunter2"), "{text}");
    }
    Ok(())
}

#[tokio::test]
async fn error_of_an_unknown_database_says_which_and_why() -> Result<()> {
    let place = Place::on_postgresql().await?;
    let refused = connect(&format!("{}_gone", place.url), 1).await.err().context("nothing is there to connect to")?;
    let text = all_text(&refused);
    assert!(text.contains("_gone on 127.0.0.1:") && text.contains("does not exist"), "{text}");
    Ok(())
}
