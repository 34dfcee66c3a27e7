//! Who may call: organisations, teams, users, agents, groups, roles and keys.

use sea_orm_migration::prelude::*;

use crate::sql;

const PEOPLE: &str = "
CREATE TABLE organisation (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE TABLE team (
    id TEXT NOT NULL PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (organisation_id, name)
);
CREATE TABLE application (
    id TEXT NOT NULL PRIMARY KEY,
    team_id TEXT NOT NULL REFERENCES team (id),
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX application_team ON application (team_id);
CREATE TABLE role (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    rpm_limit BIGINT,
    tpm_limit BIGINT,
    max_parallel BIGINT,
    created_at BIGINT NOT NULL
);
CREATE TABLE users (
    id TEXT NOT NULL PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    role_id TEXT REFERENCES role (id),
    status TEXT NOT NULL,
    source TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX users_role ON users (role_id);
CREATE TABLE agent (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    team_id TEXT REFERENCES team (id),
    status TEXT NOT NULL,
    source TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX agent_team ON agent (team_id);
";

const MEMBERSHIP: &str = "
CREATE TABLE groups (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
);
CREATE TABLE group_member (
    id TEXT NOT NULL PRIMARY KEY,
    group_id TEXT NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
    user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
    agent_id TEXT REFERENCES agent (id) ON DELETE CASCADE,
    CONSTRAINT group_member_one CHECK ((user_id IS NULL) <> (agent_id IS NULL)),
    UNIQUE (group_id, user_id),
    UNIQUE (group_id, agent_id)
);
CREATE INDEX group_member_user ON group_member (user_id);
CREATE INDEX group_member_agent ON group_member (agent_id);
CREATE TABLE team_member (
    id TEXT NOT NULL PRIMARY KEY,
    team_id TEXT NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
    agent_id TEXT REFERENCES agent (id) ON DELETE CASCADE,
    CONSTRAINT team_member_one CHECK ((user_id IS NULL) <> (agent_id IS NULL)),
    UNIQUE (team_id, user_id),
    UNIQUE (team_id, agent_id)
);
CREATE INDEX team_member_user ON team_member (user_id);
CREATE INDEX team_member_agent ON team_member (agent_id);
";

const KEYS: &str = "
CREATE TABLE api_key (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    public_id TEXT UNIQUE,
    secret_hash TEXT NOT NULL UNIQUE,
    last_four TEXT NOT NULL,
    previous_secret_hash TEXT,
    previous_valid_until BIGINT,
    user_id TEXT REFERENCES users (id),
    agent_id TEXT REFERENCES agent (id),
    team_id TEXT REFERENCES team (id),
    application_id TEXT REFERENCES application (id),
    role_id TEXT REFERENCES role (id),
    allowed_models TEXT,
    rpm_limit BIGINT,
    tpm_limit BIGINT,
    max_parallel BIGINT,
    expires_at BIGINT,
    status TEXT NOT NULL,
    tags TEXT,
    content_logging TEXT NOT NULL,
    source TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT api_key_one_owner CHECK ((user_id IS NULL) <> (agent_id IS NULL))
);
CREATE INDEX api_key_user ON api_key (user_id);
CREATE INDEX api_key_agent ON api_key (agent_id);
CREATE INDEX api_key_team ON api_key (team_id);
CREATE INDEX api_key_application ON api_key (application_id);
CREATE INDEX api_key_role ON api_key (role_id);
CREATE TABLE api_key_use (
    api_key_id TEXT NOT NULL PRIMARY KEY REFERENCES api_key (id) ON DELETE CASCADE,
    last_used_at BIGINT NOT NULL
);
";

/// Children before what they refer to.
const TABLES: [&str; 11] =
    ["api_key_use", "api_key", "team_member", "group_member", "groups", "agent", "users", "role", "application", "team", "organisation"];

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        sql::run(manager, PEOPLE).await?;
        sql::run(manager, MEMBERSHIP).await?;
        sql::run(manager, KEYS).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        sql::drop_tables(manager, &TABLES).await
    }
}
