//! Declared routing rules.

use std::collections::HashMap;

use entity::{Source, routing_rule};
use sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel, ModelTrait};
use svc_entity as entity;

use super::{DeclareError, Declaring};

/// Makes, changes and deletes rules to match the file.
pub(super) async fn declare(run: &mut Declaring<'_>) -> Result<(), DeclareError> {
    let rows = routing_rule::Entity::find().all(run.transaction).await?;
    let mut by_name: HashMap<String, routing_rule::Model> = rows.into_iter().map(|row| (row.name.clone(), row)).collect();
    let conf = run.conf;
    for (position, declared) in (0..).zip(&conf.rules) {
        let found = by_name.remove(&declared.name);
        if found.as_ref().is_some_and(|row| row.source == Source::Api) {
            return Err(DeclareError::Taken {
                kind: "rule",
                name: declared.name.clone(),
                taken: "a rule".to_owned(),
                what: "this name".to_owned(),
            });
        }
        let row = routing_rule::Model {
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
        run.changed("deleted", "rule", &row.name);
        row.delete(run.transaction).await?;
    }
    Ok(())
}

async fn write(run: &mut Declaring<'_>, found: Option<routing_rule::Model>, row: routing_rule::Model) -> Result<(), DeclareError> {
    match found {
        Some(found) if found == row => {}
        Some(found) => {
            run.changed("changed", "rule", &row.name);
            let row = routing_rule::Model { updated_at: run.later_than(found.updated_at), ..row };
            row.into_active_model().reset_all().update(run.transaction).await?;
        }
        None => {
            run.changed("created", "rule", &row.name);
            row.into_active_model().insert(run.transaction).await?;
        }
    }
    Ok(())
}
