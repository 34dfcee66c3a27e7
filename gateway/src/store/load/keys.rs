//! Keys with the owners and roles behind them.

use std::collections::HashMap;
use std::sync::Arc;

use entity::{AccountStatus, agent, api_key, user};
use sea_orm::{DatabaseTransaction, DbErr, EntityTrait};
use svc_entity as entity;
use svc_filters::auth::{Caller, Key, KeyStatus, Owner, SecretHash};

use super::{cap, rows, token_cap};

/// What a key takes from its owner.
struct Account {
    active: bool,
    role: Option<Arc<str>>,
}

pub(super) async fn read(transaction: &DatabaseTransaction) -> Result<Vec<Key>, DbErr> {
    let users = rows::<user::Entity>(transaction, user::Entity::find(), "users").await?;
    let agents = rows::<agent::Entity>(transaction, agent::Entity::find(), "agent").await?;
    let mut accounts: HashMap<String, Account> = HashMap::with_capacity(users.len() + agents.len());
    for row in users {
        accounts.insert(row.id, Account { active: row.status == AccountStatus::Active, role: row.role_id.map(Arc::from) });
    }
    for row in agents {
        accounts.insert(row.id, Account { active: row.status == AccountStatus::Active, role: None });
    }
    let keys = rows::<api_key::Entity>(transaction, api_key::Entity::find(), "api_key").await?;
    Ok(keys.into_iter().filter_map(|row| named(row, &accounts)).collect())
}

fn named(row: api_key::Model, accounts: &HashMap<String, Account>) -> Option<Key> {
    let id = row.id.clone();
    match key(row, accounts) {
        Ok(key) => Some(key),
        Err(reason) => {
            log::error!("the row `{id}` of the table api_key is passed over: {reason}");
            None
        }
    }
}

fn key(row: api_key::Model, accounts: &HashMap<String, Account>) -> Result<Key, &'static str> {
    let owner = match (row.user_id, row.agent_id) {
        (Some(user), None) => Owner::User(user.into()),
        (None, Some(agent)) => Owner::Agent(agent.into()),
        _ => return Err("it belongs to no one user or agent"),
    };
    let (Owner::User(owner_id) | Owner::Agent(owner_id)) = &owner;
    let account = accounts.get(&**owner_id).ok_or("its owner is missing")?;
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
        caller: Caller { tags: row.tags.as_deref().map(Caller::tags_of).unwrap_or_default(), ..Caller::default() },
        tags: row.tags.map(Arc::from),
        translation: row.translation.map(super::policy),
    })
}
