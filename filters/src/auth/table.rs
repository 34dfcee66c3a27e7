//! Look-up of a key by the secret a client presents.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Key, KeySecret, KeyStatus, Pepper, SecretHash};

/// What a presented secret turned out to be.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// No key has this secret.
    Unknown,
    /// The key exists but may not be used: disabled, revoked or expired.
    Refused(Arc<Key>),
    /// The key may be used.
    Valid(Arc<Key>),
}

/// Every key of the deployment, found in constant time by public id or hash.
#[derive(Debug)]
pub struct KeyTable {
    pepper: Pepper,
    minted: HashMap<Arc<str>, Arc<Key>>,
    declared: HashMap<SecretHash, Arc<Key>>,
}

impl KeyTable {
    /// Builds the table.
    #[must_use]
    pub fn new(pepper: Pepper, keys: impl IntoIterator<Item = Key>) -> Self {
        let mut table = Self { pepper, minted: HashMap::new(), declared: HashMap::new() };
        for key in keys {
            let key = Arc::new(key);
            match &key.public_id {
                Some(public_id) => table.minted.insert(public_id.clone(), key.clone()),
                None => table.declared.insert(key.secret, key.clone()),
            };
            if key.public_id.is_none()
                && let Some((previous, _)) = key.previous_secret
            {
                table.declared.insert(previous, key);
            }
        }
        table
    }

    /// Finds the key behind a secret at the time `now` (Unix milliseconds).
    #[must_use]
    pub fn find(&self, secret: &str, now: i64) -> Lookup {
        let Some((key, hash)) = self.candidate(secret) else { return Lookup::Unknown };
        let accepted = key.secret == hash || key.previous_secret.is_some_and(|(previous, until)| previous == hash && now < until);
        if !accepted {
            return Lookup::Unknown;
        }
        let expired = key.expires_at.is_some_and(|expiry| now >= expiry);
        if key.status != KeyStatus::Active || expired {
            return Lookup::Refused(key.clone());
        }
        Lookup::Valid(key.clone())
    }

    /// Number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.minted.len() + self.declared.len()
    }

    /// Whether there is no key at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn candidate(&self, secret: &str) -> Option<(&Arc<Key>, SecretHash)> {
        if KeySecret::has_minted_prefix(secret) {
            let key = self.minted.get(KeySecret::public_id_of(secret)?)?;
            return Some((key, self.pepper.hash(secret)));
        }
        let hash = self.pepper.hash(secret);
        Some((self.declared.get(&hash)?, hash))
    }
}
