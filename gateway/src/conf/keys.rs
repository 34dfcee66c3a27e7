//! `keys`: the service's own keys that clients authenticate with.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::{Owner, Secret, Translation};

/// One declared key.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// The secret clients send: 16 characters or more.
    #[serde(skip_serializing)]
    pub secret: Secret,
    /// The one person or program it belongs to.
    pub owner: Owner,
    /// The team's name.
    #[serde(default)]
    pub team: Option<String>,
    /// The application's name.
    #[serde(default)]
    pub application: Option<String>,
    /// The role's name.
    #[serde(default)]
    pub role: Option<String>,
    /// Models it may ask for, by name or alias. `null` means all.
    #[serde(default)]
    pub allowed_models: Option<Vec<String>>,
    /// Requests in any minute. `null` means no cap, 0 blocks.
    #[serde(default)]
    pub rpm_limit: Option<u32>,
    /// Tokens in any minute. `null` means no cap, 0 blocks.
    #[serde(default)]
    pub tpm_limit: Option<u64>,
    /// Requests at the same time. `null` means no cap, 0 blocks.
    #[serde(default)]
    pub max_parallel: Option<u32>,
    /// When it stops working, as RFC 3339.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// Whether it may be used.
    #[serde(default)]
    pub status: KeyStatus,
    /// Labels that rules and reports can use.
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
    /// Whether prompts and answers are kept.
    #[serde(default)]
    pub content_logging: ContentLogging,
    /// What is done about fields that a provider of another shape has no words for: `lossy`, `safe` or `strict`.
    #[serde(default)]
    pub translation: Option<Translation>,
    /// Declared only where this environment variable is set and not empty.
    #[serde(default, skip_serializing)]
    pub when_set: Option<String>,
}

/// Whether a key may be used. Revoked is final.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyStatus {
    /// It may.
    #[default]
    Active,
    /// Not for now.
    Disabled,
    /// Never again.
    Revoked,
}

/// Whether the content of a key's requests is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContentLogging {
    /// As `telemetry.content_logging` says.
    #[default]
    Inherit,
    /// Kept.
    On,
    /// Not kept.
    Off,
}

/// A moment, written as RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub OffsetDateTime);

impl KeyStatus {
    /// The name used in the configuration and the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Disabled => "disabled",
            Self::Revoked => "revoked",
        }
    }
}

impl ContentLogging {
    /// The name used in the configuration and the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inherit => "inherit",
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

impl Timestamp {
    /// Milliseconds since 1970.
    #[must_use]
    pub fn unix_millis(self) -> i64 {
        i64::try_from(self.0.unix_timestamp_nanos().div_euclid(1_000_000)).unwrap_or(i64::MAX)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.format(&Rfc3339).map_err(serde::ser::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        OffsetDateTime::parse(&text, &Rfc3339)
            .map(Self)
            .map_err(|_| D::Error::custom("expected a moment with its zone, such as 2030-12-31T23:59:59Z"))
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"description": "A moment with its zone, such as 2030-12-31T23:59:59Z.", "type": "string", "format": "date-time"})
    }
}
