//! Guardrails.

use sea_orm_migration::prelude::*;

use crate::{m20261121_revision, sql};

const UP: &str = "
CREATE TABLE guardrail (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    spec TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    source TEXT NOT NULL,
    position INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
";

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        sql::run(manager, UP).await?;
        m20261121_revision::watch(manager, &["guardrail"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        sql::drop_tables(manager, &["guardrail"]).await
    }
}
