//! Providers with their credentials.

use std::collections::HashMap;
use std::sync::Arc;

use entity::{ProviderKeyStatus, provider, provider_key};
use sea_orm::{DatabaseTransaction, DbErr, EntityTrait, QueryOrder};
use sha2::{Digest, Sha256};
use svc_entity as entity;
use svc_filters::translate::ProviderKind;

use super::rows;
use crate::conf::{self, Conf, Secret};
use crate::providers::{Http2, KeyLabel, KeySpec, Place, Provider, ProviderSpec, Timeouts};
use crate::store::seal::Sealer;
use crate::store::settings::{Settings, key_names};
use crate::store::snapshot::{Fingerprint, Snapshot};

/// What became of a provider's row.
pub(super) enum Loaded {
    /// It takes requests.
    Ready(Arc<Provider>),
    /// An operator disabled it.
    Disabled,
    /// It cannot be used; the log says why.
    Broken,
}

/// Providers in use by name, every provider by id, and what the ones in use were made from.
type Read = (HashMap<Arc<str>, Arc<Provider>>, HashMap<String, (String, Loaded)>, HashMap<Arc<str>, Fingerprint>);

pub(super) async fn read(
    transaction: &DatabaseTransaction,
    conf: &Conf,
    sealer: &Sealer,
    previous: Option<&Snapshot>,
) -> Result<Read, DbErr> {
    let query = provider_key::Entity::find().order_by_asc(provider_key::Column::Position);
    let mut keys: HashMap<String, Vec<provider_key::Model>> = HashMap::new();
    for row in rows::<provider_key::Entity>(transaction, query, "provider_key").await? {
        keys.entry(row.provider_id.clone()).or_default().push(row);
    }
    let (mut ready, mut by_id, mut fingerprints) = (HashMap::new(), HashMap::new(), HashMap::new());
    for row in rows::<provider::Entity>(transaction, provider::Entity::find(), "provider").await? {
        let mut keys = keys.remove(&row.id).unwrap_or_default();
        let has_keys = !keys.is_empty();
        keys.retain(|key| key.status == ProviderKeyStatus::Active);
        let fingerprint = fingerprint(&row, &keys, has_keys);
        let loaded = match kept(previous, &row, fingerprint) {
            Some(provider) => Loaded::Ready(provider),
            None => make(&row, &keys, has_keys, conf, sealer, previous),
        };
        if let Loaded::Ready(provider) = &loaded {
            ready.insert(provider.name().clone(), provider.clone());
            fingerprints.insert(provider.name().clone(), fingerprint);
        }
        by_id.insert(row.id, (row.name, loaded));
    }
    Ok((ready, by_id, fingerprints))
}

/// The provider of the previous snapshot, where it was made from the same rows.
fn kept(previous: Option<&Snapshot>, row: &provider::Model, fingerprint: Fingerprint) -> Option<Arc<Provider>> {
    let previous = previous?;
    (row.enabled && previous.fingerprints.get(row.name.as_str()) == Some(&fingerprint))
        .then(|| previous.providers.get(row.name.as_str()).cloned())
        .flatten()
}

fn fingerprint(row: &provider::Model, keys: &[provider_key::Model], has_keys: bool) -> Fingerprint {
    let mut digest = Sha256::new();
    digest.update([u8::from(has_keys)]);
    let mut add = |text: &str| {
        digest.update(text.len().to_le_bytes());
        digest.update(text);
    };
    let region = row.region.as_deref().unwrap_or_default();
    for text in [&row.id, &row.name, kind(row.kind).as_str(), &row.base_url, region, &row.settings] {
        add(text);
    }
    for key in keys {
        add(&key.id);
        add(&key.secret_sealed);
    }
    digest.finalize().into()
}

/// `has_keys` tells whether there are credentials at all, active or not: one that has any is never asked without.
fn make(
    row: &provider::Model,
    keys: &[provider_key::Model],
    has_keys: bool,
    conf: &Conf,
    sealer: &Sealer,
    previous: Option<&Snapshot>,
) -> Loaded {
    if !row.enabled {
        return Loaded::Disabled;
    }
    let settings: Settings = match serde_json::from_str(&row.settings) {
        Ok(settings) => settings,
        Err(error) => return broken(row, &format_args!("its settings cannot be read: {error}")),
    };
    let clear = open(row, keys, sealer);
    if clear.is_empty() && !keys.is_empty() {
        return broken(row, &"none of its credentials can be opened");
    }
    let spec = spec(row, settings, clear, conf);
    if has_keys && spec.keys.is_empty() {
        return broken(row, &"none of its credentials is active");
    }
    match Provider::new(spec) {
        Ok(provider) => {
            let before = previous.and_then(|previous| previous.providers.get(row.name.as_str()));
            Loaded::Ready(Arc::new(provider.following(before.map(|before| &**before))))
        }
        Err(error) => broken(row, &format_args!("failed to {error}")),
    }
}

fn broken(row: &provider::Model, reason: &dyn std::fmt::Display) -> Loaded {
    log::error!("the provider `{}` takes no requests: {reason}", row.name);
    Loaded::Broken
}

fn open(row: &provider::Model, keys: &[provider_key::Model], sealer: &Sealer) -> Vec<(KeyLabel, KeySpec)> {
    let opened = keys.iter().filter_map(|key| match sealer.open(&key.id, &key.secret_sealed) {
        Ok(clear) => Some((label(key), key_spec(row.kind, key.name.as_deref(), Secret::new(clear)))),
        Err(error) => {
            log::error!("the credential {} of the provider `{}` is passed over: failed to {error}", key.position, row.name);
            None
        }
    });
    opened.collect()
}

fn label(key: &provider_key::Model) -> KeyLabel {
    KeyLabel { position: Some(key.position), name: key.name.clone(), last_four: key.last_four.clone() }
}

/// What a stored credential is: its name says so for kinds that take more than plain keys.
fn key_spec(kind: entity::ProviderKind, name: Option<&str>, clear: Secret) -> KeySpec {
    match (kind, name) {
        (entity::ProviderKind::Bedrock, Some(key_names::AWS)) => KeySpec::Aws(clear),
        (entity::ProviderKind::Vertex, Some(key_names::SERVICE_ACCOUNT)) => KeySpec::ServiceAccount(clear),
        (entity::ProviderKind::AzureOpenAi, Some(key_names::ENTRA)) => KeySpec::Entra(clear),
        _ => KeySpec::Plain(clear),
    }
}

/// The credential of the process's surroundings, where the settings say that it is to be used.
fn ambient(row: &provider::Model, settings: &Settings) -> Option<KeySpec> {
    match row.kind {
        entity::ProviderKind::Bedrock if settings.ambient => Some(KeySpec::AwsEnvironment),
        entity::ProviderKind::Vertex if settings.ambient => Some(KeySpec::GoogleEnvironment),
        _ => None,
    }
}

fn spec(row: &provider::Model, settings: Settings, mut keys: Vec<(KeyLabel, KeySpec)>, conf: &Conf) -> ProviderSpec {
    let timeouts = conf.timeouts.with(&settings.timeouts);
    keys.extend(ambient(row, &settings).map(|key| (KeyLabel::default(), key)));
    ProviderSpec {
        name: row.name.as_str().into(),
        kind: kind(row.kind),
        base_url: row.base_url.clone(),
        keys,
        timeouts: Timeouts {
            connect: timeouts.connect.get(),
            first_byte: timeouts.first_byte.get(),
            idle: timeouts.idle.get(),
            total: timeouts.total.get(),
        },
        http2: match settings.http2 {
            conf::Http2::Auto => Http2::Auto,
            conf::Http2::Never => Http2::Never,
            conf::Http2::Always => Http2::Always,
        },
        ca_pem: settings.ca_pem,
        headers: settings.headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect(),
        api_version: settings.api_version,
        label: row.region.clone(),
        region: settings.aws.map(|aws| aws.region).filter(|region| !region.is_empty()).or_else(|| row.region.clone()),
        place: settings.vertex.map(|vertex| Place {
            project: vertex.project,
            location: vertex.location,
            user_project: vertex.user_project,
        }),
        compatibility: settings.compatibility,
        shows_limits: !settings.hides_limits,
        breaker: conf.breaker.clone(),
        queue: settings.max_concurrency.map(|most| (most, settings.queue_timeout.get())),
    }
}

const fn kind(kind: entity::ProviderKind) -> ProviderKind {
    match kind {
        entity::ProviderKind::OpenAi => ProviderKind::Openai,
        entity::ProviderKind::AzureOpenAi => ProviderKind::AzureOpenai,
        entity::ProviderKind::Anthropic => ProviderKind::Anthropic,
        entity::ProviderKind::Bedrock => ProviderKind::Bedrock,
        entity::ProviderKind::Gemini => ProviderKind::Gemini,
        entity::ProviderKind::Vertex => ProviderKind::Vertex,
    }
}
