//! What expressions can ask about a request.

use std::collections::HashMap;

use ::cel::Value;
use time::OffsetDateTime;

use super::survey::Size;
use crate::routing::rules::sample::Asked;
use crate::routing::rules::{Fact, Owner};

/// The most entries of a list or map that are handed in; the rest is left out.
const ENTRIES: usize = 64;
/// The most bytes of a text that are handed in; the rest is cut off.
const BYTES: usize = 512;
/// Headers that carry credentials are not handed in.
const SECRET: [&str; 6] = ["authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-goog-api-key"];

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    Model,
    Stream,
    Tools,
    Images,
    PromptTokens,
    MaxTokens,
    Key,
    Owner,
    Team,
    Application,
    Groups,
    Tags,
    Metadata,
    Headers,
    EndUser,
    Endpoint,
    Shape,
    Now,
}

const ALL: [(&str, Variable); Variable::COUNT] = [
    ("model", Variable::Model),
    ("stream", Variable::Stream),
    ("tools", Variable::Tools),
    ("images", Variable::Images),
    ("prompt_tokens", Variable::PromptTokens),
    ("max_tokens", Variable::MaxTokens),
    ("key", Variable::Key),
    ("owner", Variable::Owner),
    ("team", Variable::Team),
    ("application", Variable::Application),
    ("groups", Variable::Groups),
    ("tags", Variable::Tags),
    ("metadata", Variable::Metadata),
    ("headers", Variable::Headers),
    ("end_user", Variable::EndUser),
    ("endpoint", Variable::Endpoint),
    ("shape", Variable::Shape),
    ("now", Variable::Now),
];

impl Variable {
    pub(super) const COUNT: usize = Self::Now as usize + 1;

    pub(super) fn named(name: &str) -> Option<Self> {
        ALL.iter().find(|(known, _)| *known == name).map(|(_, variable)| *variable)
    }

    /// All names, for error messages.
    pub(super) fn names() -> String {
        ALL.map(|(name, _)| name).join(", ")
    }

    /// The largest value it can have.
    pub(super) const fn size(self) -> Size {
        match self {
            Self::Stream | Self::Tools | Self::Images | Self::PromptTokens | Self::MaxTokens => Size::ONE,
            Self::Groups => Size { len: ENTRIES as u64, item: BYTES as u64 },
            Self::Tags | Self::Metadata | Self::Headers => Size { len: ENTRIES as u64, item: BYTES as u64 },
            Self::Now => Size { len: 8, item: 8 },
            _ => Size { len: BYTES as u64, item: 1 },
        }
    }

    /// What it asks about a request, beside what is always known.
    pub(super) const fn fact(self) -> Option<Fact> {
        match self {
            Self::Tools => Some(Fact::Tools),
            Self::Images => Some(Fact::Images),
            Self::PromptTokens => Some(Fact::PromptTokens),
            Self::MaxTokens => Some(Fact::MaxTokens),
            Self::Metadata => Some(Fact::Metadata),
            Self::Headers => Some(Fact::Headers),
            Self::EndUser => Some(Fact::EndUser),
            Self::Key | Self::Owner | Self::Team | Self::Application | Self::Groups | Self::Tags => Some(Fact::Caller),
            Self::Model | Self::Stream | Self::Endpoint | Self::Shape | Self::Now => None,
        }
    }

    /// Its value for a request. What is not given is empty or 0.
    pub(super) fn value(self, asked: &Asked<'_>) -> Value {
        let sample = asked.sample;
        match self {
            Self::Model => text(asked.model),
            Self::Stream => sample.stream.into(),
            Self::Tools => sample.tools.into(),
            Self::Images => sample.images.into(),
            Self::PromptTokens => number(asked.prompt_tokens()),
            Self::MaxTokens => number(sample.max_tokens.unwrap_or(0)),
            Self::Key => text(sample.key_name),
            Self::Owner => match asked.owner() {
                Some(Owner::User(name) | Owner::Agent(name)) => text(name),
                None => text(""),
            },
            Self::Team => text(sample.caller.team.as_deref().unwrap_or_default()),
            Self::Application => text(sample.caller.application.as_deref().unwrap_or_default()),
            Self::Groups => sample.caller.groups.iter().take(ENTRIES).map(|name| text(name)).collect::<Vec<_>>().into(),
            Self::Tags => map(sample.caller.tags.iter().map(|(name, value)| (&**name, &**value))),
            Self::Metadata => map(asked.metadata().iter().map(|(name, value)| (&**name, &**value))),
            Self::Headers => {
                let lines = sample.headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
                map(lines.filter(|(name, _)| !SECRET.contains(name)))
            }
            Self::EndUser => text(sample.end_user.unwrap_or_default()),
            Self::Endpoint => text(sample.endpoint.as_str()),
            Self::Shape => text(sample.shape.as_str()),
            Self::Now => now(sample.now),
        }
    }
}

fn cut(whole: &str) -> &str {
    whole.get(..whole.floor_char_boundary(BYTES)).unwrap_or(whole)
}

fn text(whole: &str) -> Value {
    cut(whole).into()
}

fn number(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The first entries; of several under one name the first.
fn map<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> Value {
    let mut map: HashMap<&str, Value> = HashMap::new();
    for (name, value) in entries.filter(|(name, _)| name.len() <= BYTES) {
        if map.len() == ENTRIES {
            break;
        }
        map.entry(name).or_insert_with(|| text(value));
    }
    map.into()
}

/// The moment in UTC by its parts; the week begins with Monday, which is 1.
fn now(millis: i64) -> Value {
    let moment = OffsetDateTime::from_unix_timestamp(millis.div_euclid(1000)).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let parts = [
        ("unix", moment.unix_timestamp()),
        ("year", i64::from(moment.year())),
        ("month", i64::from(u8::from(moment.month()))),
        ("day", i64::from(moment.day())),
        ("weekday", i64::from(moment.weekday().number_from_monday())),
        ("hour", i64::from(moment.hour())),
        ("minute", i64::from(moment.minute())),
        ("second", i64::from(moment.second())),
    ];
    HashMap::from(parts).into()
}
