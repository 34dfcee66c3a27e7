//! `/admin/licence`: what the licence allows; and the caps of recovery mode.

use entity::{api_key, user};
use http::StatusCode;
use sea_orm::{ConnectionTrait, EntityTrait, PaginatorTrait};
use serde_json::{Value, json};
use svc_entity as entity;

use super::Store;
use super::list::moment;
use super::problem::{Answer, Problem, add};
use crate::licence::state::Resolved;
use crate::licence::{Capped, Feature, Licence};

/// `GET /admin/licence`
pub(super) async fn answer(store: &Store) -> Result<Answer, Problem> {
    let licence = &store.licence;
    let mut shown = show(licence, store.clock.unix_ms());
    let capabilities: Vec<Value> = Feature::ALL.iter().map(|feature| capability(*feature, licence)).collect();
    add(&mut shown, "capabilities", capabilities);
    let mut caps = json!({});
    for (name, what) in [("api_keys", Capped::ApiKeys), ("users", Capped::Users)] {
        add(&mut caps, name, json!({"count": count(&store.db, what).await?, "cap": licence.cap(what)}));
    }
    add(&mut shown, "caps", caps);
    Ok(Answer::json(StatusCode::OK, shown))
}

/// The licence as health and the licence's own page tell it.
pub(super) fn show(licence: &Licence, unix_ms: i64) -> Value {
    let Resolved { tier, standing, source, claims, env_license_invalid } = licence.resolved();
    let now = unix_ms / 1000;
    json!({
        "edition": licence.edition().as_str(),
        "build": licence.build().as_str(),
        "tier": tier.as_str(),
        "state": standing.as_str(),
        "source": source.as_str(),
        "customer": claims.as_ref().map(|claims| claims.customer.as_str()),
        "expires_at": moment(claims.as_ref().map(|claims| claims.expires_at.saturating_mul(1000))),
        "days_left": licence.days_left(now),
        "banner": licence.banner(now).map(|banner| json!({"code": banner.code, "text": banner.text})),
        "env_license_invalid": env_license_invalid.is_some(),
        "reason": env_license_invalid,
    })
}

/// Refuses to create one more where recovery mode has a cap. Has to be asked in the transaction that creates it, begun as a writer's:
/// only one of those runs at a time, over all gateways, so that the count stays true until the row is there.
///
/// Every row counts: declared ones, and revoked keys and disabled users, which are never removed.
pub(super) async fn check_cap(writer: &impl ConnectionTrait, licence: &Licence, what: Capped) -> Result<(), Problem> {
    let Some(limit) = licence.cap(what) else { return Ok(()) };
    let current = count(writer, what).await?;
    let what = match what {
        Capped::ApiKeys => "keys",
        Capped::Users => "users",
    };
    if current < limit { Ok(()) } else { Err(Problem::CapExceeded { what, limit, current }) }
}

async fn count(db: &impl ConnectionTrait, what: Capped) -> Result<u64, Problem> {
    Ok(match what {
        Capped::ApiKeys => api_key::Entity::find().count(db).await?,
        Capped::Users => user::Entity::find().count(db).await?,
    })
}

fn capability(feature: Feature, licence: &Licence) -> Value {
    json!({
        "name": feature.name(),
        "title": feature.title(),
        "edition": feature.edition().as_str(),
        "available": licence.require(feature).is_ok(),
    })
}
