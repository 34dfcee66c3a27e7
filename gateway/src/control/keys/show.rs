//! A key as the answers show it: never its secret or a hash of it.

use entity::api_key;
use serde_json::{Value, json};
use svc_entity as entity;

use crate::control::list::moment;
use crate::control::problem::object;

pub(super) fn show(row: &api_key::Model, last_used_at: Option<i64>) -> Value {
    let parsed = |text: &Option<String>| text.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    object([
        ("id", row.id.as_str().into()),
        ("name", row.name.as_str().into()),
        ("owner", owner(row)),
        ("team", row.team_id.clone().into()),
        ("application", row.application_id.clone().into()),
        ("role", row.role_id.clone().into()),
        ("allowed_models", parsed(&row.allowed_models).unwrap_or_default()),
        ("rpm_limit", row.rpm_limit.into()),
        ("tpm_limit", row.tpm_limit.into()),
        ("max_parallel", row.max_parallel.into()),
        ("expires_at", moment(row.expires_at)),
        ("status", serde_json::to_value(row.status).unwrap_or_default()),
        ("tags", parsed(&row.tags).unwrap_or_else(|| json!({}))),
        ("content_logging", serde_json::to_value(row.content_logging).unwrap_or_default()),
        ("translation", serde_json::to_value(row.translation).unwrap_or_default()),
        ("source", serde_json::to_value(row.source).unwrap_or_default()),
        ("public_id", row.public_id.clone().into()),
        ("last_four", row.last_four.as_str().into()),
        ("previous_valid_until", moment(row.previous_valid_until)),
        ("created_by", row.created_by.as_str().into()),
        ("created_at", moment(row.created_at)),
        ("updated_at", moment(row.updated_at)),
        ("last_used_at", moment(last_used_at)),
    ])
}

fn owner(row: &api_key::Model) -> Value {
    match (&row.user_id, &row.agent_id) {
        (Some(user), _) => json!({ "user": user }),
        (None, agent) => json!({ "agent": agent }),
    }
}
