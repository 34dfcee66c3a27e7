//! The audit: who changed what. Each row's hash covers the row and the hash before it, so that a changed or missing row shows.

use std::fmt::Write;

use entity::audit;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr, EntityTrait, NotSet, QueryFilter,
    QueryOrder, QuerySelect, Set,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use svc_entity as entity;

/// Rows read at a time when the chain is verified.
const PAGE: u64 = 1000;

/// One change, as its audit row tells it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a> {
    /// Who did it.
    pub(crate) actor: &'a str,
    /// What was done, such as `create`.
    pub(crate) action: &'a str,
    /// Kind of the thing, such as `key`.
    pub(crate) resource_kind: &'a str,
    /// Its id.
    pub(crate) resource_id: &'a str,
    /// A JSON object without secrets.
    pub(crate) detail: &'a Value,
}

/// Why the audit is not what was written.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The database failed.
    #[error("read the audit: {0}")]
    Database(#[from] DbErr),
    /// A row was changed, or one before it is missing.
    #[error("verify the audit: row {id} does not continue the chain")]
    Broken {
        /// The first row that does not fit.
        id: i64,
    },
}

/// Appends a row to the chain, inside the transaction of the change itself, which must have been begun as a writer's.
pub(crate) async fn append(transaction: &DatabaseTransaction, now: i64, change: &Change<'_>) -> Result<(), DbErr> {
    let last = audit::Entity::find().order_by_desc(audit::Column::Id).one(transaction).await?;
    let previous_hash = last.map(|row| row.hash).unwrap_or_default();
    let detail = change.detail.to_string();
    let hash = hash(&previous_hash, now, change, &detail);
    let row = audit::ActiveModel {
        id: NotSet,
        at: Set(now),
        actor: Set(change.actor.to_owned()),
        action: Set(change.action.to_owned()),
        resource_kind: Set(change.resource_kind.to_owned()),
        resource_id: Set(change.resource_id.to_owned()),
        detail: Set(detail),
        previous_hash: Set(previous_hash),
        hash: Set(hash),
    };
    row.insert(transaction).await.map(|_| ())
}

/// Recomputes the chain and returns the number of its rows. Rows cut off at the end cannot be noticed from the chain alone;
/// compare the last hash with one kept elsewhere.
///
/// # Errors
/// At the first row that does not fit.
pub async fn verify(db: &DatabaseConnection) -> Result<u64, AuditError> {
    verify_on(db).await
}

async fn verify_on(db: &impl ConnectionTrait) -> Result<u64, AuditError> {
    let (mut after, mut previous, mut count) = (i64::MIN, String::new(), 0);
    loop {
        let page = audit::Entity::find().filter(audit::Column::Id.gt(after)).order_by_asc(audit::Column::Id).limit(PAGE).all(db).await?;
        if page.is_empty() {
            return Ok(count);
        }
        for row in page {
            let detail = Value::Null;
            let change = Change {
                actor: &row.actor,
                action: &row.action,
                resource_kind: &row.resource_kind,
                resource_id: &row.resource_id,
                detail: &detail,
            };
            if row.previous_hash != previous || row.hash != hash(&previous, row.at, &change, &row.detail) {
                return Err(AuditError::Broken { id: row.id });
            }
            (after, previous) = (row.id, row.hash);
            count += 1;
        }
    }
}

/// SHA-256, in hexadecimal digits, of the previous hash, a line feed, and the row as JSON with these members in this order.
fn hash(previous: &str, at: i64, change: &Change<'_>, detail: &str) -> String {
    let row = json!({
        "at": at,
        "actor": change.actor,
        "action": change.action,
        "resource_kind": change.resource_kind,
        "resource_id": change.resource_id,
        "detail": detail,
    });
    let digest = Sha256::digest(format!("{previous}\n{row}"));
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::{Db, databases};
    use crate::store::transaction::begin_write;

    async fn write(db: &DatabaseConnection, id: &str) {
        let transaction = begin_write(db).await.unwrap();
        let detail = json!({"name": format!("key {id}")});
        let change = Change { actor: "admin", action: "create", resource_kind: "key", resource_id: id, detail: &detail };
        append(&transaction, 1_700_000_000_000, &change).await.unwrap();
        transaction.commit().await.unwrap();
    }

    #[tokio::test]
    async fn an_edited_row_and_a_missing_row_break_the_chain() {
        for Db { db, _folder, .. } in databases().await {
            for id in ["a", "b", "c", "d"] {
                write(&db, id).await;
            }
            assert_eq!(verify(&db).await.unwrap(), 4);
            db.execute_unprepared("UPDATE audit SET detail = '{}' WHERE resource_id = 'b'").await.unwrap();
            let edited = verify(&db).await.unwrap_err();
            assert!(matches!(edited, AuditError::Broken { .. }), "{edited}");
            db.execute_unprepared("DELETE FROM audit WHERE resource_id = 'b'").await.unwrap();
            assert!(verify(&db).await.is_err(), "the row after the missing one names another hash");
        }
    }

    #[tokio::test]
    async fn writers_at_the_same_time_make_one_chain() {
        for Db { db, _folder, .. } in databases().await {
            let writers: Vec<_> = (0..8)
                .map(|number| {
                    let db = db.clone();
                    tokio::spawn(async move { write(&db, &number.to_string()).await })
                })
                .collect();
            for writer in writers {
                writer.await.unwrap();
            }
            assert_eq!(verify(&db).await.unwrap(), 8);
        }
    }
}
