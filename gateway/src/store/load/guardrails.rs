//! Guardrails that are switched on.

use std::sync::Arc;

use entity::guardrail;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder};
use svc_entity as entity;
use svc_filters::guardrails::{Guardrail, GuardrailSpec, Guardrails};

use super::{LoadError, rows};

/// Reads the guardrails that look with a pattern. One that makes no sense ends the reading: without it what it forbids might pass.
pub(super) async fn read(transaction: &DatabaseTransaction) -> Result<Guardrails, LoadError> {
    let query = guardrail::Entity::find()
        .filter(guardrail::Column::Enabled.eq(true))
        .order_by_asc(guardrail::Column::Position)
        .order_by_asc(guardrail::Column::Id);
    let found = rows::<guardrail::Entity>(transaction, query, "guardrail").await?;
    let mut all = Vec::with_capacity(found.len());
    for row in &found {
        all.extend(guardrail(row)?);
    }
    Guardrails::new(all).map_err(|error| LoadError::Guardrails(error.to_string()))
}

fn guardrail(row: &guardrail::Model) -> Result<Option<Guardrail>, LoadError> {
    let wrong = |reason: String| LoadError::Guardrail { name: row.name.clone(), reason };
    let spec: GuardrailSpec = serde_json::from_str(&row.spec).map_err(|error| wrong(error.to_string()))?;
    if spec.kind.needs_model() {
        return Ok(None);
    }
    let rule = spec.rule().map_err(|error| wrong(error.to_string()))?;
    Ok(Some(Guardrail { rule: Arc::new(rule), scope: spec.scope }))
}
