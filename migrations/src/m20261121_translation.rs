//! What is done about fields that a provider of another shape has no words for: by key and by model.

use sea_orm_migration::prelude::*;

use crate::sql;

const UP: &str = "
ALTER TABLE api_key ADD COLUMN translation TEXT;
ALTER TABLE model ADD COLUMN translation TEXT;
";

const DOWN: &str = "
ALTER TABLE api_key DROP COLUMN translation;
ALTER TABLE model DROP COLUMN translation;
";

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        sql::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        sql::run(manager, DOWN).await
    }
}
