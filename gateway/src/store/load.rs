//! Reads the configuration from the database into a snapshot.
//!
//! A row that makes no sense is passed over with an error in the log that names it: one bad row must not take the rest away.

mod guardrails;
mod held;
mod keys;
mod models;
mod providers;
mod rules;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use entity::{config_revision, role};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr, EntityTrait, FromQueryResult, QueryFilter, QueryTrait, Select,
};
use svc_entity as entity;
use svc_filters::auth::{KeyTable, Pepper};
use svc_filters::limits::{Cap, Caps};
use svc_filters::policy::Policy;
use svc_filters::routing::ModelTableError;
use svc_filters::translate;

use super::seal::Sealer;
use super::snapshot::Snapshot;
use super::transaction::begin_read;
use crate::conf::Conf;

/// Why no snapshot could be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The database failed.
    #[error("read the configuration from the database: {0}")]
    Database(#[from] DbErr),
    /// The models contradict each other.
    #[error("read the configuration from the database: {0}")]
    Models(#[from] ModelTableError),
    /// A rule makes no sense.
    #[error("read the rule `{name}` from the database: {reason}")]
    Rule {
        /// The rule.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A guardrail makes no sense.
    #[error("read the guardrail `{name}` from the database: {reason}")]
    Guardrail {
        /// The guardrail.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The guardrails are too much together.
    #[error("read the guardrails from the database: {0}")]
    Guardrails(String),
}

/// Reads everything at one moment. Providers that did not change are taken over from `previous`, and with them their
/// connections and the state of their credentials.
///
/// # Errors
/// When the database is away.
pub async fn load(
    db: &DatabaseConnection,
    conf: &Conf,
    pepper: &Pepper,
    sealer: &Sealer,
    previous: Option<&Snapshot>,
) -> Result<Snapshot, LoadError> {
    let transaction = begin_read(db).await?;
    let snapshot = read(&transaction, conf, pepper, sealer, previous).await;
    transaction.rollback().await?;
    snapshot
}

async fn read(
    transaction: &DatabaseTransaction,
    conf: &Conf,
    pepper: &Pepper,
    sealer: &Sealer,
    previous: Option<&Snapshot>,
) -> Result<Snapshot, LoadError> {
    let revision = revision(transaction).await?;
    let keys = keys::read(transaction).await?;
    let caps = caps(transaction, conf).await?;
    let (providers, by_id, fingerprints) = providers::read(transaction, conf, sealer, previous).await?;
    let (models, timeouts) = models::read(transaction, &by_id).await?;
    let held = held::read(transaction, &by_id).await?;
    let rules = rules::read(transaction, &models).await?;
    let guardrails = guardrails::read(transaction).await?;
    let policy = Policy { keys: KeyTable::new(pepper.clone(), keys), models, caps, rules, guardrails };
    Ok(Snapshot { revision, loaded: Instant::now(), policy, timeouts, held, providers, fingerprints })
}

/// The revision of the configuration.
pub(super) async fn revision(db: &impl ConnectionTrait) -> Result<i64, DbErr> {
    let row = config_revision::Entity::find_by_id(config_revision::ROW_ID).one(db).await?;
    Ok(row.map_or(0, |row| row.revision))
}

async fn caps(transaction: &DatabaseTransaction, conf: &Conf) -> Result<Caps, DbErr> {
    let rows = rows::<role::Entity>(transaction, role::Entity::find(), "role").await?;
    let roles: HashMap<Arc<str>, Cap> = rows
        .into_iter()
        .map(|row| {
            let cap = Cap { rpm: cap(row.rpm_limit), tpm: token_cap(row.tpm_limit), parallel: cap(row.max_parallel) };
            (Arc::from(row.id), cap)
        })
        .filter(|(_, cap)| !cap.is_none())
        .collect();
    let limits = &conf.limits;
    let global = Cap { rpm: limits.global_rpm, tpm: limits.global_tpm, parallel: limits.global_max_parallel };
    Ok(Caps { global, roles })
}

/// A cap as the filters hold it.
fn cap(limit: Option<i64>) -> Option<u32> {
    limit.map(|limit| u32::try_from(limit.max(0)).unwrap_or(u32::MAX))
}

/// A cap on tokens as the filters hold it.
fn token_cap(limit: Option<i64>) -> Option<u64> {
    limit.map(|limit| u64::try_from(limit).unwrap_or(0))
}

/// The translation policy as the filters know it.
const fn policy(policy: entity::Translation) -> translate::Policy {
    match policy {
        entity::Translation::Lossy => translate::Policy::Lossy,
        entity::Translation::Safe => translate::Policy::Safe,
        entity::Translation::Strict => translate::Policy::Strict,
    }
}

/// The rows of a query that can be read; the others are named in the log.
async fn rows<E: EntityTrait>(transaction: &DatabaseTransaction, query: Select<E>, table: &str) -> Result<Vec<E::Model>, DbErr>
where
    E::Model: FromQueryResult,
    Select<E>: QueryFilter + QueryTrait,
{
    let found = transaction.query_all_raw(query.build(transaction.get_database_backend())).await?;
    let mut rows = Vec::with_capacity(found.len());
    for result in found {
        match E::Model::from_query_result(&result, "") {
            Ok(row) => rows.push(row),
            Err(error) => {
                let id: String = result.try_get("", "id").unwrap_or_default();
                log::error!("the row `{id}` of the table {table} is passed over: {error}");
            }
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests;
