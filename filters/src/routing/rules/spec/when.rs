//! The conditions of rules: every one that is given must hold.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Offset, Owner, TimeOfDay};

/// When a rule matches. Lists are alternatives; different conditions must all hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// Models asked for, by name or alias.
    pub models: Vec<String>,
    /// Owners of the key.
    pub owners: Vec<Owner>,
    /// Teams of the key.
    pub teams: Vec<String>,
    /// Tags of the key, all of them.
    pub tags: BTreeMap<String, String>,
    /// Metadata of the request, all of them.
    pub metadata: BTreeMap<String, String>,
    /// Size of the prompt in tokens.
    pub prompt_tokens: Option<Range>,
    /// Whether tools are offered.
    pub tools: Option<bool>,
    /// Whether there are images.
    pub images: Option<bool>,
    /// Whether a stream is asked for.
    pub stream: Option<bool>,
    /// Days and hours.
    pub time: Option<TimeWindow>,
    /// Header lines of the request, all of them, names in any case.
    pub headers: BTreeMap<String, String>,
    /// An expression in the Common Expression Language; for `custom` rules.
    pub cel: Option<String>,
}

/// Whole numbers from `min` to `max`, both included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Range {
    /// The smallest.
    pub min: Option<u64>,
    /// The largest.
    pub max: Option<u64>,
}

/// Hours of some days. A window whose end is before its start runs over midnight.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TimeWindow {
    /// Days on which it starts; empty means every day.
    pub days: Vec<Day>,
    /// The first minute.
    pub from: TimeOfDay,
    /// The first minute after it; the same as `from` means all day.
    pub to: TimeOfDay,
    /// Hours and minutes the clock is ahead of UTC, such as `+01:00`.
    pub offset: Offset,
}

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Day {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}
