//! Command line of the binary and settings of an instance started inside a test.

use std::net::SocketAddr;
use std::path::PathBuf;

/// What one instance listens on and accepts.
#[derive(Debug, Clone)]
pub struct Options {
    /// Address to bind; port 0 picks a free one.
    pub listen: SocketAddr,
    /// Credentials taken as valid. Empty: any text is.
    pub keys: Vec<String>,
    /// Certificate chain and private key, both PEM files; with them the port speaks TLS and offers HTTP/2.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// How many requests `GET /__seen` remembers.
    pub remembered: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { listen: SocketAddr::from(([127, 0, 0, 1], 0)), keys: Vec::new(), tls: None, remembered: 200 }
    }
}

/// What the command line asks for.
#[derive(Debug)]
pub enum Command {
    /// Print the help and end.
    Help,
    /// Serve with these options.
    Serve(Options),
}

/// Why a command line was not understood.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// An option nobody knows.
    #[error("understand the option {0}; see --help")]
    Unknown(String),
    /// An option without the value it needs.
    #[error("find a value after {0}")]
    NoValue(String),
    /// A value of the wrong form.
    #[error("read {value:?} as the value of {option}")]
    BadValue {
        /// The option.
        option: String,
        /// What followed it.
        value: String,
    },
    /// One TLS file without the other.
    #[error("use --tls-cert and --tls-key one without the other")]
    HalfTls,
}

impl Command {
    /// Reads the arguments that follow the program's name.
    ///
    /// # Errors
    /// Unknown options, missing or malformed values.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, OptionsError> {
        let mut arguments = arguments.into_iter();
        let mut options = Options { listen: SocketAddr::from(([127, 0, 0, 1], 3900)), ..Options::default() };
        let (mut cert, mut key) = (None, None);
        while let Some(option) = arguments.next() {
            if matches!(option.as_str(), "-h" | "--help") {
                return Ok(Self::Help);
            }
            let value = arguments.next().ok_or_else(|| OptionsError::NoValue(option.clone()));
            match option.as_str() {
                "--listen" => options.listen = read(&option, value?)?,
                "--key" => options.keys.push(value?),
                "--remember" => options.remembered = read(&option, value?)?,
                "--tls-cert" => cert = Some(PathBuf::from(value?)),
                "--tls-key" => key = Some(PathBuf::from(value?)),
                _ => return Err(OptionsError::Unknown(option)),
            }
        }
        options.tls = match (cert, key) {
            (Some(cert), Some(key)) => Some((cert, key)),
            (None, None) => None,
            _ => return Err(OptionsError::HalfTls),
        };
        Ok(Self::Serve(options))
    }
}

fn read<T: std::str::FromStr>(option: &str, value: String) -> Result<T, OptionsError> {
    value.parse().map_err(|_| OptionsError::BadValue { option: option.to_owned(), value })
}
