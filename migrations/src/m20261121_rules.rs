//! Routing rules, breakers an operator holds open or closed, and time-outs of a model's own.

use sea_orm_migration::prelude::*;

use crate::{m20261121_revision, sql};

const UP: &str = "
CREATE TABLE routing_rule (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    spec TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    source TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE TABLE breaker_override (
    id TEXT NOT NULL PRIMARY KEY,
    provider_id TEXT NOT NULL REFERENCES provider (id) ON DELETE CASCADE,
    upstream_model TEXT,
    position TEXT NOT NULL,
    reason TEXT NOT NULL,
    expires_at BIGINT,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX breaker_override_provider ON breaker_override (provider_id);
ALTER TABLE model ADD COLUMN timeouts TEXT;
";

const WATCHED: [&str; 2] = ["routing_rule", "breaker_override"];

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        sql::run(manager, UP).await?;
        m20261121_revision::watch(manager, &WATCHED).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        sql::drop_tables(manager, &["breaker_override", "routing_rule"]).await?;
        sql::run(manager, "ALTER TABLE model DROP COLUMN timeouts").await
    }
}
