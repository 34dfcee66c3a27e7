//! The four secrets of an installation: where they come from and which are refused.
//!
//! Each comes from the environment (the admin secret first from the configuration). With the embedded database a missing
//! one is generated into the data directory and found there at the next start, by whichever program starts first. With
//! PostgreSQL several machines must agree, so a missing one is refused.

mod stored;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use hkdf::Hkdf;
use sha2::{Digest, Sha256};

use crate::conf::{Conf, Lookup, Secret};

/// The fewest bytes of a secret.
const SHORTEST: usize = 32;
/// The fewest different bytes of a secret.
const FEWEST_DISTINCT: usize = 8;
/// How texts begin that were meant to be replaced, in lower case and without separators.
const PLACEHOLDERS: [&str; 12] = [
    "changeme",
    "changethis",
    "pleasechange",
    "replaceme",
    "replacethis",
    "placeholder",
    "insert",
    "yoursecret",
    "yourkey",
    "example",
    "default",
    "password",
];

/// The secrets of an installation, each strong enough. Never printed.
pub struct Secrets {
    admin: Secret,
    master_key: [u8; 32],
    key_pepper: Secret,
    jwt_key: Secret,
}

/// Why the programs must not start.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// With PostgreSQL every secret has to be given.
    #[error(
        "find the secrets: set {} to at least {SHORTEST} random bytes each (for example from `openssl rand -hex 32`); \
         only the embedded database generates missing ones",
        variables.join(", ")
    )]
    Missing {
        /// The variables that are not set.
        variables: Vec<&'static str>,
    },
    /// A secret that could be guessed.
    #[error("accept {place}: {weakness}; use at least {SHORTEST} random bytes, for example from `openssl rand -hex 32`")]
    Weak {
        /// Where it was found.
        place: String,
        /// What is wrong with it.
        weakness: Weakness,
    },
    /// A file in the data directory could not be created or read.
    #[error("keep a generated secret in {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What makes a secret weak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Weakness {
    /// Fewer than 32 bytes.
    #[error("it is too short")]
    Short,
    /// Fewer than eight different bytes.
    #[error("it repeats too few characters")]
    Repetitive,
    /// A text from some documentation.
    #[error("it is a placeholder")]
    Placeholder,
}

/// A key for one purpose from the master key; another purpose has another key.
#[must_use]
pub(crate) fn derived(master_key: &[u8], purpose: &[u8]) -> [u8; 32] {
    let mut key = [0; 32];
    #[expect(clippy::expect_used, reason = "HKDF-SHA-256 gives up to 8160 bytes")]
    Hkdf::<Sha256>::new(None, master_key).expand(purpose, &mut key).expect("HKDF-SHA-256 gives 32 bytes");
    key
}

/// One secret: its variable and its file in the data directory.
struct Source {
    variable: &'static str,
    file: &'static str,
}

const ADMIN: Source = Source { variable: "SVC_ADMIN_SECRET", file: "admin.secret" };
const MASTER: Source = Source { variable: "SVC_MASTER_KEY", file: "master.key" };
const PEPPER: Source = Source { variable: "SVC_KEY_PEPPER", file: "key.pepper" };
const JWT: Source = Source { variable: "SVC_JWT_KEY", file: "jwt.key" };

impl Secrets {
    /// Finds every secret, with the process's environment.
    ///
    /// # Errors
    /// Where one is missing or weak, or the data directory cannot be used.
    pub fn load(conf: &Conf) -> Result<Self, SecretsError> {
        Self::find(conf, &|name| std::env::var(name).ok())
    }

    /// Finds every secret; `env` looks up variables.
    ///
    /// # Errors
    /// Where one is missing or weak, or the data directory cannot be used.
    pub fn find(conf: &Conf, env: &Lookup<'_>) -> Result<Self, SecretsError> {
        let finder = Finder { env, declared_admin: &conf.admin.secret };
        let missing: Vec<_> =
            [ADMIN, MASTER, PEPPER, JWT].iter().filter(|source| finder.given(source).is_none()).map(|source| source.variable).collect();
        if !conf.database.is_embedded() && !missing.is_empty() {
            return Err(SecretsError::Missing { variables: missing });
        }
        let get = |source: &Source| finder.get(source, &conf.data_dir);
        let (admin, master, key_pepper, jwt_key) = (get(&ADMIN)?, get(&MASTER)?, get(&PEPPER)?, get(&JWT)?);
        Ok(Self { admin, master_key: Sha256::digest(master.reveal().as_bytes()).into(), key_pepper, jwt_key })
    }

    /// Opens `/admin`.
    #[must_use]
    pub const fn admin(&self) -> &Secret {
        &self.admin
    }

    /// Encrypts provider credentials in the database: SHA-256 of the text of `SVC_MASTER_KEY`.
    #[must_use]
    pub const fn master_key(&self) -> &[u8; 32] {
        &self.master_key
    }

    /// Peppers the hashes of key secrets: the bytes of `SVC_KEY_PEPPER`.
    #[must_use]
    pub fn key_pepper(&self) -> &[u8] {
        self.key_pepper.reveal().as_bytes()
    }

    /// Signs the console's sessions: the bytes of `SVC_JWT_KEY`.
    #[must_use]
    pub fn jwt_key(&self) -> &[u8] {
        self.jwt_key.reveal().as_bytes()
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(hidden)")
    }
}

struct Finder<'a> {
    env: &'a Lookup<'a>,
    declared_admin: &'a Secret,
}

impl Finder<'_> {
    /// A secret from the configuration or the environment, and where it was.
    fn given(&self, source: &Source) -> Option<(Secret, String)> {
        if source.variable == ADMIN.variable && !self.declared_admin.is_empty() {
            return Some((self.declared_admin.clone(), "`admin.secret` of the configuration".to_owned()));
        }
        let text = (self.env)(source.variable).filter(|text| !text.is_empty())?;
        Some((Secret::new(text), format!("the environment variable {}", source.variable)))
    }

    fn get(&self, source: &Source, data_dir: &Path) -> Result<Secret, SecretsError> {
        let (secret, place) = match self.given(source) {
            Some(given) => given,
            None => {
                let path = data_dir.join(source.file);
                let text = stored::read_or_create(&path).map_err(|source| SecretsError::File { path: path.clone(), source })?;
                (Secret::new(text), format!("the secret in {}", path.display()))
            }
        };
        match weakness_of(secret.reveal()) {
            None => Ok(secret),
            Some(weakness) => Err(SecretsError::Weak { place, weakness }),
        }
    }
}

/// What makes a secret weak, if anything does.
#[must_use]
pub fn weakness_of(secret: &str) -> Option<Weakness> {
    let start: String = secret.chars().filter(|c| c.is_alphanumeric()).take(16).flat_map(char::to_lowercase).collect();
    if PLACEHOLDERS.iter().any(|placeholder| start.starts_with(placeholder)) {
        return Some(Weakness::Placeholder);
    }
    if secret.trim().len() < SHORTEST {
        return Some(Weakness::Short);
    }
    let mut bytes: Vec<u8> = secret.bytes().collect();
    bytes.sort_unstable();
    bytes.dedup();
    (bytes.len() < FEWEST_DISTINCT).then_some(Weakness::Repetitive)
}

#[cfg(test)]
mod tests;
