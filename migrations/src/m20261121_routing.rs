//! Where requests go: providers with their keys, models with their aliases, targets and fallbacks; and settings.

use sea_orm_migration::prelude::*;

use crate::sql;

const PROVIDERS: &str = "
CREATE TABLE provider (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    base_url TEXT NOT NULL,
    region TEXT,
    settings TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    source TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE TABLE provider_key (
    id TEXT NOT NULL PRIMARY KEY,
    provider_id TEXT NOT NULL REFERENCES provider (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name TEXT,
    secret_sealed TEXT NOT NULL,
    last_four TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (provider_id, position)
);
";

const MODELS: &str = "
CREATE TABLE model (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    affinity BOOLEAN NOT NULL DEFAULT TRUE,
    capabilities TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    source TEXT NOT NULL,
    position INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE TABLE model_alias (
    id TEXT NOT NULL PRIMARY KEY,
    model_id TEXT NOT NULL REFERENCES model (id) ON DELETE CASCADE,
    alias TEXT NOT NULL UNIQUE
);
CREATE INDEX model_alias_model ON model_alias (model_id);
CREATE TABLE model_target (
    id TEXT NOT NULL PRIMARY KEY,
    model_id TEXT NOT NULL REFERENCES model (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    provider_id TEXT NOT NULL REFERENCES provider (id),
    upstream_model TEXT NOT NULL,
    priority INTEGER NOT NULL,
    weight INTEGER NOT NULL,
    region TEXT
);
CREATE INDEX model_target_model ON model_target (model_id, position);
CREATE INDEX model_target_provider ON model_target (provider_id);
CREATE TABLE model_fallback (
    id TEXT NOT NULL PRIMARY KEY,
    model_id TEXT NOT NULL REFERENCES model (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    fallback_model TEXT NOT NULL
);
CREATE INDEX model_fallback_model ON model_fallback (model_id, position);
";

const SETTINGS: &str = "
CREATE TABLE setting (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);
";

/// Children before what they refer to.
const TABLES: [&str; 7] = ["setting", "model_fallback", "model_target", "model_alias", "model", "provider_key", "provider"];

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        sql::run(manager, PROVIDERS).await?;
        sql::run(manager, MODELS).await?;
        sql::run(manager, SETTINGS).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        sql::drop_tables(manager, &TABLES).await
    }
}
