//! Other rows that a body names, by id or by the name people use.

use entity::{agent, application, role, team, user};
use sea_orm::{ColumnTrait, Condition, DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect};
use svc_entity as entity;

use super::problem::Problem;

/// User id and agent id of an owner, one of which is set. Nothing is made: an owner must exist.
pub(super) async fn owner(transaction: &DatabaseTransaction, kind: &str, name: &str) -> Result<(Option<String>, Option<String>), Problem> {
    if kind == "user" {
        let named = Condition::any().add(user::Column::Id.eq(name)).add(user::Column::Email.eq(name.to_lowercase()));
        let row = user::Entity::find().filter(named).one(transaction).await?;
        let row = row.ok_or_else(|| Problem::field("owner.user", "names no user; create the user first"))?;
        return Ok((Some(row.id), None));
    }
    let named = Condition::any().add(agent::Column::Id.eq(name)).add(agent::Column::Name.eq(name));
    let row = agent::Entity::find().filter(named).one(transaction).await?;
    let row = row.ok_or_else(|| Problem::field("owner.agent", "names no agent; create the agent first"))?;
    Ok((None, Some(row.id)))
}

/// The id of a role.
pub(super) async fn role(transaction: &DatabaseTransaction, name: &str) -> Result<String, Problem> {
    let named = Condition::any().add(role::Column::Id.eq(name)).add(role::Column::Name.eq(name));
    let row = role::Entity::find().filter(named).one(transaction).await?;
    row.map(|row| row.id).ok_or_else(|| Problem::field("role", "names no role"))
}

/// The id of a team.
pub(super) async fn team(transaction: &DatabaseTransaction, name: &str) -> Result<String, Problem> {
    let named = Condition::any().add(team::Column::Id.eq(name)).add(team::Column::Name.eq(name));
    let rows = team::Entity::find().filter(named).limit(2).all(transaction).await?;
    only(rows.into_iter().map(|row| row.id).collect(), "team")
}

/// The id of an application, of the team where one is given.
pub(super) async fn application(transaction: &DatabaseTransaction, name: &str, team: Option<&str>) -> Result<String, Problem> {
    let named = Condition::any().add(application::Column::Id.eq(name)).add(application::Column::Name.eq(name));
    let mut query = application::Entity::find().filter(named);
    if let Some(team) = team {
        query = query.filter(application::Column::TeamId.eq(team));
    }
    let rows = query.limit(2).all(transaction).await?;
    only(rows.into_iter().map(|row| row.id).collect(), "application")
}

fn only(mut ids: Vec<String>, what: &str) -> Result<String, Problem> {
    match (ids.pop(), ids.is_empty()) {
        (Some(id), true) => Ok(id),
        (Some(_), false) => Err(Problem::field(what, format!("names more than one {what}; give its id"))),
        (None, _) => Err(Problem::field(what, format!("names no {what}"))),
    }
}
