use sea_orm::ConnectionTrait;
use svc_filters::auth::Lookup;

use super::*;
use crate::store::declare;
use crate::store::testing::{Db, conf, databases, sqlite};

fn pepper() -> Pepper {
    Pepper::new(b"a pepper of at least 32 bytes for tests")
}

fn sealer() -> Sealer {
    Sealer::new(b"a master key of at least 32 bytes")
}

const YAML: &str = "
limits: {global_rpm: 100}
providers:
  - {name: one, kind: openai, base_url: 'http://127.0.0.1:1/v1', keys: [sk-one]}
  - {name: two, kind: gemini, base_url: 'http://127.0.0.1:2', keys: [sk-two]}
  - {name: later, kind: bedrock, base_url: 'http://127.0.0.1:3', keys: [sk-later]}
models:
  - {name: m, aliases: [n], targets: [{provider: one, model: m1}, {provider: two, model: m2, priority: 1}, {provider: later, model: m3}]}
keys:
  - {name: dev, secret: a-secret-of-16-characters, owner: {user: dev@example.com}, role: staff}
  - {name: bad, secret: another-secret-of-16, owner: {user: dev@example.com}}
";

async fn filled(db: &DatabaseConnection) -> Conf {
    let conf: Conf = self::conf(YAML);
    declare(db, &conf, &pepper(), &sealer()).await.unwrap();
    conf
}

#[tokio::test]
async fn unchanged_providers_are_taken_over_and_changed_ones_are_made_anew() {
    for Db { db, _folder, .. } in databases().await {
        let conf = filled(&db).await;
        let first = load(&db, &conf, &pepper(), &sealer(), None).await.unwrap();
        let changed: Conf = self::conf(&YAML.replace("sk-two", "sk-new"));
        declare(&db, &changed, &pepper(), &sealer()).await.unwrap();
        let second = load(&db, &conf, &pepper(), &sealer(), Some(&first)).await.unwrap();
        assert!(second.revision > first.revision);
        assert!(Arc::ptr_eq(&first.providers["one"], &second.providers["one"]));
        assert!(!Arc::ptr_eq(&first.providers["two"], &second.providers["two"]));
    }
}

#[tokio::test]
async fn what_cannot_be_served_is_left_out_and_the_rest_is_served() {
    for Db { db, _folder, .. } in databases().await {
        let conf = filled(&db).await;
        db.execute_unprepared("UPDATE api_key SET secret_hash = 'nonsense' WHERE name = 'bad'").await.unwrap();
        db.execute_unprepared("UPDATE provider SET settings = '[' WHERE name = 'two'").await.unwrap();
        db.execute_unprepared("UPDATE role SET rpm_limit = 7").await.unwrap();
        let snapshot = load(&db, &conf, &pepper(), &sealer(), None).await.unwrap();
        assert_eq!(snapshot.policy.keys.len(), 1);
        assert_eq!(snapshot.policy.models.find("n").unwrap().targets.len(), 2, "not the broken provider");
        assert_eq!(snapshot.policy.caps.global.rpm, Some(100));
        assert_eq!(snapshot.policy.caps.roles.values().map(|cap| cap.rpm).collect::<Vec<_>>(), [Some(7)]);
    }
}

#[tokio::test]
async fn keys_of_a_disabled_user_are_refused() {
    for Db { db, _folder, .. } in databases().await {
        let conf = filled(&db).await;
        db.execute_unprepared("UPDATE users SET status = 'disabled'").await.unwrap();
        let snapshot = load(&db, &conf, &pepper(), &sealer(), None).await.unwrap();
        assert!(matches!(snapshot.policy.keys.find("a-secret-of-16-characters", 0), Lookup::Refused(_)));
    }
}

#[tokio::test]
async fn disabled_models_and_providers_are_not_served() {
    for Db { db, _folder, .. } in databases().await {
        let conf = filled(&db).await;
        let first = load(&db, &conf, &pepper(), &sealer(), None).await.unwrap();
        db.execute_unprepared("UPDATE provider SET enabled = false WHERE name = 'one'").await.unwrap();
        let second = load(&db, &conf, &pepper(), &sealer(), Some(&first)).await.unwrap();
        assert!(!second.providers.contains_key("one"));
        db.execute_unprepared("UPDATE model SET enabled = false").await.unwrap();
        let third = load(&db, &conf, &pepper(), &sealer(), Some(&second)).await.unwrap();
        assert!(third.policy.models.find("m").is_none());
    }
}

#[tokio::test]
async fn credentials_sealed_under_another_master_key_take_their_provider_out_of_use() {
    let Db { db, _folder, .. } = sqlite().await;
    let conf = filled(&db).await;
    let snapshot = load(&db, &conf, &pepper(), &Sealer::new(b"another master key of 32 bytes!!!"), None).await.unwrap();
    assert!(snapshot.providers.is_empty(), "nothing is sent to a provider without the credential it should have");
    assert_eq!(snapshot.policy.keys.len(), 2);
}

#[tokio::test]
async fn a_provider_none_of_whose_credentials_is_active_is_not_asked_without_one() {
    for Db { db, _folder, .. } in databases().await {
        let conf = filled(&db).await;
        let first = load(&db, &conf, &pepper(), &sealer(), None).await.unwrap();
        db.execute_unprepared(
            "UPDATE provider_key SET status = 'disabled' WHERE provider_id = (SELECT id FROM provider WHERE name = 'one')",
        )
        .await
        .unwrap();
        for previous in [None, Some(&first)] {
            let snapshot = load(&db, &conf, &pepper(), &sealer(), previous).await.unwrap();
            assert!(!snapshot.providers.contains_key("one") && snapshot.providers.contains_key("two"));
            assert_eq!(snapshot.policy.models.find("m").unwrap().targets.len(), 2);
        }
    }
}

#[tokio::test]
async fn ten_thousand_keys_are_read_in_a_moment() {
    for Db { db, _folder, .. } in databases().await {
        let conf = filled(&db).await;
        let hash = if db.get_database_backend() == sea_orm::DbBackend::Postgres { "lpad(n::text, 64, '0')" } else { "printf('%064d', n)" };
        let insert = format!(
            "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 10000)
             INSERT INTO api_key
                (id, name, secret_hash, last_four, user_id, status, content_logging, source, created_by, created_at, updated_at)
             SELECT 'key-' || n, 'k', {hash}, 'four', (SELECT id FROM users), 'active', 'inherit', 'api', 'admin', 0, 0 FROM n"
        );
        db.execute_unprepared(&insert).await.unwrap();
        let started = Instant::now();
        let snapshot = load(&db, &conf, &pepper(), &sealer(), None).await.unwrap();
        assert_eq!(snapshot.policy.keys.len(), 10_002);
        let took = started.elapsed();
        println!("10000 keys in {took:?}");
        assert!(took.as_secs() < 5, "{took:?}: a change has to be in force within a second");
    }
}
