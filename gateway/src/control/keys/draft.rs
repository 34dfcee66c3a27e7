//! The members of a key that a body may set.

use std::collections::BTreeMap;

use entity::{ContentLogging, KeyStatus, Source, Translation, api_key};
use sea_orm::DatabaseTransaction;
use svc_entity as entity;
use svc_filters::auth::{KeySecret, Pepper};

use crate::control::audited::ACTOR;
use crate::control::fields::Fields;
use crate::control::problem::Problem;
use crate::control::references;
use crate::request_id::RequestId;

/// Words of the statuses.
pub(super) const STATUSES: [(&str, KeyStatus); 3] =
    [("active", KeyStatus::Active), ("disabled", KeyStatus::Disabled), ("revoked", KeyStatus::Revoked)];
const CONTENT_LOGGING: [(&str, ContentLogging); 3] =
    [("inherit", ContentLogging::Inherit), ("on", ContentLogging::On), ("off", ContentLogging::Off)];
const TRANSLATION: [(&str, Translation); 3] = [("lossy", Translation::Lossy), ("safe", Translation::Safe), ("strict", Translation::Strict)];
/// Largest caps: what the filters count with, and what JSON holds exactly.
const LARGEST_COUNT: i64 = 0xffff_ffff;
const LARGEST_TOKENS: i64 = (1 << 53) - 1;

/// The members that were given; where null has a meaning, the inner `None` is null.
pub(super) struct Draft {
    pub(super) name: Option<String>,
    pub(super) owner: Option<(&'static str, String)>,
    team: Option<Option<String>>,
    application: Option<Option<String>>,
    role: Option<Option<String>>,
    allowed_models: Option<Option<Vec<String>>>,
    rpm_limit: Option<Option<i64>>,
    tpm_limit: Option<Option<i64>>,
    max_parallel: Option<Option<i64>>,
    expires_at: Option<Option<i64>>,
    pub(super) status: Option<KeyStatus>,
    tags: Option<BTreeMap<String, String>>,
    content_logging: Option<ContentLogging>,
    translation: Option<Option<Translation>>,
}

impl Draft {
    pub(super) fn read(fields: &mut Fields) -> Self {
        Self {
            name: fields.text("name"),
            owner: fields.one_of("owner", ["user", "agent"]),
            team: fields.optional_text("team"),
            application: fields.optional_text("application"),
            role: fields.optional_text("role"),
            allowed_models: fields.texts("allowed_models"),
            rpm_limit: fields.number("rpm_limit", LARGEST_COUNT),
            tpm_limit: fields.number("tpm_limit", LARGEST_TOKENS),
            max_parallel: fields.number("max_parallel", LARGEST_COUNT),
            expires_at: fields.moment("expires_at"),
            status: fields.choice("status", &STATUSES),
            tags: fields.labels("tags"),
            content_logging: fields.choice("content_logging", &CONTENT_LOGGING),
            translation: fields.optional_choice("translation", &TRANSLATION),
        }
    }

    /// Sets what was given.
    pub(super) async fn apply(self, transaction: &DatabaseTransaction, row: &mut api_key::Model) -> Result<(), Problem> {
        if let Some((kind, name)) = &self.owner {
            (row.user_id, row.agent_id) = references::owner(transaction, kind, name).await?;
        }
        if let Some(role) = &self.role {
            row.role_id = match role {
                Some(name) => Some(references::role(transaction, name).await?),
                None => None,
            };
        }
        if let Some(team) = &self.team {
            row.team_id = match team {
                Some(name) => Some(references::team(transaction, name).await?),
                None => None,
            };
        }
        if let Some(application) = &self.application {
            row.application_id = match application {
                Some(name) => Some(references::application(transaction, name, row.team_id.as_deref()).await?),
                None => None,
            };
        }
        self.apply_values(row);
        Ok(())
    }

    fn apply_values(self, row: &mut api_key::Model) {
        set(&mut row.name, self.name);
        set(&mut row.rpm_limit, self.rpm_limit);
        set(&mut row.tpm_limit, self.tpm_limit);
        set(&mut row.max_parallel, self.max_parallel);
        set(&mut row.expires_at, self.expires_at);
        set(&mut row.status, self.status);
        set(&mut row.content_logging, self.content_logging);
        set(&mut row.translation, self.translation);
        set(&mut row.allowed_models, self.allowed_models.map(|models| models.and_then(|models| serde_json::to_string(&models).ok())));
        set(&mut row.tags, self.tags.map(|tags| (!tags.is_empty()).then(|| serde_json::to_string(&tags).ok()).flatten()));
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// A key with a secret and nothing else.
pub(super) fn new_row(now: i64, secret: &KeySecret, pepper: &Pepper) -> api_key::Model {
    api_key::Model {
        id: RequestId::generate(now).as_str().to_owned(),
        name: String::new(),
        public_id: Some(secret.public_id().to_owned()),
        secret_hash: pepper.hash(secret.reveal()).to_hex(),
        last_four: KeySecret::last_four(secret.reveal()).to_owned(),
        previous_secret_hash: None,
        previous_valid_until: None,
        user_id: None,
        agent_id: None,
        team_id: None,
        application_id: None,
        role_id: None,
        allowed_models: None,
        rpm_limit: None,
        tpm_limit: None,
        max_parallel: None,
        expires_at: None,
        status: KeyStatus::Active,
        tags: None,
        content_logging: ContentLogging::Inherit,
        translation: None,
        source: Source::Api,
        created_by: ACTOR.to_owned(),
        created_at: now,
        updated_at: now,
    }
}
