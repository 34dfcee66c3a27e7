//! Expressions in the Common Expression Language: what may be written, and how it is evaluated.
//!
//! An expression is measured when it is compiled (`survey.rs`), for the largest values it can be given. One that could take
//! long or grow large is refused there, so that evaluation needs no clock.

mod plain;
mod survey;
#[cfg(test)]
mod tests;
mod values;
mod variable;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};

use ::cel::extractors::This;
use ::cel::parser::{ParseError, Parser};
use ::cel::{Context, Env, ExecutionError, IdedExpr, Value};
use regex::Regex;

use self::plain::{MISSING, Open, Plain};
use self::survey::survey;
pub(super) use self::values::Values;
use self::variable::Variable;
use super::Unknown;
use super::sample::Asked;

/// The longest expression, in bytes.
const LONGEST: usize = 2048;
/// How deep expressions may nest.
const DEEPEST: u16 = 24;
/// What the parser may put on its stack for an expression of the greatest length.
const STACK: usize = 32 << 20;

static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::default().with_optional_support(false).with_stdlib()));

/// What is wrong with an expression, and where; both count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub(super) struct CelError {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) message: String,
}

/// An expression that is true or false of a request.
#[derive(Debug)]
pub(super) struct Expression {
    ast: IdedExpr,
    /// The same, where it needs no evaluator.
    plain: Option<Plain>,
    variables: Vec<Variable>,
    /// Patterns of `matches`, by their text.
    patterns: Arc<HashMap<String, Regex>>,
}

impl Expression {
    /// Parses and measures an expression. The parser calls itself, so that it gets a stack of its own.
    pub(super) fn compile(text: &str) -> Result<Self, CelError> {
        if text.len() > LONGEST {
            return Err(CelError { line: 1, column: 1, message: format!("expected an expression of {LONGEST} bytes or less") });
        }
        let broken = || unreadable(&[]);
        let source = text.to_owned();
        let parser = std::thread::Builder::new().stack_size(STACK).spawn(move || parse(&source));
        parser.map_err(|_| broken())?.join().unwrap_or_else(|_| Err(broken()))
    }

    /// Whether the expression is true of a request. Errors name no value, which may be a secret.
    pub(super) fn holds(&self, asked: &Asked<'_>) -> Result<bool, &'static str> {
        match self.plain.as_ref().map(|plain| plain.holds(asked)) {
            Some(Ok(holds)) => Ok(holds),
            Some(Err(Open::Failed(reason))) => Err(reason),
            Some(Err(Open::Unsure)) | None => self.evaluated(asked),
        }
    }

    fn evaluated(&self, asked: &Asked<'_>) -> Result<bool, &'static str> {
        match catch_unwind(AssertUnwindSafe(|| self.evaluate(asked))) {
            Ok(Ok(Value::Bool(holds))) => Ok(holds),
            Ok(Ok(_)) => Err("the result is neither true nor false"),
            Ok(Err(error)) => Err(reason(&error)),
            Err(_) => Err("the evaluation broke off"),
        }
    }

    /// Whether it asks for something of these facts.
    pub(super) fn asks(&self, unknown: Unknown) -> bool {
        self.variables.iter().any(|variable| variable.fact().is_some_and(|fact| unknown.has(fact)))
    }

    fn evaluate(&self, asked: &Asked<'_>) -> Result<Value, ExecutionError> {
        let mut context = Context::with_env(ENVIRONMENT.clone());
        for variable in &self.variables {
            asked.values.supply(*variable, asked);
        }
        context.set_variable_resolver(&asked.values);
        if !self.patterns.is_empty() {
            let patterns = self.patterns.clone();
            let matches = move |This(text): This<Arc<String>>, pattern: Arc<String>| {
                patterns.get(&**pattern).is_some_and(|pattern| pattern.is_match(&text))
            };
            context.add_function("matches", matches).map_err(|error| ExecutionError::function_error("matches", error))?;
        }
        Value::resolve(&self.ast, &context)
    }
}

fn parse(text: &str) -> Result<Expression, CelError> {
    let parsed = Parser::new().max_recursion_depth(DEEPEST).parse_with_source_info(text);
    let (ast, places) = parsed.map_err(|errors| unreadable(&errors.errors))?;
    let found = survey(text, &ast, &places)?;
    let plain = Plain::of(&ast);
    Ok(Expression { ast, plain, variables: found.variables, patterns: Arc::new(found.patterns) })
}

/// The first error of the grammar, or else the first of all: others follow from it.
fn unreadable(errors: &[ParseError]) -> CelError {
    const GRAMMAR: &str = "Syntax error: ";
    let of_grammar = errors.iter().find_map(|error| Some((error, error.msg.strip_prefix(GRAMMAR)?)));
    let Some((error, message)) = of_grammar.or_else(|| errors.first().map(|error| (error, &*error.msg))) else {
        return CelError { line: 1, column: 1, message: "the expression cannot be read".to_owned() };
    };
    let [line, column] = [error.pos.0, error.pos.1].map(|number| usize::try_from(number).unwrap_or(1).max(1));
    let message = message.lines().next().unwrap_or_default();
    let message = message.split_once(" expecting {").map_or(message, |(what, _)| what);
    CelError { line, column, message: message.to_owned() }
}

/// The line and column of an offset in bytes.
fn place(text: &str, offset: u32) -> (usize, usize) {
    let before = usize::try_from(offset).ok().and_then(|offset| text.get(..offset)).unwrap_or_default();
    (before.matches('\n').count() + 1, before.rsplit('\n').next().unwrap_or_default().chars().count() + 1)
}

/// The kind of an error.
fn reason(error: &ExecutionError) -> &'static str {
    match error {
        ExecutionError::NoSuchKey(_) => MISSING,
        ExecutionError::NoSuchOverload(_)
        | ExecutionError::ValuesNotComparable(..)
        | ExecutionError::UnsupportedBinaryOperator(..)
        | ExecutionError::UnexpectedType { .. }
        | ExecutionError::UnsupportedTargetType { .. }
        | ExecutionError::NotSupportedAsMethod { .. }
        | ExecutionError::UnsupportedKeyType(_)
        | ExecutionError::UnsupportedIndex(..) => "a value has the wrong type",
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => "a division by zero",
        ExecutionError::Overflow(..) => "a number is too large",
        ExecutionError::IndexOutOfBounds(_) => "an index is out of bounds",
        ExecutionError::InvalidArgumentCount { .. } | ExecutionError::MissingArgumentOrTarget => "a function has the wrong arguments",
        ExecutionError::UndeclaredReference(_) => "a name is not known",
        _ => "the evaluation failed",
    }
}
