use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, Set};
use svc_entity::{KeyStatus, Source, api_key, model, model_alias, model_target, provider, provider_key, user};

use super::*;
use crate::store::load::{load, revision};
use crate::store::testing::{Db, conf, databases};

fn pepper() -> Pepper {
    Pepper::new(b"a pepper of at least 32 bytes for tests")
}

fn sealer() -> Sealer {
    Sealer::new(b"a master key of at least 32 bytes")
}

const BOTH: &str = "
providers:
  - {name: one, kind: openai, base_url: 'http://127.0.0.1:1/v1', keys: [sk-one, sk-two]}
  - {name: two, kind: anthropic, base_url: 'http://127.0.0.1:2', keys: [sk-three]}
models:
  - {name: fast, aliases: [default, quick], targets: [{provider: one, model: m1, weight: 3}, {provider: two, model: m2, priority: 1}], fallbacks: [slow]}
  - {name: slow, targets: [{provider: two, model: m3}]}
keys:
  - {name: dev, secret: a-secret-of-16-characters, owner: {user: Dev@Example.com}, team: core, application: chat, role: staff, rpm_limit: 5}
  - {name: robot, secret: another-secret-of-16, owner: {agent: robot}}
";

const LESS: &str = "
providers:
  - {name: two, kind: anthropic, base_url: 'http://127.0.0.1:2', keys: [sk-changed]}
models:
  - {name: slow, aliases: [default], targets: [{provider: two, model: m3}]}
keys:
  - {name: renamed, secret: another-secret-of-16, owner: {agent: robot}}
";

async fn run(db: &DatabaseConnection, yaml: &str) -> Result<(), DeclareError> {
    declare(db, &conf(yaml), &pepper(), &sealer()).await
}

#[tokio::test]
async fn what_is_declared_is_served_and_a_restart_writes_nothing() {
    for Db { db, _folder, .. } in databases().await {
        run(&db, BOTH).await.unwrap();
        let snapshot = load(&db, &conf(BOTH), &pepper(), &sealer(), None).await.unwrap();
        assert_eq!((snapshot.policy.keys.len(), snapshot.providers.len()), (2, 2));
        assert_eq!(snapshot.providers["one"].keys().len(), 2);
        let fast = snapshot.policy.models.find("quick").unwrap();
        assert_eq!(&*fast.name, "fast");
        assert_eq!(fast.targets.iter().map(|target| &*target.upstream_model).collect::<Vec<_>>(), ["m1", "m2"]);
        assert!(matches!(snapshot.policy.keys.find("a-secret-of-16-characters", 0), svc_filters::auth::Lookup::Valid(_)));
        let before = revision(&db).await.unwrap();
        run(&db, BOTH).await.unwrap();
        assert_eq!(revision(&db).await.unwrap(), before, "an unchanged file is no change of configuration");
        assert_eq!(user::Entity::find().one(&db).await.unwrap().unwrap().email, "dev@example.com");
    }
}

#[tokio::test]
async fn what_is_declared_no_more_goes_away() {
    for Db { db, _folder, .. } in databases().await {
        run(&db, BOTH).await.unwrap();
        run(&db, LESS).await.unwrap();
        let names: Vec<String> = provider::Entity::find().all(&db).await.unwrap().into_iter().map(|row| row.name).collect();
        assert_eq!(names, ["two"]);
        let aliases = model_alias::Entity::find().all(&db).await.unwrap();
        assert_eq!(aliases.iter().map(|row| row.alias.as_str()).collect::<Vec<_>>(), ["default"], "the alias moved");
        let secret = provider_key::Entity::find().one(&db).await.unwrap().unwrap();
        assert_eq!(sealer().open(&secret.id, &secret.secret_sealed).as_deref(), Ok("sk-changed"));
        let status = async |name: &str| {
            let row = api_key::Entity::find().filter(api_key::Column::Name.eq(name)).one(&db).await.unwrap();
            row.map(|row| row.status)
        };
        assert_eq!(status("dev").await, Some(KeyStatus::Revoked));
        assert_eq!(status("renamed").await, Some(KeyStatus::Active), "a key is recognised by its secret");
        assert_eq!(status("robot").await, None);
        run(&db, BOTH).await.unwrap();
        assert_eq!(status("dev").await, Some(KeyStatus::Active), "the file is the authority over what it declares");
        assert_eq!(crate::store::verify(&db).await.unwrap(), 3);
    }
}

#[tokio::test]
async fn a_changed_secret_replaces_the_old_one() {
    for Db { db, _folder, .. } in databases().await {
        run(&db, LESS).await.unwrap();
        run(&db, &LESS.replace("another-secret-of-16", "yet-another-secret-16")).await.unwrap();
        let rows = api_key::Entity::find().all(&db).await.unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].secret_hash, pepper().hash("yet-another-secret-16").to_hex());
    }
}

#[tokio::test]
async fn a_name_taken_over_the_api_is_an_error_that_changes_nothing() {
    for Db { db, _folder, .. } in databases().await {
        run(&db, LESS).await.unwrap();
        let row = provider::Entity::find().one(&db).await.unwrap().unwrap();
        let mut change = row.into_active_model();
        change.source = Set(Source::Api);
        change.update(&db).await.unwrap();
        let error = run(&db, BOTH).await.unwrap_err();
        assert_eq!(error.to_string(), "declare the provider `two`: a provider made over the API has this name already");
        assert_eq!(provider::Entity::find().all(&db).await.unwrap().len(), 1);
        let error = run(&db, "models: []\nproviders: []\nkeys: []").await;
        assert!(error.is_ok(), "what the file does not name is not its own: {error:?}");
    }
}

#[tokio::test]
async fn a_provider_that_other_models_use_is_disabled_and_not_deleted() {
    for Db { db, _folder, .. } in databases().await {
        run(&db, LESS).await.unwrap();
        let row = model::Entity::find().one(&db).await.unwrap().unwrap();
        let mut change = row.into_active_model();
        change.source = Set(Source::Api);
        change.update(&db).await.unwrap();
        run(&db, "models: []").await.unwrap();
        assert!(!provider::Entity::find().one(&db).await.unwrap().unwrap().enabled);
        assert_eq!(model_target::Entity::find().all(&db).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_secret_that_an_api_key_has_is_an_error() {
    for Db { db, _folder, .. } in databases().await {
        run(&db, LESS).await.unwrap();
        let row = api_key::Entity::find().one(&db).await.unwrap().unwrap();
        let mut change = row.into_active_model();
        change.source = Set(Source::Api);
        change.update(&db).await.unwrap();
        let error = run(&db, LESS).await.unwrap_err();
        assert_eq!(error.to_string(), "declare the key `renamed`: the key `renamed` made over the API has this secret already");
    }
}

#[tokio::test]
async fn gateways_that_start_together_do_not_collide() {
    for Db { db, url, _folder } in databases().await {
        let starts: Vec<_> = (0..4)
            .map(|_| {
                let url = url.clone();
                tokio::spawn(async move {
                    let db = svc_migrations::connect(&url, 2).await.unwrap();
                    declare(&db, &conf(BOTH), &pepper(), &sealer()).await
                })
            })
            .collect();
        for start in starts {
            start.await.unwrap().unwrap();
        }
        assert_eq!(api_key::Entity::find().all(&db).await.unwrap().len(), 2);
        assert_eq!(crate::store::verify(&db).await.unwrap(), 1, "only one of them had something to write");
    }
}

#[test]
fn credentials_of_aws_are_sealed_and_not_in_the_settings() {
    let yaml = "providers: [{name: b, kind: bedrock, aws: {region: eu-west-1, access_key_id: AKID, secret_access_key: hidden}}]";
    let settings = crate::store::settings::Settings::declared(&conf(yaml).providers[0]).unwrap().to_text();
    assert!(settings.contains("eu-west-1") && !settings.contains("hidden") && !settings.contains("AKID"), "{settings}");
}
