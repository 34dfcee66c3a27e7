//! The configuration revision: one number that the database itself raises with every change of configuration, so that no
//! writer can forget to. A gateway that sees it grow reads the configuration again; on PostgreSQL it is told at once.

use sea_orm_migration::prelude::*;

use crate::sql;

/// Tables a gateway builds its configuration from. Using a key and logging a request are no changes of configuration.
const WATCHED: [&str; 17] = [
    "organisation",
    "team",
    "application",
    "role",
    "users",
    "agent",
    "groups",
    "group_member",
    "team_member",
    "api_key",
    "provider",
    "provider_key",
    "model",
    "model_alias",
    "model_target",
    "model_fallback",
    "setting",
];

const REVISION: &str = "
CREATE TABLE config_revision (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    revision BIGINT NOT NULL
);
INSERT INTO config_revision (id, revision) VALUES (1, 0);
";

/// Notifications reach listeners when the transaction commits, and equal ones of a transaction only once.
const POSTGRES_FUNCTION: &str = "
CREATE FUNCTION raise_config_revision() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    raised BIGINT;
BEGIN
    UPDATE config_revision SET revision = revision + 1 WHERE id = 1 RETURNING revision INTO raised;
    PERFORM pg_notify('svc_config', raised::text);
    RETURN NULL;
END
$$;
";

const POSTGRES_TRIGGER: &str = "
CREATE TRIGGER {table}_config_revision AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION raise_config_revision();
";

const SQLITE_TRIGGER: &str = "
CREATE TRIGGER {table}_config_revision_insert AFTER INSERT ON {table}
FOR EACH ROW BEGIN UPDATE config_revision SET revision = revision + 1 WHERE id = 1; END;
CREATE TRIGGER {table}_config_revision_update AFTER UPDATE ON {table}
FOR EACH ROW BEGIN UPDATE config_revision SET revision = revision + 1 WHERE id = 1; END;
CREATE TRIGGER {table}_config_revision_delete AFTER DELETE ON {table}
FOR EACH ROW BEGIN UPDATE config_revision SET revision = revision + 1 WHERE id = 1; END;
";

const POSTGRES_DROP: &str = "DROP TRIGGER {table}_config_revision ON {table};";

const SQLITE_DROP: &str = "
DROP TRIGGER {table}_config_revision_insert;
DROP TRIGGER {table}_config_revision_update;
DROP TRIGGER {table}_config_revision_delete;
";

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        sql::run(manager, REVISION).await?;
        if sql::is_postgres(manager) {
            sql::run(manager, POSTGRES_FUNCTION).await?;
        }
        watch(manager, &WATCHED).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if sql::is_postgres(manager) {
            for_each_watched(manager, POSTGRES_DROP).await?;
            sql::run(manager, "DROP FUNCTION raise_config_revision()").await?;
        } else {
            for_each_watched(manager, SQLITE_DROP).await?;
        }
        sql::drop_tables(manager, &["config_revision"]).await
    }
}

/// Lets every change of these tables raise the revision.
pub(crate) async fn watch(manager: &SchemaManager<'_>, tables: &[&str]) -> Result<(), DbErr> {
    let template = if sql::is_postgres(manager) { POSTGRES_TRIGGER } else { SQLITE_TRIGGER };
    for table in tables {
        sql::run(manager, &template.replace("{table}", table)).await?;
    }
    Ok(())
}

async fn for_each_watched(manager: &SchemaManager<'_>, template: &str) -> Result<(), DbErr> {
    for table in WATCHED {
        sql::run(manager, &template.replace("{table}", table)).await?;
    }
    Ok(())
}
