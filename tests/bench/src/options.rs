//! Command-line options of the three programs: `--name value` pairs, nothing else.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail, ensure};

/// The `--name value` pairs a program was started with.
#[derive(Debug, Clone)]
pub struct Options {
    pairs: Vec<(String, String)>,
}

impl Options {
    /// Reads the pairs and refuses every name that is not in `known`.
    ///
    /// # Errors
    /// When an argument is not a known `--name`, or a name has no value.
    pub fn parse(args: impl IntoIterator<Item = String>, known: &[&str]) -> Result<Self> {
        let mut args = args.into_iter();
        let mut pairs = Vec::new();
        while let Some(argument) = args.next() {
            let Some(name) = argument.strip_prefix("--").filter(|name| known.contains(name)) else {
                bail!("understand {argument:?}; the options are --{}", known.join(" --"));
            };
            let value = args.next().with_context(|| format!("find a value after --{name}"))?;
            pairs.push((name.to_owned(), value));
        }
        Ok(Self { pairs })
    }

    /// Every value given for `name`, in order.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().filter(move |(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// The last value given for `name`.
    pub fn text<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.all(name).last()
    }

    /// The whole number given for `name`, or `None`.
    ///
    /// # Errors
    /// When the value is not a whole number.
    pub fn number(&self, name: &str) -> Result<Option<u64>> {
        self.text(name).map(|value| value.parse().with_context(|| format!("read --{name} as a whole number"))).transpose()
    }

    /// The address given for `name`. Only loopback is accepted: none of these programs is meant for a network.
    ///
    /// # Errors
    /// When it is missing, is not `ip:port`, or is not a loopback address.
    pub fn loopback(&self, name: &str) -> Result<SocketAddr> {
        let value = self.text(name).with_context(|| format!("find --{name} ip:port"))?;
        let address: SocketAddr = value.parse().with_context(|| format!("read --{name} as ip:port"))?;
        ensure!(address.ip().is_loopback(), "accept --{name} {address}: it is not a loopback address");
        Ok(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options> {
        Options::parse(args.iter().map(|a| (*a).to_owned()), &["listen", "header"])
    }

    #[test]
    fn repeated_options_keep_their_order() {
        let options = parse(&["--header", "a: 1", "--header", "b: 2"]).unwrap();
        assert_eq!(options.all("header").collect::<Vec<_>>(), ["a: 1", "b: 2"]);
        assert_eq!(options.text("header"), Some("b: 2"));
    }

    #[test]
    fn unknown_names_and_missing_values_are_refused() {
        assert!(parse(&["--port", "1"]).is_err());
        assert!(parse(&["--listen"]).is_err());
    }

    #[test]
    fn only_loopback_addresses_are_accepted() {
        assert!(parse(&["--listen", "127.0.0.1:0"]).unwrap().loopback("listen").is_ok());
        assert!(parse(&["--listen", "0.0.0.0:0"]).unwrap().loopback("listen").is_err());
    }
}
