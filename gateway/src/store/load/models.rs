//! Enabled models with their aliases, targets and fallbacks.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use entity::{model, model_alias, model_fallback, model_target};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder};
use svc_entity as entity;
use svc_filters::routing::{Model, ModelTable, Target};

use super::providers::Loaded;
use super::{LoadError, rows};
use crate::conf::TimeoutOverrides;

pub(super) async fn read(
    transaction: &DatabaseTransaction,
    providers: &HashMap<String, (String, Loaded)>,
) -> Result<(ModelTable, HashMap<Arc<str>, TimeoutOverrides>), LoadError> {
    let query =
        model::Entity::find().filter(model::Column::Enabled.eq(true)).order_by_asc(model::Column::Position).order_by_asc(model::Column::Id);
    let models = rows::<model::Entity>(transaction, query, "model").await?;
    let mut aliases: HashMap<String, Vec<String>> = HashMap::new();
    let query = model_alias::Entity::find().order_by_asc(model_alias::Column::Id);
    for row in rows::<model_alias::Entity>(transaction, query, "model_alias").await? {
        aliases.entry(row.model_id).or_default().push(row.alias);
    }
    let mut targets: HashMap<String, Vec<model_target::Model>> = HashMap::new();
    let query = model_target::Entity::find().order_by_asc(model_target::Column::Position);
    for row in rows::<model_target::Entity>(transaction, query, "model_target").await? {
        targets.entry(row.model_id.clone()).or_default().push(row);
    }
    let mut fallbacks: HashMap<String, Vec<Arc<str>>> = HashMap::new();
    let query = model_fallback::Entity::find().order_by_asc(model_fallback::Column::Position);
    for row in rows::<model_fallback::Entity>(transaction, query, "model_fallback").await? {
        fallbacks.entry(row.model_id).or_default().push(row.fallback_model.into());
    }
    let timeouts = models.iter().filter_map(timeouts).collect();
    let mut names: HashSet<String> = models.iter().map(|row| row.name.clone()).collect();
    let table = models.into_iter().map(|row| Model {
        aliases: own_aliases(&row, aliases.remove(&row.id).unwrap_or_default(), &mut names),
        targets: targets
            .remove(&row.id)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|target| self::target(target, providers))
            .map(Arc::new)
            .collect(),
        fallbacks: fallbacks.remove(&row.id).unwrap_or_default(),
        affinity: row.affinity,
        created_at: row.created_at.div_euclid(1000),
        translation: row.translation.map(super::policy),
        name: row.name.into(),
    });
    Ok((ModelTable::new(table.collect())?, timeouts))
}

/// Time-outs of the model's own.
fn timeouts(row: &model::Model) -> Option<(Arc<str>, TimeoutOverrides)> {
    match serde_json::from_str(row.timeouts.as_deref()?) {
        Ok(timeouts) => Some((row.name.as_str().into(), timeouts)),
        Err(error) => {
            log::error!("the time-outs of the model `{}` are passed over: {error}", row.name);
            None
        }
    }
}

/// The aliases nothing else is called.
fn own_aliases(row: &model::Model, aliases: Vec<String>, names: &mut HashSet<String>) -> Vec<Arc<str>> {
    let free = aliases.into_iter().filter(|alias| {
        let free = names.insert(alias.clone());
        if !free {
            log::error!("the alias `{alias}` of the model `{}` is passed over: another model has this name", row.name);
        }
        free
    });
    free.map(Arc::from).collect()
}

fn target(target: model_target::Model, providers: &HashMap<String, (String, Loaded)>) -> Option<Target> {
    let (_, loaded) = providers.get(&target.provider_id)?;
    let provider = match loaded {
        Loaded::Ready(provider) => provider,
        Loaded::Disabled | Loaded::Broken => return None,
    };
    let shape = provider.shape(&target.upstream_model);
    let made = Target::new(provider.name().clone(), provider.kind(), provider.quirks(), shape, target.upstream_model.into());
    Some(made.ranked(target.priority, u32::try_from(target.weight).unwrap_or(0)).in_region(target.region.map(Arc::from)))
}
