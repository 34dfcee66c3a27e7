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

    /// The key of this id, or else every key of this name: names need not be unique.
    #[must_use]
    pub fn called(&self, name: &str) -> Vec<Arc<Key>> {
        let all = || self.minted.values().chain(self.declared.values());
        if let Some(key) = all().find(|key| &*key.id == name) {
            return vec![key.clone()];
        }
        let mut found: Vec<Arc<Key>> = all().filter(|key| &*key.name == name).cloned().collect();
        // A key is there twice while its secret before the last rotation is accepted.
        found.sort_by(|one, other| one.id.cmp(&other.id));
        found.dedup_by(|one, other| one.id == other.id);
        found
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::{Caller, Owner};

    fn key(id: &str, name: &str) -> Key {
        let pepper = Pepper::new(&[7; 32]);
        Key {
            id: id.into(),
            name: name.into(),
            public_id: None,
            secret: pepper.hash(id),
            previous_secret: Some((pepper.hash(&format!("previous of {id}")), 1)),
            owner: Owner::Agent("a".into()),
            team: None,
            application: None,
            role: None,
            allowed_models: None,
            rpm_limit: None,
            tpm_limit: None,
            max_parallel: None,
            expires_at: None,
            status: KeyStatus::Active,
            caller: Caller::default(),
            tags: None,
            translation: None,
        }
    }

    #[test]
    fn a_key_is_called_by_its_id_before_its_name_and_told_once() {
        let table = KeyTable::new(Pepper::new(&[7; 32]), [key("1", "laptop"), key("2", "laptop"), key("3", "1"), key("4", "batch")]);
        let called = |name: &str| table.called(name).iter().map(|key| key.id.to_string()).collect::<Vec<_>>();
        assert_eq!(called("1"), ["1"]);
        assert_eq!(called("batch"), ["4"], "although its secret before the rotation leads to it, too");
        assert_eq!(called("laptop"), ["1", "2"]);
        assert!(called("nobody").is_empty());
    }
}
