//! Declared models with their aliases, targets and fallbacks.

use std::collections::HashMap;

use entity::{Source, model, model_alias, model_fallback, model_target, provider};
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, ModelTrait, QueryFilter, QueryOrder};
use svc_entity as entity;

use super::{DeclareError, Declaring};
use crate::conf;

/// What hangs on a model, in a form that can be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Parts {
    aliases: Vec<String>,
    targets: Vec<Target>,
    fallbacks: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    provider_id: String,
    upstream_model: String,
    priority: i32,
    weight: i32,
    region: Option<String>,
}

/// Makes, changes and deletes models to match the file.
pub(super) async fn declare(run: &mut Declaring<'_>) -> Result<(), DeclareError> {
    let rows = model::Entity::find().all(run.transaction).await?;
    refuse_taken(run, &rows).await?;
    let providers = provider::Entity::find().all(run.transaction).await?;
    let providers: HashMap<String, String> = providers.into_iter().map(|row| (row.name, row.id)).collect();
    let mut parts = parts(run).await?;
    let mut by_name: HashMap<String, model::Model> =
        rows.into_iter().filter(|row| row.source == Source::File).map(|row| (row.name.clone(), row)).collect();
    let conf = run.conf;
    let mut pending = Vec::new();
    for (position, declared) in (0..).zip(&conf.models) {
        let found = by_name.remove(&declared.name);
        let wanted = wanted(declared, &providers);
        let now = found.as_ref().map(|row| parts.remove(&row.id).unwrap_or_default());
        let row = self::row(run, declared, position, found.as_ref());
        if found.as_ref() == Some(&row) && now.as_ref() == Some(&wanted) {
            continue;
        }
        let children_differ = now.as_ref() != Some(&wanted);
        if children_differ && found.is_some() {
            remove_parts(run, &row.id).await?;
        }
        pending.push((found, row, children_differ.then_some(wanted)));
    }
    // What goes away goes before what comes, so that an alias can move from one model to another.
    for row in by_name.into_values() {
        run.changed("deleted", "model", &row.name);
        remove_parts(run, &row.id).await?;
        row.delete(run.transaction).await?;
    }
    for (found, row, wanted) in pending {
        let id = row.id.clone();
        write_row(run, found, row).await?;
        if let Some(wanted) = wanted {
            write_parts(run, &id, wanted).await?;
        }
    }
    Ok(())
}

/// Refuses names and aliases that a model made over the API has.
async fn refuse_taken(run: &Declaring<'_>, rows: &[model::Model]) -> Result<(), DeclareError> {
    let of_api: HashMap<&str, &str> =
        rows.iter().filter(|row| row.source == Source::Api).map(|row| (row.id.as_str(), row.name.as_str())).collect();
    if of_api.is_empty() {
        return Ok(());
    }
    let aliases = model_alias::Entity::find().all(run.transaction).await?;
    let mut taken: HashMap<&str, &str> = of_api.values().map(|name| (*name, *name)).collect();
    taken.extend(aliases.iter().filter_map(|row| Some((row.alias.as_str(), *of_api.get(row.model_id.as_str())?))));
    for declared in &run.conf.models {
        for name in std::iter::once(&declared.name).chain(&declared.aliases) {
            if let Some(owner) = taken.get(name.as_str()) {
                return Err(DeclareError::Taken {
                    kind: "model",
                    name: declared.name.clone(),
                    taken: format!("the model `{owner}`"),
                    what: format!("the name `{name}`"),
                });
            }
        }
    }
    Ok(())
}

/// What hangs on each model at present.
async fn parts(run: &Declaring<'_>) -> Result<HashMap<String, Parts>, DeclareError> {
    let mut parts: HashMap<String, Parts> = HashMap::new();
    for row in model_alias::Entity::find().order_by_asc(model_alias::Column::Alias).all(run.transaction).await? {
        parts.entry(row.model_id).or_default().aliases.push(row.alias);
    }
    for row in model_target::Entity::find().order_by_asc(model_target::Column::Position).all(run.transaction).await? {
        let model_target::Model { provider_id, upstream_model, priority, weight, region, .. } = row;
        parts.entry(row.model_id).or_default().targets.push(Target { provider_id, upstream_model, priority, weight, region });
    }
    for row in model_fallback::Entity::find().order_by_asc(model_fallback::Column::Position).all(run.transaction).await? {
        parts.entry(row.model_id).or_default().fallbacks.push(row.fallback_model);
    }
    for part in parts.values_mut() {
        part.aliases.sort();
    }
    Ok(parts)
}

fn wanted(declared: &conf::Model, providers: &HashMap<String, String>) -> Parts {
    let targets = declared.targets.iter().filter_map(|target| {
        Some(Target {
            provider_id: providers.get(&target.provider)?.clone(),
            upstream_model: target.model.clone(),
            priority: i32::try_from(target.priority).unwrap_or(i32::MAX),
            weight: i32::try_from(target.weight).unwrap_or(i32::MAX),
            region: target.region.clone(),
        })
    });
    let mut aliases = declared.aliases.clone();
    aliases.sort();
    Parts { aliases, targets: targets.collect(), fallbacks: declared.fallbacks.clone() }
}

fn row(run: &Declaring<'_>, declared: &conf::Model, position: i32, found: Option<&model::Model>) -> model::Model {
    model::Model {
        id: found.map_or_else(|| run.id(), |row| row.id.clone()),
        name: declared.name.clone(),
        affinity: declared.affinity,
        capabilities: serde_json::to_string(&declared.capabilities).unwrap_or_else(|_| "{}".to_owned()),
        translation: declared.translation.map(super::translation),
        timeouts: (!declared.timeouts.is_empty()).then(|| serde_json::to_string(&declared.timeouts).unwrap_or_else(|_| "{}".to_owned())),
        enabled: true,
        source: Source::File,
        position,
        created_at: found.map_or(run.now, |row| row.created_at),
        updated_at: found.map_or(run.now, |row| row.updated_at),
    }
}

async fn write_row(run: &mut Declaring<'_>, found: Option<model::Model>, row: model::Model) -> Result<(), DeclareError> {
    match found {
        Some(found) => {
            run.changed("changed", "model", &row.name);
            let row = model::Model { updated_at: run.later_than(found.updated_at), ..row };
            row.into_active_model().reset_all().update(run.transaction).await?;
        }
        None => {
            run.changed("created", "model", &row.name);
            row.into_active_model().insert(run.transaction).await?;
        }
    }
    Ok(())
}

async fn remove_parts(run: &Declaring<'_>, id: &str) -> Result<(), DeclareError> {
    model_alias::Entity::delete_many().filter(model_alias::Column::ModelId.eq(id)).exec(run.transaction).await?;
    model_target::Entity::delete_many().filter(model_target::Column::ModelId.eq(id)).exec(run.transaction).await?;
    model_fallback::Entity::delete_many().filter(model_fallback::Column::ModelId.eq(id)).exec(run.transaction).await?;
    Ok(())
}

async fn write_parts(run: &Declaring<'_>, id: &str, parts: Parts) -> Result<(), DeclareError> {
    for alias in parts.aliases {
        let row = model_alias::Model { id: run.id(), model_id: id.to_owned(), alias };
        row.into_active_model().insert(run.transaction).await?;
    }
    for (position, target) in (0..).zip(parts.targets) {
        let Target { provider_id, upstream_model, priority, weight, region } = target;
        let model_id = id.to_owned();
        let row = model_target::Model { id: run.id(), model_id, position, provider_id, upstream_model, priority, weight, region };
        row.into_active_model().insert(run.transaction).await?;
    }
    for (position, fallback_model) in (0..).zip(parts.fallbacks) {
        let row = model_fallback::Model { id: run.id(), model_id: id.to_owned(), position, fallback_model };
        row.into_active_model().insert(run.transaction).await?;
    }
    Ok(())
}
