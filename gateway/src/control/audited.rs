//! Changes as the audit tells them.

use sea_orm::DatabaseTransaction;
use serde_json::{Map, Value, json};

use super::problem::Problem;
use crate::store::{Change, append_audit};

/// Who the audit names for changes made with the admin secret.
pub(super) const ACTOR: &str = "admin";

/// What a change was made to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resource<'a> {
    pub(super) kind: &'a str,
    pub(super) id: &'a str,
}

/// Appends a change to the audit and commits it.
pub(super) async fn commit(
    transaction: DatabaseTransaction,
    now: i64,
    action: &str,
    resource: Resource<'_>,
    detail: &Value,
) -> Result<(), Problem> {
    let change = Change { actor: ACTOR, action, resource_kind: resource.kind, resource_id: resource.id, detail };
    append_audit(&transaction, now, &change).await?;
    transaction.commit().await?;
    Ok(())
}

/// The members that differ, as they were and as they are.
pub(super) fn difference(before: &Value, after: &Value) -> Value {
    let (Value::Object(before), Value::Object(after)) = (before, after) else { return Value::Null };
    let differs = |name: &&String| *name != "updated_at" && before.get(*name) != after.get(*name);
    let changed = after.keys().filter(differs).map(|name| {
        let value = |object: &Map<String, Value>| object.get(name).cloned().unwrap_or_default();
        (name.clone(), json!({"from": value(before), "to": value(after)}))
    });
    Value::Object(changed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_told() {
        let before = json!({"name": "a", "status": "active", "updated_at": 1});
        let after = json!({"name": "a", "status": "disabled", "updated_at": 2});
        assert_eq!(difference(&before, &after), json!({"status": {"from": "active", "to": "disabled"}}));
    }
}
