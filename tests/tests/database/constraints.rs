//! What the database itself refuses.

use anyhow::{Context, Result};
use sea_orm::{DatabaseConnection, DbErr, SqlErr};

use crate::place::{Place, number, run};
use crate::revision::fill;

on_both_databases!(
    key_has_exactly_one_owner,
    membership_has_exactly_one_member,
    names_and_secrets_are_unique,
    keys_without_public_id_live_side_by_side,
    deleting_what_is_still_used_is_refused,
    children_go_with_their_parents,
);

async fn add_key(db: &DatabaseConnection, id: &str, user: &str, agent: &str) -> Result<(), DbErr> {
    let sql = format!(
        "INSERT INTO api_key (id, name, secret_hash, last_four, user_id, agent_id, status, content_logging, source, created_by, created_at, updated_at)
         VALUES ('{id}', 'k', 'hash of {id}', 'last', {user}, {agent}, 'active', 'inherit', 'api', 'test', 1, 1)"
    );
    run(db, &sql).await
}

async fn key_has_exactly_one_owner(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    fill(&db).await?;
    for (id, user, agent) in [("none", "NULL", "NULL"), ("both", "'u1'", "'a1'")] {
        let refused = add_key(&db, id, user, agent).await.err().context("a key must have exactly one owner")?.to_string();
        assert!(refused.contains("api_key_one_owner"), "the constraint is named: {refused}");
    }
    add_key(&db, "users", "'u1'", "NULL").await?;
    add_key(&db, "agents", "NULL", "'a1'").await?;
    Ok(())
}

async fn membership_has_exactly_one_member(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    fill(&db).await?;
    for sql in [
        "INSERT INTO group_member (id, group_id) VALUES ('x', 'g1')",
        "INSERT INTO group_member (id, group_id, user_id, agent_id) VALUES ('x', 'g1', 'u1', 'a1')",
        "INSERT INTO team_member (id, team_id) VALUES ('x', 't1')",
        "INSERT INTO team_member (id, team_id, user_id, agent_id) VALUES ('x', 't1', 'u1', 'a1')",
    ] {
        let refused = run(&db, sql).await.err().context(sql)?.to_string();
        assert!(refused.contains("_member_one"), "the constraint is named: {refused}");
    }
    Ok(())
}

async fn names_and_secrets_are_unique(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    fill(&db).await?;
    for sql in [
        "INSERT INTO team (id, organisation_id, name, created_at) VALUES ('x', 'o1', 't', 1)",
        "INSERT INTO role (id, name, created_at) VALUES ('x', 'r', 1)",
        "INSERT INTO users (id, email, name, status, source, created_at, updated_at) VALUES ('x', 'u@x', 'u', 'active', 'api', 1, 1)",
        "INSERT INTO agent (id, name, status, source, created_at, updated_at) VALUES ('x', 'a', 'active', 'api', 1, 1)",
        "INSERT INTO groups (id, name, created_at) VALUES ('x', 'g', 1)",
        "INSERT INTO group_member (id, group_id, user_id) VALUES ('x', 'g1', 'u1')",
        "INSERT INTO api_key (id, name, secret_hash, last_four, user_id, status, content_logging, source, created_by, created_at, updated_at)
         VALUES ('x', 'k', 'hash', 'last', 'u1', 'active', 'inherit', 'api', 'test', 1, 1)",
        "INSERT INTO provider (id, name, kind, base_url, settings, enabled, source, created_at, updated_at)
         VALUES ('x', 'v', 'openai', 'http://x', '{}', TRUE, 'api', 1, 1)",
        "INSERT INTO provider_key (id, provider_id, position, secret_sealed, last_four, status, created_at, updated_at)
         VALUES ('x', 'v1', 0, 'sealed', 'last', 'active', 1, 1)",
        "INSERT INTO model (id, name, capabilities, enabled, source, position, created_at, updated_at)
         VALUES ('x', 'm', '{}', TRUE, 'api', 0, 1, 1)",
        "INSERT INTO model_alias (id, model_id, alias) VALUES ('x', 'm1', 'default')",
    ] {
        let refused = run(&db, sql).await.err().context(sql)?;
        assert!(matches!(refused.sql_err(), Some(SqlErr::UniqueConstraintViolation(_))), "{sql}: {refused}");
    }
    Ok(())
}

async fn keys_without_public_id_live_side_by_side(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    fill(&db).await?;
    add_key(&db, "x", "'u1'", "NULL").await?;
    assert_eq!(number(&db, "SELECT count(*) FROM api_key WHERE public_id IS NULL", vec![]).await?, 2);
    run(&db, "UPDATE api_key SET public_id = 'p' WHERE id = 'k1'").await?;
    let refused = run(&db, "UPDATE api_key SET public_id = 'p' WHERE id = 'x'").await.err().context("a public id is unique")?;
    assert!(matches!(refused.sql_err(), Some(SqlErr::UniqueConstraintViolation(_))), "{refused}");
    Ok(())
}

async fn deleting_what_is_still_used_is_refused(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    fill(&db).await?;
    for table in ["organisation", "team", "role", "users", "provider"] {
        let refused = run(&db, &format!("DELETE FROM {table}")).await.err().context(table)?;
        assert!(matches!(refused.sql_err(), Some(SqlErr::ForeignKeyConstraintViolation(_))), "{table}: {refused}");
    }
    Ok(())
}

async fn children_go_with_their_parents(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    fill(&db).await?;
    run(&db, "INSERT INTO api_key_use (api_key_id, last_used_at) VALUES ('k1', 1)").await?;
    for parent in ["model", "provider", "groups", "api_key", "users", "agent"] {
        run(&db, &format!("DELETE FROM {parent}")).await?;
    }
    for child in ["model_alias", "model_target", "model_fallback", "provider_key", "group_member", "team_member", "api_key_use"] {
        assert_eq!(number(&db, &format!("SELECT count(*) FROM {child}"), vec![]).await?, 0, "{child} went with its parent");
    }
    Ok(())
}
