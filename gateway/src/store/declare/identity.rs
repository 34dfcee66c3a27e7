//! The people, programs, teams, applications and roles that declared keys name: found by name, or made.

use entity::{AccountStatus, Source, agent, application, organisation, role, team, user};
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder};
use svc_entity as entity;

use super::{DeclareError, Declaring};
use crate::conf::Owner;

/// Name of the organisation, and of the team, that is made where something must belong to one and none is named.
const DEFAULT: &str = "default";

/// User id and agent id of an owner, one of which is set.
pub(super) async fn owner(run: &mut Declaring<'_>, owner: &Owner) -> Result<(Option<String>, Option<String>), DeclareError> {
    match owner {
        Owner::User(email) => user(run, email).await.map(|id| (Some(id), None)),
        Owner::Agent(name) => agent(run, name).await.map(|id| (None, Some(id))),
    }
}

async fn user(run: &mut Declaring<'_>, email: &str) -> Result<String, DeclareError> {
    let email = email.to_lowercase();
    if let Some(row) = user::Entity::find().filter(user::Column::Email.eq(&email)).one(run.transaction).await? {
        return Ok(row.id);
    }
    run.changed("created", "user", &email);
    let row = user::Model {
        id: run.id(),
        name: email.clone(),
        email,
        role_id: None,
        status: AccountStatus::Active,
        source: Source::File,
        created_at: run.now,
        updated_at: run.now,
    };
    Ok(row.into_active_model().insert(run.transaction).await?.id)
}

async fn agent(run: &mut Declaring<'_>, name: &str) -> Result<String, DeclareError> {
    if let Some(row) = agent::Entity::find().filter(agent::Column::Name.eq(name)).one(run.transaction).await? {
        return Ok(row.id);
    }
    run.changed("created", "agent", name);
    let row = agent::Model {
        id: run.id(),
        name: name.to_owned(),
        team_id: None,
        status: AccountStatus::Active,
        source: Source::File,
        created_at: run.now,
        updated_at: run.now,
    };
    Ok(row.into_active_model().insert(run.transaction).await?.id)
}

/// The role of this name.
pub(super) async fn role(run: &mut Declaring<'_>, name: &str) -> Result<String, DeclareError> {
    if let Some(row) = role::Entity::find().filter(role::Column::Name.eq(name)).one(run.transaction).await? {
        return Ok(row.id);
    }
    run.changed("created", "role", name);
    let row =
        role::Model { id: run.id(), name: name.to_owned(), rpm_limit: None, tpm_limit: None, max_parallel: None, created_at: run.now };
    Ok(row.into_active_model().insert(run.transaction).await?.id)
}

/// The team of this name: the oldest, where several organisations have one.
pub(super) async fn team(run: &mut Declaring<'_>, name: &str) -> Result<String, DeclareError> {
    let found = team::Entity::find().filter(team::Column::Name.eq(name)).order_by_asc(team::Column::Id).one(run.transaction).await?;
    if let Some(row) = found {
        return Ok(row.id);
    }
    let organisation_id = organisation(run).await?;
    run.changed("created", "team", name);
    let row = team::Model { id: run.id(), organisation_id, name: name.to_owned(), created_at: run.now };
    Ok(row.into_active_model().insert(run.transaction).await?.id)
}

/// The application of this name, in the team where one is given.
pub(super) async fn application(run: &mut Declaring<'_>, name: &str, team_id: Option<&str>) -> Result<String, DeclareError> {
    let mut query = application::Entity::find().filter(application::Column::Name.eq(name));
    if let Some(team_id) = team_id {
        query = query.filter(application::Column::TeamId.eq(team_id));
    }
    if let Some(row) = query.order_by_asc(application::Column::Id).one(run.transaction).await? {
        return Ok(row.id);
    }
    let team_id = match team_id {
        Some(team_id) => team_id.to_owned(),
        None => team(run, DEFAULT).await?,
    };
    run.changed("created", "application", name);
    let row = application::Model { id: run.id(), team_id, name: name.to_owned(), created_at: run.now };
    Ok(row.into_active_model().insert(run.transaction).await?.id)
}

/// The oldest organisation, or a new one.
async fn organisation(run: &mut Declaring<'_>) -> Result<String, DeclareError> {
    if let Some(row) = organisation::Entity::find().order_by_asc(organisation::Column::Id).one(run.transaction).await? {
        return Ok(row.id);
    }
    run.changed("created", "organisation", DEFAULT);
    let row = organisation::Model { id: run.id(), name: DEFAULT.to_owned(), created_at: run.now };
    Ok(row.into_active_model().insert(run.transaction).await?.id)
}
