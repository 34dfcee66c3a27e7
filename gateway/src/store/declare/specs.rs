//! Declared routing rules and guardrails: rows that keep what the file says as JSON. Their tables have the same columns.

use std::collections::HashMap;

use entity::{Source, guardrail, routing_rule};
use sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel, ModelTrait};
use svc_entity as entity;

use super::{DeclareError, Declaring};

/// Makes `declare` for a section of the file and the table its entries are kept in.
macro_rules! declared {
    ($declare:ident, $section:ident, $table:ident, $kind:literal) => {
        /// Makes, changes and deletes rows to match the section of the file.
        pub(super) async fn $declare(run: &mut Declaring<'_>) -> Result<(), DeclareError> {
            let rows = $table::Entity::find().all(run.transaction).await?;
            let mut by_name: HashMap<String, $table::Model> = rows.into_iter().map(|row| (row.name.clone(), row)).collect();
            let conf = run.conf;
            for (position, declared) in (0..).zip(&conf.$section) {
                let found = by_name.remove(&declared.name);
                if found.as_ref().is_some_and(|row| row.source == Source::Api) {
                    return Err(taken($kind, &declared.name));
                }
                let row = $table::Model {
                    id: found.as_ref().map_or_else(|| run.id(), |row| row.id.clone()),
                    name: declared.name.clone(),
                    spec: serde_json::to_string(declared).unwrap_or_else(|_| "{}".to_owned()),
                    enabled: true,
                    source: Source::File,
                    position,
                    created_at: found.as_ref().map_or(run.now, |row| row.created_at),
                    updated_at: found.as_ref().map_or(run.now, |row| row.updated_at),
                };
                match found {
                    Some(found) if found == row => {}
                    Some(found) => {
                        run.changed("changed", $kind, &row.name);
                        let row = $table::Model { updated_at: run.later_than(found.updated_at), ..row };
                        row.into_active_model().reset_all().update(run.transaction).await?;
                    }
                    None => {
                        run.changed("created", $kind, &row.name);
                        row.into_active_model().insert(run.transaction).await?;
                    }
                }
            }
            for row in by_name.into_values().filter(|row| row.source == Source::File) {
                run.changed("deleted", $kind, &row.name);
                row.delete(run.transaction).await?;
            }
            Ok(())
        }
    };
}

declared!(rules, rules, routing_rule, "rule");
declared!(guardrails, guardrails, guardrail, "guardrail");

fn taken(kind: &'static str, name: &str) -> DeclareError {
    DeclareError::Taken { kind, name: name.to_owned(), taken: format!("a {kind}"), what: "this name".to_owned() }
}
