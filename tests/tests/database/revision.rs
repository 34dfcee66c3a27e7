//! The configuration revision: what raises it, and who is told.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use sea_orm::sqlx::postgres::PgListener;
use sea_orm::{DatabaseConnection, EntityTrait, TransactionTrait};
use svc_entity::config_revision::{Entity as ConfigRevision, ROW_ID};

use crate::place::{Place, run};

/// Every table of the configuration: its name, columns and values of a row, and a change of that row. Referred rows first.
const ROWS: [(&str, &str, &str, &str); 17] = [
    ("organisation", "id, name, created_at", "'o1', 'o', 1", "name = 'x'"),
    ("team", "id, organisation_id, name, created_at", "'t1', 'o1', 't', 1", "name = 'x'"),
    ("application", "id, team_id, name, created_at", "'p1', 't1', 'p', 1", "name = 'x'"),
    ("role", "id, name, created_at", "'r1', 'r', 1", "rpm_limit = 5"),
    (
        "users",
        "id, email, name, role_id, status, source, created_at, updated_at",
        "'u1', 'u@x', 'u', 'r1', 'active', 'api', 1, 1",
        "name = 'x'",
    ),
    ("agent", "id, name, team_id, status, source, created_at, updated_at", "'a1', 'a', 't1', 'active', 'api', 1, 1", "name = 'x'"),
    ("groups", "id, name, created_at", "'g1', 'g', 1", "name = 'x'"),
    ("group_member", "id, group_id, user_id", "'gm1', 'g1', 'u1'", "group_id = 'g1'"),
    ("team_member", "id, team_id, agent_id", "'tm1', 't1', 'a1'", "team_id = 't1'"),
    (
        "api_key",
        "id, name, secret_hash, last_four, user_id, status, content_logging, source, created_by, created_at, updated_at",
        "'k1', 'k', 'hash', 'last', 'u1', 'active', 'inherit', 'api', 'test', 1, 1",
        "status = 'revoked'",
    ),
    (
        "provider",
        "id, name, kind, base_url, settings, enabled, source, created_at, updated_at",
        "'v1', 'v', 'openai', 'http://x', '{}', TRUE, 'api', 1, 1",
        "enabled = FALSE",
    ),
    (
        "provider_key",
        "id, provider_id, position, secret_sealed, last_four, status, created_at, updated_at",
        "'vk1', 'v1', 0, 'sealed', 'last', 'active', 1, 1",
        "status = 'quarantined'",
    ),
    (
        "model",
        "id, name, capabilities, enabled, source, position, created_at, updated_at",
        "'m1', 'm', '{}', TRUE, 'api', 0, 1, 1",
        "enabled = FALSE",
    ),
    ("model_alias", "id, model_id, alias", "'ma1', 'm1', 'default'", "alias = 'x'"),
    (
        "model_target",
        "id, model_id, position, provider_id, upstream_model, priority, weight",
        "'mt1', 'm1', 0, 'v1', 'm', 0, 1",
        "weight = 2",
    ),
    ("model_fallback", "id, model_id, position, fallback_model", "'mf1', 'm1', 0, 'other'", "fallback_model = 'x'"),
    ("setting", "key, value, updated_at", "'s1', '1', 1", "value = '2'"),
];

/// One row of every table of the configuration, for tests that need something to refer to.
pub(crate) async fn fill(db: &DatabaseConnection) -> Result<()> {
    for (table, columns, values, _) in ROWS {
        run(db, &format!("INSERT INTO {table} ({columns}) VALUES ({values})")).await?;
    }
    Ok(())
}

on_both_databases!(
    every_change_of_configuration_raises_the_revision,
    revision_is_seen_only_when_the_change_is,
    using_keys_and_logging_requests_is_no_change,
);

async fn revision(db: &DatabaseConnection) -> Result<i64> {
    Ok(ConfigRevision::find_by_id(ROW_ID).one(db).await?.context("the revision has no row")?.revision)
}

async fn expect_raise(db: &DatabaseConnection, sql: &str) -> Result<()> {
    let before = revision(db).await?;
    run(db, sql).await.with_context(|| sql.to_owned())?;
    ensure!(revision(db).await? > before, "the revision did not grow after: {sql}");
    Ok(())
}

async fn every_change_of_configuration_raises_the_revision(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    for (table, columns, values, _) in ROWS {
        expect_raise(&db, &format!("INSERT INTO {table} ({columns}) VALUES ({values})")).await?;
    }
    for (table, _, _, change) in ROWS {
        expect_raise(&db, &format!("UPDATE {table} SET {change}")).await?;
    }
    for (table, ..) in ROWS.iter().rev() {
        expect_raise(&db, &format!("DELETE FROM {table}")).await?;
    }
    Ok(())
}

async fn revision_is_seen_only_when_the_change_is(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    let before = revision(&db).await?;
    let transaction = db.begin().await?;
    run(&transaction, "INSERT INTO role (id, name, created_at) VALUES ('r1', 'r', 1)").await?;
    assert_eq!(revision(&db).await?, before, "the change is not committed yet");
    transaction.commit().await?;
    assert_eq!(revision(&db).await?, before + 1);
    Ok(())
}

async fn using_keys_and_logging_requests_is_no_change(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    fill(&db).await?;
    let before = revision(&db).await?;
    run(&db, "INSERT INTO api_key_use (api_key_id, last_used_at) VALUES ('k1', 1)").await?;
    run(&db, "UPDATE api_key_use SET last_used_at = 2").await?;
    run(&db, "DELETE FROM api_key_use").await?;
    crate::rows::log_request(&db, "request").await?;
    run(&db, "UPDATE request_log SET status = 500").await?;
    run(&db, "DELETE FROM request_log").await?;
    assert_eq!(revision(&db).await?, before);
    Ok(())
}

#[tokio::test]
async fn postgresql_tells_listeners_the_new_revision() -> Result<()> {
    let place = Place::on_postgresql().await?;
    let db = place.migrated().await?;
    let mut listener = PgListener::connect(&place.url).await?;
    listener.listen("svc_config").await?;
    run(&db, "INSERT INTO role (id, name, created_at) VALUES ('r1', 'r', 1)").await?;
    let told = tokio::time::timeout(Duration::from_secs(10), listener.recv()).await??;
    assert_eq!(told.payload(), revision(&db).await?.to_string(), "the payload is the revision");
    Ok(())
}
