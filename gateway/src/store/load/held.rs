//! Breakers an operator holds open or closed.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use entity::{ForcedPosition, breaker_override};
use sea_orm::{DatabaseTransaction, DbErr, EntityTrait};
use svc_entity as entity;

use super::providers::Loaded;
use super::rows;
use crate::clock::Clock;
use crate::providers::Position;
use crate::store::snapshot::Held;

pub(super) async fn read(transaction: &DatabaseTransaction, providers: &HashMap<String, (String, Loaded)>) -> Result<Vec<Held>, DbErr> {
    let (now, unix) = (Instant::now(), Clock::default().unix_ms());
    let found = rows::<breaker_override::Entity>(transaction, breaker_override::Entity::find(), "breaker_override").await?;
    let held = found.into_iter().filter_map(|row| {
        let left = row.expires_at.map(|at| u64::try_from(at - unix).unwrap_or(0));
        Some(Held {
            provider: providers.get(&row.provider_id)?.0.as_str().into(),
            model: row.upstream_model.map(Into::into),
            position: match row.position {
                ForcedPosition::Open => Position::Open,
                ForcedPosition::Closed => Position::Closed,
            },
            reason: row.reason.into(),
            until: left.map(|left| now + Duration::from_millis(left)),
        })
    });
    Ok(held.collect())
}
