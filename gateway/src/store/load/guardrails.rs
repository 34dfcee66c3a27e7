//! Guardrails that are switched on.

use std::sync::Arc;

use entity::guardrail;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder};
use svc_entity as entity;
use svc_filters::guardrails::{Guardrail, GuardrailSpec, Guardrails, ModelGuardrail, ModelRule};

use super::{LoadError, rows};

/// Reads them. One that makes no sense ends the reading: without it what it forbids might pass.
pub(super) async fn read(transaction: &DatabaseTransaction) -> Result<Guardrails, LoadError> {
    let query = guardrail::Entity::find()
        .filter(guardrail::Column::Enabled.eq(true))
        .order_by_asc(guardrail::Column::Position)
        .order_by_asc(guardrail::Column::Id);
    let found = rows::<guardrail::Entity>(transaction, query, "guardrail").await?;
    let (mut patterns, mut models) = (Vec::with_capacity(found.len()), Vec::new());
    for row in &found {
        let wrong = |reason: String| LoadError::Guardrail { name: row.name.clone(), reason };
        let spec: GuardrailSpec = serde_json::from_str(&row.spec).map_err(|error| wrong(error.to_string()))?;
        if spec.kind.needs_model() {
            if let Some(problem) = spec.problems().first() {
                return Err(wrong(problem.to_string()));
            }
            let rule = ModelRule::of(&spec).map_err(|error| wrong(error.to_string()))?;
            models.push(ModelGuardrail { rule: Arc::new(rule), scope: spec.scope });
        } else {
            let rule = spec.rule().map_err(|error| wrong(error.to_string()))?;
            patterns.push(Guardrail { rule: Arc::new(rule), scope: spec.scope });
        }
    }
    let guardrails = Guardrails::new(patterns).map_err(|error| LoadError::Guardrails(error.to_string()))?;
    Ok(guardrails.with_models(models))
}
