use sea_orm::QueryOrder;

use super::*;
use crate::licence::Edition;
use crate::licence::state::{Environment, resolve};
use crate::licence::token::Claims;
use crate::store::testing::{Db, databases};

const NOW: i64 = 1_800_000_000;

fn licence(expires_at: Option<i64>) -> Licence {
    let claims = |expires_at| Claims { customer: "Example Ltd".into(), edition: Edition::Enterprise, issued_at: NOW, expires_at };
    let environment = expires_at.map_or(Environment::Missing, |expires_at| Environment::Valid(claims(expires_at)));
    Licence::new(resolve(environment, || None, NOW), Edition::Enterprise)
}

async fn told(db: &DatabaseConnection) -> Vec<Value> {
    let rows = entity::event_outbox::Entity::find().order_by_asc(entity::event_outbox::Column::Id).all(db).await.unwrap();
    assert!(rows.iter().all(|row| row.kind == "licence.state_changed" && row.dispatched_at.is_none()));
    rows.iter().map(|row| serde_json::from_str(&row.data).unwrap()).collect()
}

#[tokio::test]
async fn a_change_since_the_last_start_is_told_once_however_many_gateways_start() {
    for Db { db, url, _folder } in databases().await {
        let other = svc_migrations::connect(&url, 4).await.unwrap();
        let (valid, expiring) = (licence(Some(NOW + 3_000 * 86_400)), licence(Some(NOW + 86_400)));
        for gateway in [&db, &other, &db] {
            tell_change(gateway, &valid, NOW * 1000).await.unwrap();
        }
        assert_eq!(told(&db).await, Vec::<Value>::new(), "the first start changes nothing");
        let (one, two) = tokio::join!(tell_change(&db, &expiring, NOW * 1000), tell_change(&other, &expiring, NOW * 1000));
        one.unwrap();
        two.unwrap();
        let expected = json!({
            "tier": "enterprise", "state": "expiring", "previous_tier": "enterprise", "previous_state": "valid",
            "edition": "enterprise", "banner": "B-1", "text": "The licence expires in 1 day.",
        });
        assert_eq!(told(&db).await, [expected]);
        tell_change(&db, &licence(None), NOW * 1000 + 1).await.unwrap();
        tell_change(&db, &valid, NOW * 1000 + 2).await.unwrap();
        let told = told(&db).await;
        let states: Vec<_> = told.iter().map(|data| (data["previous_tier"].as_str().unwrap(), data["tier"].as_str().unwrap())).collect();
        assert_eq!(states, [("enterprise", "enterprise"), ("enterprise", "recovery"), ("recovery", "enterprise")]);
        assert_eq!(told[2]["banner"], Value::Null);
    }
}
