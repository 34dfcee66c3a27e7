//! Brings what the configuration file declares into the database.
//!
//! The file is the authority over rows whose source is `file`: they are made, changed and taken away to match it. Where
//! nothing differs nothing is written, so that a restart is no change of configuration. Rows made over the API are never
//! touched.

mod identity;
mod keys;
mod models;
mod providers;
mod specs;

use std::path::PathBuf;

use sea_orm::{DatabaseConnection, DatabaseTransaction, DbErr};
use svc_entity as entity;
use svc_filters::auth::Pepper;

use super::audit::{self, Change};
use super::seal::{SealError, Sealer};
use super::transaction::begin_write;
use crate::clock::Clock;
use crate::conf::{self, Conf};
use crate::request_id::RequestId;

/// Why declared resources cannot be brought into the database.
#[derive(Debug, thiserror::Error)]
pub enum DeclareError {
    /// The database failed.
    #[error("write the declared resources: {0}")]
    Database(#[from] DbErr),
    /// A declared name is taken by something made over the API.
    #[error("declare the {kind} `{name}`: {taken} made over the API has {what} already")]
    Taken {
        /// What is declared.
        kind: &'static str,
        /// Its name.
        name: String,
        /// What it clashes with.
        taken: String,
        /// What both have.
        what: String,
    },
    /// A file of certificates cannot be read.
    #[error("declare the provider `{name}`: read {}: {source}", path.display())]
    Ca {
        /// The provider.
        name: String,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file with a service account cannot be read.
    #[error("read the service account of the provider `{name}` from {}: {source}", path.display())]
    ServiceAccount {
        /// The provider.
        name: String,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A credential cannot be sealed.
    #[error("declare the provider `{name}`: {source}")]
    Seal {
        /// The provider.
        name: String,
        /// The cause.
        source: SealError,
    },
}

/// The translation policy as the database has it.
const fn translation(policy: conf::Translation) -> entity::Translation {
    match policy {
        conf::Translation::Lossy => entity::Translation::Lossy,
        conf::Translation::Safe => entity::Translation::Safe,
        conf::Translation::Strict => entity::Translation::Strict,
    }
}

/// One run.
struct Declaring<'a> {
    conf: &'a Conf,
    pepper: &'a Pepper,
    sealer: &'a Sealer,
    transaction: &'a DatabaseTransaction,
    now: i64,
    changes: Vec<String>,
}

impl Declaring<'_> {
    /// An id for a new row.
    fn id(&self) -> String {
        RequestId::generate(self.now).as_str().to_owned()
    }

    /// Notes a change for the audit.
    fn changed(&mut self, what: &str, kind: &str, name: &str) {
        self.changes.push(format!("{what} {kind} {name}"));
    }

    /// The time of a change to a row last changed at `before`: always later, since it is the row's version too.
    fn later_than(&self, before: i64) -> i64 {
        self.now.max(before.saturating_add(1))
    }
}

/// Brings the declared providers, models, keys, rules and guardrails into the database, in one transaction.
///
/// A provider or model that is no longer declared is deleted; a provider that a model made over the API still uses is only
/// disabled. A key that is no longer declared is revoked.
///
/// # Errors
/// When a declared name belongs to a row made over the API, or the database fails; nothing is changed then.
pub async fn declare(db: &DatabaseConnection, conf: &Conf, pepper: &Pepper, sealer: &Sealer) -> Result<(), DeclareError> {
    let transaction = begin_write(db).await?;
    let now = Clock::default().unix_ms();
    let mut run = Declaring { conf, pepper, sealer, transaction: &transaction, now, changes: Vec::new() };
    let vanished = providers::declare(&mut run).await?;
    models::declare(&mut run).await?;
    providers::remove(&mut run, vanished).await?;
    keys::declare(&mut run).await?;
    specs::rules(&mut run).await?;
    specs::guardrails(&mut run).await?;
    let changes = run.changes;
    if changes.is_empty() {
        transaction.rollback().await?;
        return Ok(());
    }
    log::info!("the configuration file changed {} resources", changes.len());
    let detail = serde_json::json!({ "changes": changes });
    let change = Change { actor: "file", action: "declare", resource_kind: "configuration", resource_id: "file", detail: &detail };
    audit::append(&transaction, now, &change).await?;
    transaction.commit().await?;
    Ok(())
}

#[cfg(test)]
mod tests;
