//! Command lines: options with a value each, and what stands alone.

use anyhow::{Context, Result, bail};

/// A command's arguments.
pub(crate) struct Arguments {
    options: Vec<(String, String)>,
    plain: Vec<String>,
}

impl Arguments {
    /// Reads what follows the command: each of `known` at most once, and at most `plain` others.
    pub(crate) fn read(mut given: impl Iterator<Item = String>, known: &[&str], plain: usize) -> Result<Self> {
        let mut read = Self { options: Vec::new(), plain: Vec::new() };
        while let Some(argument) = given.next() {
            if known.contains(&argument.as_str()) {
                let value = given.next().with_context(|| format!("{argument} needs a value"))?;
                if read.get(&argument).is_some() {
                    bail!("{argument} is there twice");
                }
                read.options.push((argument, value));
            } else if (argument == "-" || !argument.starts_with('-')) && read.plain.len() < plain {
                read.plain.push(argument);
            } else {
                bail!("unknown argument {argument}; --help tells what there is");
            }
        }
        Ok(read)
    }

    /// An option's value.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(option, _)| option == name).map(|(_, value)| value.as_str())
    }

    /// The value of an option that has to be there.
    pub(crate) fn require(&self, name: &str) -> Result<&str> {
        self.get(name).with_context(|| format!("{name} is missing"))
    }

    /// The first argument that is no option.
    pub(crate) fn plain(&self) -> Option<&str> {
        self.plain.first().map(String::as_str)
    }
}
