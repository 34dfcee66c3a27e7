//! Declared providers and their credentials.

use std::collections::HashMap;

use entity::{ProviderKeyStatus, ProviderKind, Source, provider, provider_key};
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, ModelTrait, PaginatorTrait, QueryFilter, QueryOrder, Set};
use svc_entity as entity;
use svc_filters::auth::KeySecret;

use super::{DeclareError, Declaring};
use crate::conf;
use crate::store::settings::{Settings, key_names};

/// A credential as it should be.
struct Wanted {
    name: Option<&'static str>,
    clear: String,
}

/// Makes and changes providers; returns those that are declared no more.
pub(super) async fn declare(run: &mut Declaring<'_>) -> Result<Vec<provider::Model>, DeclareError> {
    let rows = provider::Entity::find().order_by_asc(provider::Column::Id).all(run.transaction).await?;
    let mut by_name: HashMap<String, provider::Model> = rows.into_iter().map(|row| (row.name.clone(), row)).collect();
    let conf = run.conf;
    for declared in &conf.providers {
        let row = match by_name.remove(&declared.name) {
            Some(row) if row.source == Source::Api => {
                let (taken, what) = ("a provider".to_owned(), "this name".to_owned());
                return Err(DeclareError::Taken { kind: "provider", name: declared.name.clone(), taken, what });
            }
            found => upsert(run, declared, found).await?,
        };
        credentials(run, declared, &row).await?;
    }
    Ok(by_name.into_values().filter(|row| row.source == Source::File).collect())
}

/// Takes away providers that are declared no more.
pub(super) async fn remove(run: &mut Declaring<'_>, vanished: Vec<provider::Model>) -> Result<(), DeclareError> {
    for row in vanished {
        let users = row.find_related(entity::model_target::Entity).count(run.transaction).await?;
        if users == 0 {
            run.changed("deleted", "provider", &row.name);
            row.delete(run.transaction).await?;
        } else if row.enabled {
            log::warn!("the provider `{}` is declared no more and is disabled; {users} targets made over the API still name it", row.name);
            run.changed("disabled", "provider", &row.name);
            let updated_at = run.later_than(row.updated_at);
            let mut change = row.into_active_model();
            change.enabled = Set(false);
            change.updated_at = Set(updated_at);
            change.update(run.transaction).await?;
        }
    }
    Ok(())
}

async fn upsert(
    run: &mut Declaring<'_>,
    declared: &conf::Provider,
    found: Option<provider::Model>,
) -> Result<provider::Model, DeclareError> {
    let settings = Settings::declared(declared).map_err(|source| DeclareError::Ca {
        name: declared.name.clone(),
        path: declared.ca.clone().unwrap_or_default(),
        source,
    })?;
    let before = found.clone();
    let row = provider::Model {
        id: found.as_ref().map_or_else(|| run.id(), |row| row.id.clone()),
        name: declared.name.clone(),
        kind: kind(declared.kind),
        base_url: declared.base_url.clone(),
        region: declared.region.clone(),
        settings: settings.to_text(),
        enabled: true,
        source: Source::File,
        created_at: found.as_ref().map_or(run.now, |row| row.created_at),
        updated_at: found.as_ref().map_or(run.now, |row| row.updated_at),
    };
    match before {
        Some(before) if before == row => Ok(row),
        Some(before) => {
            run.changed("changed", "provider", &row.name);
            let row = provider::Model { updated_at: run.later_than(before.updated_at), ..row };
            Ok(row.into_active_model().reset_all().update(run.transaction).await?)
        }
        None => {
            run.changed("created", "provider", &row.name);
            Ok(row.into_active_model().insert(run.transaction).await?)
        }
    }
}

/// Makes the provider's credentials match, keeping the sealed text of each that is unchanged.
async fn credentials(run: &mut Declaring<'_>, declared: &conf::Provider, owner: &provider::Model) -> Result<(), DeclareError> {
    let rows = provider_key::Entity::find()
        .filter(provider_key::Column::ProviderId.eq(&owner.id))
        .order_by_asc(provider_key::Column::Position)
        .all(run.transaction)
        .await?;
    let mut by_position: HashMap<i32, provider_key::Model> = rows.into_iter().map(|row| (row.position, row)).collect();
    for (position, wanted) in (0..).zip(wanted(declared)?) {
        let found = by_position.remove(&position);
        if found.as_ref().is_some_and(|row| run.sealer.open(&row.id, &row.secret_sealed).is_ok_and(|clear| clear == wanted.clear)) {
            continue;
        }
        run.changed("changed the credentials of", "provider", &declared.name);
        let id = found.as_ref().map_or_else(|| run.id(), |row| row.id.clone());
        let sealed = run.sealer.seal(&id, &wanted.clear).map_err(|source| DeclareError::Seal { name: declared.name.clone(), source })?;
        let last_four = if wanted.name.is_none() { KeySecret::last_four(&wanted.clear).to_owned() } else { String::new() };
        let row = provider_key::Model {
            id,
            provider_id: owner.id.clone(),
            position,
            name: wanted.name.map(str::to_owned),
            secret_sealed: sealed,
            last_four,
            status: ProviderKeyStatus::Active,
            created_at: found.as_ref().map_or(run.now, |row| row.created_at),
            updated_at: found.as_ref().map_or(run.now, |row| run.later_than(row.updated_at)),
        };
        let change = row.into_active_model();
        match found {
            Some(_) => change.reset_all().update(run.transaction).await?,
            None => change.insert(run.transaction).await?,
        };
    }
    for row in by_position.into_values() {
        run.changed("changed the credentials of", "provider", &declared.name);
        row.delete(run.transaction).await?;
    }
    Ok(())
}

/// The credentials of a declared provider, in order.
fn wanted(declared: &conf::Provider) -> Result<Vec<Wanted>, DeclareError> {
    let keys = declared.keys.iter().filter(|key| !key.is_empty());
    let mut wanted: Vec<Wanted> = keys.map(|key| Wanted { name: None, clear: key.reveal().to_owned() }).collect();
    if let Some(aws) = declared.aws.as_ref().filter(|aws| !aws.access_key_id.is_empty()) {
        let token = aws.session_token.as_ref().filter(|token| !token.is_empty());
        let clear = serde_json::json!({
            "access_key_id": aws.access_key_id.reveal(),
            "secret_access_key": aws.secret_access_key.reveal(),
            "session_token": token.map(conf::Secret::reveal),
        });
        wanted.push(Wanted { name: Some(key_names::AWS), clear: clear.to_string() });
    }
    if let Some(entra) = &declared.entra {
        let clear = serde_json::json!({
            "tenant": entra.tenant,
            "client_id": entra.client_id,
            "client_secret": entra.client_secret.reveal(),
            "token_url": entra.token_url,
            "scope": entra.scope,
        });
        wanted.push(Wanted { name: Some(key_names::ENTRA), clear: clear.to_string() });
    }
    if let Some(path) = declared.vertex.as_ref().and_then(|vertex| vertex.service_account_file.as_ref()) {
        let clear = std::fs::read_to_string(path).map_err(|source| DeclareError::ServiceAccount {
            name: declared.name.clone(),
            path: path.clone(),
            source,
        })?;
        wanted.push(Wanted { name: Some(key_names::SERVICE_ACCOUNT), clear });
    }
    Ok(wanted)
}

const fn kind(kind: conf::ProviderKind) -> ProviderKind {
    match kind {
        conf::ProviderKind::OpenAi => ProviderKind::OpenAi,
        conf::ProviderKind::AzureOpenAi => ProviderKind::AzureOpenAi,
        conf::ProviderKind::Anthropic => ProviderKind::Anthropic,
        conf::ProviderKind::Bedrock => ProviderKind::Bedrock,
        conf::ProviderKind::Gemini => ProviderKind::Gemini,
        conf::ProviderKind::Vertex => ProviderKind::Vertex,
    }
}
