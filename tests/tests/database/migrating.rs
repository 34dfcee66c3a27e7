//! Migrations: up and down, and several at once.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, SqliteTransactionMode, TransactionOptions, TransactionTrait};
use sea_orm_migration::MigratorTrait;
use svc_migrations::{ADVISORY_LOCK, MigrateError, Migrator, connect, migrate, migrate_within};

use crate::place::{Place, number, run};

/// Names the database a child process migrates.
const CHILD_URL: &str = "SVC_TEST_MIGRATE_URL";

on_both_databases!(
    schema_goes_up_down_and_up_again,
    migrating_twice_changes_nothing,
    programs_that_migrate_at_once_leave_one_schema,
    programs_with_one_connection_migrate_at_once,
    processes_that_migrate_at_once_leave_one_schema,
    waiting_for_another_migration_ends_with_a_clear_error,
    database_of_a_newer_program_is_refused_and_left_alone,
);

/// What the schema holds, apart from what the migrations themselves keep.
async fn schema(db: &DatabaseConnection) -> Result<Vec<(String, String)>> {
    let sql = match db.get_database_backend() {
        DbBackend::Postgres => {
            "SELECT 'column' AS kind, table_name || '.' || column_name || ' ' || data_type AS name FROM information_schema.columns
             WHERE table_schema = 'public' AND table_name <> 'seaql_migrations'
             UNION ALL SELECT 'index', indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'seaql_migrations'
             UNION ALL SELECT 'trigger', tgname || ' ' || tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal
             UNION ALL SELECT 'function', proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
             UNION ALL SELECT 'constraint', conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
                 WHERE connamespace = 'public'::regnamespace AND conrelid <> 'seaql_migrations'::regclass
             ORDER BY 1, 2"
        }
        _ => {
            "SELECT type AS kind, name || coalesce(sql, '') AS name FROM sqlite_schema
             WHERE tbl_name NOT IN ('seaql_migrations', 'sqlite_sequence') ORDER BY 1, 2"
        }
    };
    let statement = sea_orm::Statement::from_string(db.get_database_backend(), sql);
    let rows = db.query_all_raw(statement).await?;
    rows.iter().map(|row| Ok((row.try_get("", "kind")?, row.try_get("", "name")?))).collect()
}

async fn applied(db: &DatabaseConnection) -> Result<usize> {
    Ok(usize::try_from(number(db, "SELECT count(*) FROM seaql_migrations", vec![]).await?)?)
}

async fn schema_goes_up_down_and_up_again(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    let first = schema(&db).await?;
    assert!(first.iter().any(|(_, name)| name.contains("request_log")), "the schema was made: {first:?}");
    for _ in Migrator::migrations() {
        Migrator::down(&db, Some(1)).await?;
    }
    assert_eq!(schema(&db).await?, vec![], "down takes away everything up has made");
    migrate(&db).await?;
    assert_eq!(schema(&db).await?, first, "up after down makes the same schema");
    Ok(())
}

async fn migrating_twice_changes_nothing(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    let first = schema(&db).await?;
    migrate(&db).await?;
    assert_eq!(schema(&db).await?, first);
    assert_eq!(applied(&db).await?, Migrator::migrations().len());
    Ok(())
}

async fn migrate_at_once(place: &Place, max_connections: u32) -> Result<()> {
    let program = |url: String| async move {
        let db = connect(&url, max_connections).await?;
        migrate(&db).await?;
        anyhow::Ok(db)
    };
    let programs: Vec<_> = (0..4).map(|_| tokio::spawn(program(place.url.clone()))).collect();
    for program in programs {
        program.await??;
    }
    let db = place.connect(1).await?;
    assert_eq!(applied(&db).await?, Migrator::migrations().len(), "each migration ran once");
    Ok(())
}

async fn programs_that_migrate_at_once_leave_one_schema(place: Place) -> Result<()> {
    migrate_at_once(&place, 5).await
}

async fn programs_with_one_connection_migrate_at_once(place: Place) -> Result<()> {
    migrate_at_once(&place, 1).await
}

async fn processes_that_migrate_at_once_leave_one_schema(place: Place) -> Result<()> {
    let start = || {
        Command::new(std::env::current_exe()?)
            .args(["--exact", "migrating::child_process_migrates", "--ignored"])
            .env(CHILD_URL, &place.url)
            .stdout(Stdio::piped())
            .spawn()
            .context("the test program could not start itself")
    };
    let children = [start()?, start()?, start()?];
    for child in children {
        let output = child.wait_with_output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "a process failed to migrate: {text}");
    }
    assert_eq!(applied(&place.connect(1).await?).await?, Migrator::migrations().len(), "each migration ran once");
    Ok(())
}

#[tokio::test]
#[ignore = "run by the tests that need several processes"]
async fn child_process_migrates() -> Result<()> {
    migrate(&connect(&std::env::var(CHILD_URL)?, 2).await?).await?;
    Ok(())
}

async fn waiting_for_another_migration_ends_with_a_clear_error(place: Place) -> Result<()> {
    let other = place.connect(1).await?;
    let immediate = TransactionOptions { sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate), ..TransactionOptions::default() };
    let held = other.begin_with_options(immediate).await?;
    if other.get_database_backend() == DbBackend::Postgres {
        run(&held, &format!("SELECT pg_advisory_xact_lock({ADVISORY_LOCK})")).await?;
    }
    let db = place.connect(1).await?;
    let refused = migrate_within(&db, Duration::from_millis(50)).await;
    assert!(matches!(refused, Err(MigrateError::Busy { .. })), "somebody else holds the lock: {refused:?}");
    held.rollback().await?;
    migrate(&db).await?;
    assert_eq!(applied(&db).await?, Migrator::migrations().len(), "the lock was free again, also on the same connection");
    Ok(())
}

async fn database_of_a_newer_program_is_refused_and_left_alone(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    run(&db, "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m29991231_later', 1)").await?;
    let before = schema(&db).await?;
    let refused = migrate(&db).await.err().context("an unknown migration must be refused")?;
    assert!(refused.to_string().contains("m29991231_later"), "the message names the migration: {refused}");
    assert_eq!(schema(&db).await?, before);
    Ok(())
}
