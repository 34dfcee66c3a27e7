//! What the types cannot say: names that must be different, names that must exist, and values that make no sense.

mod general;
mod keys;
mod models;
mod policies;
mod providers;
mod text;

use std::collections::BTreeMap;

use super::error::Problem;
use super::expand::{Lookup, is_variable_name};
use super::node::{Node, Path};
use super::{Conf, Guardrail, Rule};

/// Everything that is wrong with a configuration, in no particular order. What `when_set` leaves out is not looked at.
pub(super) fn check(conf: &Conf, root: &Node, origin: &str, env: &Lookup<'_>) -> Vec<Problem> {
    let mut checker = Checker { root, origin, env, problems: Vec::new() };
    general::check(&mut checker, conf);
    providers::check(&mut checker, conf);
    models::check(&mut checker, conf);
    keys::check(&mut checker, conf);
    policies::check(&mut checker, conf);
    checker.problems
}

/// Everything that is wrong with rules that stand alone under `root`.
pub(super) fn check_rules(rules: &[Rule], root: &Node) -> Vec<Problem> {
    let mut checker = Checker { root, origin: "", env: &|_| None, problems: Vec::new() };
    policies::rules(&mut checker, rules);
    checker.problems
}

/// Everything that is wrong with guardrails that stand alone under `root`.
pub(super) fn check_guardrails(guardrails: &[Guardrail], root: &Node) -> Vec<Problem> {
    let mut checker = Checker { root, origin: "", env: &|_| None, problems: Vec::new() };
    policies::guardrails(&mut checker, guardrails);
    checker.problems
}

/// Collects problems with their places.
struct Checker<'a> {
    root: &'a Node,
    origin: &'a str,
    env: &'a Lookup<'a>,
    problems: Vec<Problem>,
}

impl Checker<'_> {
    fn report(&mut self, path: &Path, message: impl Into<String>) {
        let mark = self.root.locate(path);
        self.problems.push(Problem {
            origin: self.origin.to_owned(),
            line: mark.line,
            column: mark.column,
            path: path.to_string(),
            message: message.into(),
        });
    }

    fn ensure(&mut self, holds: bool, path: &Path, message: impl Into<String>) {
        if !holds {
            self.report(path, message);
        }
    }

    /// Whether an entry exists; a `when_set` that cannot be a variable is reported.
    fn is_declared(&mut self, when_set: Option<&String>, path: &Path) -> bool {
        if let Some(name) = when_set
            && !is_variable_name(name)
        {
            self.report(&path.key("when_set"), format!("{name:?} is not the name of an environment variable"));
        }
        super::declared::exists(when_set, self.env)
    }

    /// Reports a name that was used before, and one that is empty or has control characters or outer spaces.
    fn name<'n>(&mut self, seen: &mut BTreeMap<&'n str, Path>, name: &'n str, path: Path) {
        if !text::is_name(name) {
            return self.report(&path, "expected a name of 1 to 256 characters, without control characters and spaces around it");
        }
        match seen.get(name) {
            Some(first) => self.report(&path, format!("the name {name:?} is already used by {first}")),
            None => drop(seen.insert(name, path)),
        }
    }
}

/// The path of a key below the document or a section.
fn at(keys: &[&str]) -> Path {
    keys.iter().fold(Path::default(), |path, key| path.key(key))
}

#[cfg(test)]
mod tests;
