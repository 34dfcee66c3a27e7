//! From a file to a configuration that has been checked.

use std::path::Path;

use super::error::{ConfError, Problem};
use super::expand::{Lookup, blank_undeclared, expand_tree};
use super::{Conf, de, declared, tree, validate};

impl Conf {
    /// Reads, expands and checks a file, with the process's environment.
    ///
    /// # Errors
    /// Where the file cannot be read, or something in it is wrong.
    pub fn load(path: &Path) -> Result<Self, ConfError> {
        let text = std::fs::read_to_string(path).map_err(|source| ConfError::Read { path: path.to_owned(), source })?;
        Self::parse(&text, &path.display().to_string(), &|name| std::env::var(name).ok())
    }

    /// Expands and checks a text; `origin` is its name in messages and `env` looks up variables.
    ///
    /// # Errors
    /// Where something in it is wrong.
    pub fn parse(text: &str, origin: &str, env: &Lookup<'_>) -> Result<Self, ConfError> {
        let mut tree = tree::read(text, origin).map_err(one)?;
        blank_undeclared(&mut tree, env);
        refuse(expand_tree(&mut tree, origin, env))?;
        let mut conf: Self = de::from_tree(&tree, origin).map_err(one)?;
        conf.complete();
        refuse(validate::check(&conf, &tree, origin, env))?;
        declared::prune(&mut conf, env);
        Ok(conf)
    }

    /// Fills in what follows from other values and drops credentials that turned out empty.
    fn complete(&mut self) {
        for provider in &mut self.providers {
            provider.keys.retain(|key| !key.is_empty());
            if provider.base_url.is_empty() {
                provider.base_url = provider.public_base_url().unwrap_or_default();
            }
            provider.base_url.truncate(provider.base_url.trim_end_matches('/').len());
        }
    }
}

#[expect(clippy::boxed_local, reason = "the steps before return it boxed to keep their results small")]
fn one(problem: Box<Problem>) -> ConfError {
    ConfError::Invalid { problems: vec![*problem] }
}

fn refuse(mut problems: Vec<Problem>) -> Result<(), ConfError> {
    problems.sort_by_key(|problem| (problem.line, problem.column));
    if problems.is_empty() { Ok(()) } else { Err(ConfError::Invalid { problems }) }
}
