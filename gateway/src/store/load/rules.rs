//! Routing rules that are switched on.

use entity::routing_rule;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder};
use svc_entity as entity;
use svc_filters::routing::ModelTable;
use svc_filters::routing::rules::{Rule, RuleSet, RuleSpec};

use super::{LoadError, rows};

/// Reads the rules. One that makes no sense ends the reading: without it requests might go where it forbids.
pub(super) async fn read(transaction: &DatabaseTransaction, models: &ModelTable) -> Result<RuleSet, LoadError> {
    let query = routing_rule::Entity::find()
        .filter(routing_rule::Column::Enabled.eq(true))
        .order_by_asc(routing_rule::Column::Position)
        .order_by_asc(routing_rule::Column::Id);
    let found = rows::<routing_rule::Entity>(transaction, query, "routing_rule").await?;
    let rules = found.iter().map(rule).collect::<Result<_, _>>()?;
    Ok(RuleSet::new(rules, models))
}

fn rule(row: &routing_rule::Model) -> Result<Rule, LoadError> {
    let spec = serde_json::from_str::<RuleSpec>(&row.spec).map_err(|error| error.to_string());
    let compiled = spec.and_then(|spec| Rule::compile(&spec).map_err(|error| error.to_string()));
    compiled.map_err(|reason| LoadError::Rule { name: row.name.clone(), reason })
}
