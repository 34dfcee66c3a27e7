//! Declared guardrails.

use std::collections::HashMap;

use entity::{Source, guardrail};
use sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel, ModelTrait};
use svc_entity as entity;

use super::{DeclareError, Declaring};

/// Makes, changes and deletes guardrails to match the file.
pub(super) async fn declare(run: &mut Declaring<'_>) -> Result<(), DeclareError> {
    let rows = guardrail::Entity::find().all(run.transaction).await?;
    let mut by_name: HashMap<String, guardrail::Model> = rows.into_iter().map(|row| (row.name.clone(), row)).collect();
    let conf = run.conf;
    for (position, declared) in (0..).zip(&conf.guardrails) {
        let found = by_name.remove(&declared.name);
        if found.as_ref().is_some_and(|row| row.source == Source::Api) {
            return Err(DeclareError::Taken {
                kind: "guardrail",
                name: declared.name.clone(),
                taken: "a guardrail".to_owned(),
                what: "this name".to_owned(),
            });
        }
        let row = guardrail::Model {
            id: found.as_ref().map_or_else(|| run.id(), |row| row.id.clone()),
            name: declared.name.clone(),
            spec: serde_json::to_string(declared).unwrap_or_else(|_| "{}".to_owned()),
            enabled: true,
            source: Source::File,
            position,
            created_at: found.as_ref().map_or(run.now, |row| row.created_at),
            updated_at: found.as_ref().map_or(run.now, |row| row.updated_at),
        };
        write(run, found, row).await?;
    }
    for row in by_name.into_values().filter(|row| row.source == Source::File) {
        run.changed("deleted", "guardrail", &row.name);
        row.delete(run.transaction).await?;
    }
    Ok(())
}

async fn write(run: &mut Declaring<'_>, found: Option<guardrail::Model>, row: guardrail::Model) -> Result<(), DeclareError> {
    match found {
        Some(found) if found == row => {}
        Some(found) => {
            run.changed("changed", "guardrail", &row.name);
            let row = guardrail::Model { updated_at: run.later_than(found.updated_at), ..row };
            row.into_active_model().reset_all().update(run.transaction).await?;
        }
        None => {
            run.changed("created", "guardrail", &row.name);
            row.into_active_model().insert(run.transaction).await?;
        }
    }
    Ok(())
}
