//! Declared keys.

use entity::{ContentLogging, KeyStatus, Source, api_key};
use sea_orm::{ActiveModelTrait, ColumnTrait, Condition, EntityTrait, IntoActiveModel, QueryFilter, Set};
use svc_entity as entity;
use svc_filters::auth::KeySecret;

use super::{DeclareError, Declaring, identity};
use crate::conf;

/// Makes and changes declared keys, and revokes those that are declared no more.
///
/// A key is recognised by its secret, so that it can be renamed, and else by its name, so that its secret can be changed.
pub(super) async fn declare(run: &mut Declaring<'_>) -> Result<(), DeclareError> {
    let conf = run.conf;
    let hashes: Vec<String> = conf.keys.iter().map(|key| run.pepper.hash(key.secret.reveal()).to_hex()).collect();
    let mut rows = api_key::Entity::find().filter(api_key::Column::Source.eq(Source::File)).all(run.transaction).await?;
    let mut claims = Vec::new();
    for (declared, hash) in conf.keys.iter().zip(&hashes) {
        let found = claim(&mut rows, |row| row.secret_hash == *hash);
        claims.push((declared, hash, found));
    }
    for (declared, _, found) in &mut claims {
        if found.is_none() {
            *found = claim(&mut rows, |row| row.name == declared.name && row.status != KeyStatus::Revoked);
        }
    }
    for (declared, hash, found) in claims {
        upsert(run, declared, hash, found).await?;
    }
    for row in rows.into_iter().filter(|row| row.status != KeyStatus::Revoked) {
        run.changed("revoked", "key", &row.name);
        let updated_at = run.later_than(row.updated_at);
        let mut change = row.into_active_model();
        change.status = Set(KeyStatus::Revoked);
        change.updated_at = Set(updated_at);
        change.update(run.transaction).await?;
    }
    Ok(())
}

fn claim(rows: &mut Vec<api_key::Model>, is_it: impl Fn(&api_key::Model) -> bool) -> Option<api_key::Model> {
    rows.iter().position(is_it).map(|index| rows.swap_remove(index))
}

async fn upsert(run: &mut Declaring<'_>, declared: &conf::Key, hash: &str, found: Option<api_key::Model>) -> Result<(), DeclareError> {
    let secret = declared.secret.reveal();
    let public_id = KeySecret::public_id_of(secret).map(str::to_owned);
    if found.as_ref().is_none_or(|row| row.secret_hash != hash) {
        refuse_taken(run, declared, hash, public_id.as_deref()).await?;
    }
    let (user_id, agent_id) = identity::owner(run, &declared.owner).await?;
    let role_id = match &declared.role {
        Some(name) => Some(identity::role(run, name).await?),
        None => None,
    };
    let team_id = match &declared.team {
        Some(name) => Some(identity::team(run, name).await?),
        None => None,
    };
    let application_id = match &declared.application {
        Some(name) => Some(identity::application(run, name, team_id.as_deref()).await?),
        None => None,
    };
    let row = api_key::Model {
        id: found.as_ref().map_or_else(|| run.id(), |row| row.id.clone()),
        name: declared.name.clone(),
        public_id,
        secret_hash: hash.to_owned(),
        last_four: KeySecret::last_four(secret).to_owned(),
        previous_secret_hash: None,
        previous_valid_until: None,
        user_id,
        agent_id,
        team_id,
        application_id,
        role_id,
        allowed_models: declared.allowed_models.as_ref().and_then(|models| serde_json::to_string(models).ok()),
        rpm_limit: declared.rpm_limit.map(i64::from),
        tpm_limit: declared.tpm_limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX)),
        max_parallel: declared.max_parallel.map(i64::from),
        expires_at: declared.expires_at.map(conf::Timestamp::unix_millis),
        status: status(declared.status),
        tags: (!declared.tags.is_empty()).then(|| serde_json::to_string(&declared.tags).ok()).flatten(),
        content_logging: content_logging(declared.content_logging),
        translation: declared.translation.map(super::translation),
        source: Source::File,
        created_by: "file".to_owned(),
        created_at: found.as_ref().map_or(run.now, |row| row.created_at),
        updated_at: found.as_ref().map_or(run.now, |row| row.updated_at),
    };
    write(run, found, row).await
}

async fn write(run: &mut Declaring<'_>, found: Option<api_key::Model>, row: api_key::Model) -> Result<(), DeclareError> {
    match found {
        Some(found) if found == row => {}
        Some(found) => {
            run.changed("changed", "key", &row.name);
            let row = api_key::Model { updated_at: run.later_than(found.updated_at), ..row };
            row.into_active_model().reset_all().update(run.transaction).await?;
        }
        None => {
            run.changed("created", "key", &row.name);
            row.into_active_model().insert(run.transaction).await?;
        }
    }
    Ok(())
}

/// Refuses a secret that a key made over the API has.
async fn refuse_taken(run: &Declaring<'_>, declared: &conf::Key, hash: &str, public_id: Option<&str>) -> Result<(), DeclareError> {
    let mut same = Condition::any().add(api_key::Column::SecretHash.eq(hash)).add(api_key::Column::PreviousSecretHash.eq(hash));
    if let Some(public_id) = public_id {
        same = same.add(api_key::Column::PublicId.eq(public_id));
    }
    let taken = api_key::Entity::find().filter(same).filter(api_key::Column::Source.eq(Source::Api)).one(run.transaction).await?;
    match taken {
        None => Ok(()),
        Some(row) => Err(DeclareError::Taken {
            kind: "key",
            name: declared.name.clone(),
            taken: format!("the key `{}`", row.name),
            what: "this secret".to_owned(),
        }),
    }
}

const fn status(status: conf::KeyStatus) -> KeyStatus {
    match status {
        conf::KeyStatus::Active => KeyStatus::Active,
        conf::KeyStatus::Disabled => KeyStatus::Disabled,
        conf::KeyStatus::Revoked => KeyStatus::Revoked,
    }
}

const fn content_logging(choice: conf::ContentLogging) -> ContentLogging {
    match choice {
        conf::ContentLogging::Inherit => ContentLogging::Inherit,
        conf::ContentLogging::On => ContentLogging::On,
        conf::ContentLogging::Off => ContentLogging::Off,
    }
}
