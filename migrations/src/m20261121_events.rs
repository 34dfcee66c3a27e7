//! Events that operators are told of, until they are handed over.

use sea_orm_migration::prelude::*;

use crate::sql;

const UP: &str = "
CREATE TABLE event_outbox (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    dispatched_at BIGINT
);
CREATE INDEX event_outbox_waiting ON event_outbox (id) WHERE dispatched_at IS NULL;
";

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        sql::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        sql::drop_tables(manager, &["event_outbox"]).await
    }
}
