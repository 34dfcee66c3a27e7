//! What expressions can ask about a request.

use std::collections::HashMap;

use ::cel::Value;
use http::{HeaderName, HeaderValue};
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

    /// Whether it is true or false.
    pub(super) const fn is_flag(self) -> bool {
        matches!(self, Self::Stream | Self::Tools | Self::Images)
    }

    /// Whether it is a text.
    pub(super) const fn is_text(self) -> bool {
        matches!(
            self,
            Self::Model | Self::Key | Self::Owner | Self::Team | Self::Application | Self::EndUser | Self::Endpoint | Self::Shape
        )
    }

    /// Its value, where it is true or false; of any other false.
    pub(super) const fn flag(self, asked: &Asked<'_>) -> bool {
        match self {
            Self::Stream => asked.sample.stream,
            Self::Tools => asked.sample.tools,
            Self::Images => asked.sample.images,
            _ => false,
        }
    }

    /// Its value, where it is a text; of any other nothing. What is not given is empty.
    pub(super) fn text<'a>(self, asked: &'a Asked<'_>) -> &'a str {
        let sample = asked.sample;
        cut(match self {
            Self::Model => asked.model,
            Self::Key => sample.key_name,
            Self::Owner => match asked.owner() {
                Some(Owner::User(name) | Owner::Agent(name)) => name,
                None => "",
            },
            Self::Team => sample.caller.team.as_deref().unwrap_or_default(),
            Self::Application => sample.caller.application.as_deref().unwrap_or_default(),
            Self::EndUser => sample.end_user.unwrap_or_default(),
            Self::Endpoint => sample.endpoint.as_str(),
            Self::Shape => sample.shape.as_str(),
            _ => "",
        })
    }

    /// An entry of tags or metadata; `None` where some of them are left out.
    pub(super) fn entry<'a>(self, asked: &'a Asked<'_>, name: &str) -> Option<Option<&'a str>> {
        let (count, found) = match self {
            Self::Tags => (asked.sample.caller.tags.len(), asked.sample.caller.tags.get(name).map(|value| &**value)),
            _ => (asked.metadata().len(), asked.metadata().get(name).map(String::as_str)),
        };
        (count <= ENTRIES && name.len() <= BYTES).then(|| found.map(cut))
    }

    /// The first line of a header; `None` where some headers are left out.
    pub(super) fn header<'a>(asked: &'a Asked<'_>, name: &HeaderName) -> Option<Option<&'a str>> {
        let headers = asked.sample.headers;
        let fits = headers.len() <= ENTRIES && name.as_str().len() <= BYTES;
        fits.then(|| headers.get_all(name).iter().filter(|_| !is_secret(name)).find_map(shown).map(cut))
    }

    /// Its value for a request. What is not given is empty or 0.
    pub(super) fn value(self, asked: &Asked<'_>) -> Value {
        let sample = asked.sample;
        match self {
            Self::Stream | Self::Tools | Self::Images => self.flag(asked).into(),
            Self::Model | Self::Key | Self::Owner | Self::Team | Self::Application | Self::EndUser | Self::Endpoint | Self::Shape => {
                self.text(asked).into()
            }
            Self::PromptTokens => number(asked.prompt_tokens()),
            Self::MaxTokens => number(sample.max_tokens.unwrap_or(0)),
            Self::Groups => sample.caller.groups.iter().take(ENTRIES).map(|name| text(name)).collect::<Vec<_>>().into(),
            Self::Tags => map(sample.caller.tags.iter().map(|(name, value)| (&**name, &**value))),
            Self::Metadata => map(asked.metadata().iter().map(|(name, value)| (&**name, &**value))),
            Self::Headers => {
                let lines = sample.headers.iter().filter(|(name, _)| !is_secret(name));
                map(lines.filter_map(|(name, value)| Some((name.as_str(), shown(value)?))))
            }
            Self::Now => now(sample.now),
        }
    }
}

fn is_secret(name: &HeaderName) -> bool {
    SECRET.contains(&name.as_str())
}

/// The text of a header line; none where it is no text.
fn shown(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok()
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
