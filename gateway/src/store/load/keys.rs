//! Keys with the owners and roles behind them.

use std::collections::HashMap;
use std::sync::Arc;

use entity::{AccountStatus, agent, api_key, application, group, group_member, team, user};
use sea_orm::{DatabaseTransaction, DbErr, EntityTrait};
use svc_entity as entity;
use svc_filters::auth::{Caller, Key, KeyStatus, Owner, SecretHash};
use svc_filters::routing::rules;

use super::{cap, rows, token_cap};

/// What a key takes from its owner.
struct Account {
    active: bool,
    role: Option<Arc<str>>,
    owner: rules::Owner,
    groups: Vec<Arc<str>>,
}

/// Whoever keys may name, by id.
struct People {
    accounts: HashMap<String, Account>,
    teams: HashMap<String, Arc<str>>,
    applications: HashMap<String, Arc<str>>,
}

pub(super) async fn read(transaction: &DatabaseTransaction) -> Result<Vec<Key>, DbErr> {
    let people = people(transaction).await?;
    let keys = rows::<api_key::Entity>(transaction, api_key::Entity::find(), "api_key").await?;
    Ok(keys.into_iter().filter_map(|row| named(row, &people)).collect())
}

async fn people(transaction: &DatabaseTransaction) -> Result<People, DbErr> {
    let users = rows::<user::Entity>(transaction, user::Entity::find(), "users").await?;
    let agents = rows::<agent::Entity>(transaction, agent::Entity::find(), "agent").await?;
    let mut groups = memberships(transaction).await?;
    let mut groups_of = |id: &str| groups.remove(id).unwrap_or_default();
    let mut accounts: HashMap<String, Account> = HashMap::with_capacity(users.len() + agents.len());
    for row in users {
        let (active, groups) = (row.status == AccountStatus::Active, groups_of(&row.id));
        accounts.insert(row.id, Account { active, role: row.role_id.map(Arc::from), owner: rules::Owner::User(row.email), groups });
    }
    for row in agents {
        let (active, groups) = (row.status == AccountStatus::Active, groups_of(&row.id));
        accounts.insert(row.id, Account { active, role: None, owner: rules::Owner::Agent(row.name), groups });
    }
    let teams = rows::<team::Entity>(transaction, team::Entity::find(), "team").await?;
    let applications = rows::<application::Entity>(transaction, application::Entity::find(), "application").await?;
    Ok(People {
        accounts,
        teams: teams.into_iter().map(|row| (row.id, row.name.into())).collect(),
        applications: applications.into_iter().map(|row| (row.id, row.name.into())).collect(),
    })
}

/// Names of the groups each user and agent is in, by id.
async fn memberships(transaction: &DatabaseTransaction) -> Result<HashMap<String, Vec<Arc<str>>>, DbErr> {
    let found = rows::<group::Entity>(transaction, group::Entity::find(), "groups").await?;
    let names: HashMap<String, Arc<str>> = found.into_iter().map(|row| (row.id, row.name.into())).collect();
    let mut groups: HashMap<String, Vec<Arc<str>>> = HashMap::new();
    for row in rows::<group_member::Entity>(transaction, group_member::Entity::find(), "group_member").await? {
        let member = row.user_id.or(row.agent_id);
        if let (Some(member), Some(name)) = (member, names.get(&row.group_id)) {
            groups.entry(member).or_default().push(name.clone());
        }
    }
    Ok(groups)
}

fn named(row: api_key::Model, people: &People) -> Option<Key> {
    let id = row.id.clone();
    match key(row, people) {
        Ok(key) => Some(key),
        Err(reason) => {
            log::error!("the row `{id}` of the table api_key is passed over: {reason}");
            None
        }
    }
}

fn key(row: api_key::Model, people: &People) -> Result<Key, &'static str> {
    let owner = match (row.user_id, row.agent_id) {
        (Some(user), None) => Owner::User(user.into()),
        (None, Some(agent)) => Owner::Agent(agent.into()),
        _ => return Err("it belongs to no one user or agent"),
    };
    let (Owner::User(owner_id) | Owner::Agent(owner_id)) = &owner;
    let account = people.accounts.get(&**owner_id).ok_or("its owner is missing")?;
    let secret = SecretHash::from_hex(&row.secret_hash).ok_or("its secret_hash is malformed")?;
    let previous = row.previous_secret_hash.as_deref().zip(row.previous_valid_until);
    let allowed_models = match row.allowed_models.as_deref() {
        None => None,
        Some(text) => Some(serde_json::from_str::<Vec<Arc<str>>>(text).map_err(|_| "its allowed_models is no list of names")?),
    };
    let status = match row.status {
        entity::KeyStatus::Revoked => KeyStatus::Revoked,
        entity::KeyStatus::Active if account.active => KeyStatus::Active,
        entity::KeyStatus::Active | entity::KeyStatus::Disabled => KeyStatus::Disabled,
    };
    let caller = Caller {
        owner: Some(account.owner.clone()),
        team: row.team_id.as_ref().and_then(|id| people.teams.get(id).cloned()),
        application: row.application_id.as_ref().and_then(|id| people.applications.get(id).cloned()),
        groups: account.groups.clone(),
        tags: row.tags.as_deref().map(Caller::tags_of).unwrap_or_default(),
    };
    Ok(Key {
        id: row.id.into(),
        name: row.name.into(),
        public_id: row.public_id.map(Arc::from),
        secret,
        previous_secret: previous.and_then(|(hash, until)| Some((SecretHash::from_hex(hash)?, until))),
        role: row.role_id.map(Arc::from).or_else(|| account.role.clone()),
        owner,
        team: row.team_id.map(Arc::from),
        application: row.application_id.map(Arc::from),
        allowed_models,
        rpm_limit: cap(row.rpm_limit),
        tpm_limit: token_cap(row.tpm_limit),
        max_parallel: cap(row.max_parallel),
        expires_at: row.expires_at,
        status,
        caller,
        tags: row.tags.map(Arc::from),
        translation: row.translation.map(super::policy),
    })
}
