//! Expressions so plain that a request answers them without the evaluator, which would have every header copied into a map of its
//! own first: texts and entries compared with a text, yes and no, and what is made of these. They mean the same either way.

use ::cel::IdedExpr;
use ::cel::common::ast::{CallExpr, Expr, LiteralValue, operators};
use http::HeaderName;

use super::variable::Variable;
use crate::routing::rules::sample::Asked;

/// What the evaluator says of an entry that is not there.
pub(super) const MISSING: &str = "a key is missing";

/// Why a plain expression is neither true nor false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    /// It has no value.
    Failed(&'static str),
    /// Only the evaluator can tell: more was given than it takes, and it knows what it leaves out.
    Unsure,
}

/// A plain expression.
#[derive(Debug)]
pub(super) enum Plain {
    Always(bool),
    Flag(Variable),
    Equal(Operand, Box<str>),
    Given(Entry),
    Not(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
}

/// Something that is a text.
#[derive(Debug)]
pub(super) enum Operand {
    Text(Variable),
    Entry(Entry),
}

/// An entry of a map.
#[derive(Debug)]
pub(super) enum Entry {
    Header(HeaderName),
    Of(Variable, Box<str>),
}

impl Plain {
    /// The expression, where it is plain.
    pub(super) fn of(part: &IdedExpr) -> Option<Self> {
        match &part.expr {
            Expr::Literal(LiteralValue::Boolean(value)) => Some(Self::Always(*value.inner())),
            Expr::Ident(name) => Variable::named(name).filter(|variable| variable.is_flag()).map(Self::Flag),
            Expr::Call(call) if call.target.is_none() => Self::call(call),
            _ => None,
        }
    }

    fn call(call: &CallExpr) -> Option<Self> {
        let part = |part: &IdedExpr| Self::of(part).map(Box::new);
        Some(match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::LOGICAL_NOT, [one]) => Self::Not(part(one)?),
            (operators::LOGICAL_AND, [left, right]) => Self::And(part(left)?, part(right)?),
            (operators::LOGICAL_OR, [left, right]) => Self::Or(part(left)?, part(right)?),
            (operators::EQUALS, [left, right]) => Self::equal(left, right)?,
            (operators::NOT_EQUALS, [left, right]) => Self::Not(Box::new(Self::equal(left, right)?)),
            (operators::IN, [name, map]) => Self::Given(Entry::of(map, literal(name)?)?),
            _ => return None,
        })
    }

    fn equal(left: &IdedExpr, right: &IdedExpr) -> Option<Self> {
        let (what, text) = match (literal(left), literal(right)) {
            (None, Some(text)) => (left, text),
            (Some(text), None) => (right, text),
            _ => return None,
        };
        Some(Self::Equal(Operand::of(what)?, text.into()))
    }

    /// Whether it is true of a request.
    pub(super) fn holds(&self, asked: &Asked<'_>) -> Result<bool, Open> {
        match self {
            Self::Always(value) => Ok(*value),
            Self::Flag(variable) => Ok(variable.flag(asked)),
            Self::Equal(operand, text) => operand.value(asked).map(|value| *value == **text),
            Self::Given(entry) => match entry.value(asked) {
                Err(Open::Failed(_)) => Ok(false),
                found => found.map(|_| true),
            },
            Self::Not(part) => part.holds(asked).map(|holds| !holds),
            Self::And(left, right) => joined(false, left, right, asked),
            Self::Or(left, right) => joined(true, left, right, asked),
        }
    }
}

/// Two parts of which either decides by being `decisive`, whatever is wrong with the other.
fn joined(decisive: bool, left: &Plain, right: &Plain, asked: &Asked<'_>) -> Result<bool, Open> {
    match left.holds(asked) {
        Ok(first) if first == decisive => Ok(decisive),
        Err(Open::Unsure) => Err(Open::Unsure),
        first => match right.holds(asked)? {
            second if second == decisive => Ok(decisive),
            _ => first,
        },
    }
}

fn literal(part: &IdedExpr) -> Option<&str> {
    match &part.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner()),
        _ => None,
    }
}

impl Operand {
    fn of(part: &IdedExpr) -> Option<Self> {
        match &part.expr {
            Expr::Ident(name) => Variable::named(name).filter(|variable| variable.is_text()).map(Self::Text),
            Expr::Call(call) if call.target.is_none() && call.func_name == operators::INDEX => match call.args.as_slice() {
                [map, name] => Entry::of(map, literal(name)?).map(Self::Entry),
                _ => None,
            },
            _ => None,
        }
    }

    fn value<'a>(&self, asked: &'a Asked<'_>) -> Result<&'a str, Open> {
        match self {
            Self::Text(variable) => Ok(variable.text(asked)),
            Self::Entry(entry) => entry.value(asked),
        }
    }
}

impl Entry {
    fn of(map: &IdedExpr, name: &str) -> Option<Self> {
        let Expr::Ident(map) = &map.expr else { return None };
        match Variable::named(map)? {
            // Names of headers are in lower case: under any other nothing is found.
            Variable::Headers => HeaderName::from_lowercase(name.as_bytes()).ok().map(Self::Header),
            map @ (Variable::Tags | Variable::Metadata) => Some(Self::Of(map, name.into())),
            _ => None,
        }
    }

    fn value<'a>(&self, asked: &'a Asked<'_>) -> Result<&'a str, Open> {
        let found = match self {
            Self::Header(name) => Variable::header(asked, name),
            Self::Of(map, name) => map.entry(asked, name),
        };
        found.ok_or(Open::Unsure)?.ok_or(Open::Failed(MISSING))
    }
}
