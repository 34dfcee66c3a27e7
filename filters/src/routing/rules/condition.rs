//! The conditions of one rule, the cheapest first.

use http::HeaderName;
use serde::Serialize;

use super::cel::Expression;
use super::names::Names;
use super::sample::Asked;
use super::window::Window;
use super::{Fact, Owner, RuleError, RuleSpec, Unknown};
use crate::routing::ModelTable;

/// A condition by the field it is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names in the configuration say it")]
pub enum Condition {
    #[serde(rename = "scope.owners")]
    ScopeOwners,
    #[serde(rename = "scope.keys")]
    ScopeKeys,
    #[serde(rename = "scope.teams")]
    ScopeTeams,
    #[serde(rename = "scope.applications")]
    ScopeApplications,
    #[serde(rename = "scope.groups")]
    ScopeGroups,
    #[serde(rename = "when.models")]
    Models,
    #[serde(rename = "when.owners")]
    Owners,
    #[serde(rename = "when.teams")]
    Teams,
    #[serde(rename = "when.tags")]
    Tags,
    #[serde(rename = "when.metadata")]
    Metadata,
    #[serde(rename = "when.prompt_tokens")]
    PromptTokens,
    #[serde(rename = "when.tools")]
    Tools,
    #[serde(rename = "when.images")]
    Images,
    #[serde(rename = "when.stream")]
    Stream,
    #[serde(rename = "when.time")]
    Time,
    #[serde(rename = "when.headers")]
    Headers,
    #[serde(rename = "when.cel")]
    Cel,
    #[serde(rename = "spend")]
    Spend,
    #[serde(rename = "sticky")]
    Sticky,
}

impl Condition {
    /// What it asks about a request, beside what is always known.
    const fn fact(self) -> Option<Fact> {
        match self {
            Self::ScopeOwners
            | Self::ScopeKeys
            | Self::ScopeTeams
            | Self::ScopeApplications
            | Self::ScopeGroups
            | Self::Owners
            | Self::Teams
            | Self::Tags => Some(Fact::Caller),
            Self::Metadata => Some(Fact::Metadata),
            Self::PromptTokens => Some(Fact::PromptTokens),
            Self::Tools => Some(Fact::Tools),
            Self::Images => Some(Fact::Images),
            Self::Headers => Some(Fact::Headers),
            Self::Sticky => Some(Fact::EndUser),
            Self::Models | Self::Stream | Self::Time | Self::Cel | Self::Spend => None,
        }
    }
}

/// Why a rule does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unmet {
    /// The condition does not hold.
    No(Condition),
    /// The condition could not be evaluated.
    Failed(Condition, &'static str),
    /// Nobody knows what the condition asks for, and the others hold.
    Unknown(Condition),
}

/// What is compared with a request.
#[derive(Debug)]
enum Test {
    Flag(bool),
    Names(Names),
    Owners(Box<[Owner]>),
    Pairs(Box<[(Box<str>, Box<str>)]>),
    Headers(Box<[(HeaderName, Box<str>)]>),
    Range(u64, u64),
    Time(Window),
    Cel(Box<Expression>),
}

/// All that has to hold.
#[derive(Debug)]
pub(super) struct Conditions(Vec<(Condition, Test)>);

impl Conditions {
    pub(super) fn compile(spec: &RuleSpec) -> Result<Self, RuleError> {
        let (scope, when) = (&spec.scope, &spec.when);
        let flag = |flag: Option<bool>| flag.map(Test::Flag);
        let names = |list: &[String]| (!list.is_empty()).then(|| Test::Names(Names::new(list.iter().map(String::as_str))));
        let owners = |list: &[Owner]| (!list.is_empty()).then(|| Test::Owners(list.iter().map(normal).collect()));
        let pairs = |map: &std::collections::BTreeMap<String, String>| {
            let pair = |(name, value): (&String, &String)| (Box::from(&**name), Box::from(&**value));
            (!map.is_empty()).then(|| Test::Pairs(map.iter().map(pair).collect()))
        };
        let range = when.prompt_tokens.as_ref().filter(|range| range.min.is_some() || range.max.is_some());
        let cel = when.cel.as_deref().map(Expression::compile).transpose().map_err(|error| spec.wrong("when.cel", error.to_string()))?;
        let all = [
            (Condition::Stream, flag(when.stream)),
            (Condition::Tools, flag(when.tools)),
            (Condition::Images, flag(when.images)),
            (Condition::Models, names(&when.models)),
            (Condition::ScopeTeams, names(&scope.teams)),
            (Condition::ScopeApplications, names(&scope.applications)),
            (Condition::ScopeKeys, names(&scope.keys)),
            (Condition::ScopeOwners, owners(&scope.owners)),
            (Condition::ScopeGroups, names(&scope.groups)),
            (Condition::Teams, names(&when.teams)),
            (Condition::Owners, owners(&when.owners)),
            (Condition::Time, when.time.as_ref().map(|window| Test::Time(Window::new(window)))),
            (Condition::Tags, pairs(&when.tags)),
            (Condition::Headers, headers(spec)?),
            (Condition::Metadata, pairs(&when.metadata)),
            (Condition::PromptTokens, range.map(|range| Test::Range(range.min.unwrap_or(0), range.max.unwrap_or(u64::MAX)))),
            (Condition::Cel, cel.map(|cel| Test::Cel(Box::new(cel)))),
        ];
        Ok(Self(all.into_iter().filter_map(|(condition, test)| Some((condition, test?))).collect()))
    }

    /// Writes models by their canonical names.
    pub(super) fn link(&mut self, models: &ModelTable) {
        for (condition, test) in &mut self.0 {
            if let (Condition::Models, Test::Names(names)) = (condition, test) {
                *names = Names::new(names.iter().map(|name| models.find(name).map_or(name, |model| &model.name)));
            }
        }
    }

    /// The first condition that does not hold.
    #[inline]
    pub(super) fn check(&self, asked: &Asked<'_>) -> Result<(), Unmet> {
        let mut open = None;
        for (condition, test) in &self.0 {
            if test.is_open(*condition, asked.sample.unknown) {
                open.get_or_insert(*condition);
                continue;
            }
            let holds = test.holds(*condition, asked).map_err(|reason| Unmet::Failed(*condition, reason))?;
            if !holds {
                return Err(Unmet::No(*condition));
            }
        }
        open.map_or(Ok(()), |condition| Err(Unmet::Unknown(condition)))
    }
}

impl Test {
    /// Whether it asks for what is not known.
    #[inline]
    fn is_open(&self, condition: Condition, unknown: Unknown) -> bool {
        if unknown.is_empty() {
            return false;
        }
        match self {
            Self::Cel(expression) => expression.asks(unknown),
            _ => condition.fact().is_some_and(|fact| unknown.has(fact)),
        }
    }

    #[inline]
    fn holds(&self, condition: Condition, asked: &Asked<'_>) -> Result<bool, &'static str> {
        let sample = asked.sample;
        Ok(match self {
            Self::Flag(wanted) => match condition {
                Condition::Stream => sample.stream == *wanted,
                Condition::Tools => sample.tools == *wanted,
                _ => sample.images == *wanted,
            },
            Self::Names(names) => match condition {
                Condition::Models => names.contains(asked.model),
                Condition::ScopeKeys => names.contains(sample.key_name),
                Condition::ScopeApplications => sample.caller.application.as_ref().is_some_and(|name| names.contains(name)),
                Condition::ScopeGroups => sample.caller.groups.iter().any(|name| names.contains(name)),
                _ => sample.caller.team.as_ref().is_some_and(|name| names.contains(name)),
            },
            Self::Owners(owners) => asked.owner().is_some_and(|owner| owners.contains(owner)),
            Self::Pairs(pairs) => {
                let given = if condition == Condition::Tags { &sample.caller.tags } else { asked.metadata() };
                pairs.iter().all(|(name, value)| given.get(&**name).is_some_and(|given| **given == **value))
            }
            Self::Headers(lines) => {
                lines.iter().all(|(name, value)| sample.headers.get_all(name).iter().any(|given| given.as_bytes() == value.as_bytes()))
            }
            Self::Range(min, max) => (*min..=*max).contains(&asked.prompt_tokens()),
            Self::Time(window) => window.contains(sample.now),
            Self::Cel(expression) => return expression.holds(asked),
        })
    }
}

/// E-mail addresses are kept in lower case.
pub(super) fn normal(owner: &Owner) -> Owner {
    match owner {
        Owner::User(email) => Owner::User(email.to_lowercase()),
        Owner::Agent(name) => Owner::Agent(name.clone()),
    }
}

fn headers(spec: &RuleSpec) -> Result<Option<Test>, RuleError> {
    let mut lines = Vec::with_capacity(spec.when.headers.len());
    for (name, value) in &spec.when.headers {
        let known = HeaderName::from_bytes(name.as_bytes());
        let known = known.map_err(|_| spec.wrong("when.headers", format!("`{name}` is not the name of a header")))?;
        lines.push((known, Box::from(&**value)));
    }
    Ok((!lines.is_empty()).then(|| Test::Headers(lines.into_boxed_slice())))
}
