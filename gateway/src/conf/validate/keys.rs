//! `keys`: names and secrets must differ, and a secret must be one that clients can send and nobody can guess.

use std::collections::BTreeMap;

use svc_filters::auth::KeySecret;

use super::super::node::Path;
use super::super::{Conf, Key, Owner};
use super::text::is_name;
use super::{Checker, at};

const SHORTEST: usize = 16;

pub(super) fn check(checker: &mut Checker<'_>, conf: &Conf) {
    let mut names = BTreeMap::new();
    let mut secrets: BTreeMap<&str, Path> = BTreeMap::new();
    for (index, key) in conf.keys.iter().enumerate() {
        let path = at(&["keys"]).index(index);
        if !checker.is_declared(key.when_set.as_ref(), &path) {
            continue;
        }
        checker.name(&mut names, &key.name, path.key("name"));
        owner(checker, key, &path);
        let path = path.key("secret");
        if let Some(wrong) = wrong_with_secret(key.secret.reveal()) {
            checker.report(&path, wrong);
        } else if let Some(first) = secrets.insert(key.secret.reveal(), path.clone()) {
            checker.report(&path, format!("the same secret as {first}"));
        }
    }
}

fn owner(checker: &mut Checker<'_>, key: &Key, path: &Path) {
    let (name, kind) = match &key.owner {
        Owner::User(name) => (name, "user"),
        Owner::Agent(name) => (name, "agent"),
    };
    checker.ensure(is_name(name), &path.key("owner").key(kind), "expected the owner's name");
}

fn wrong_with_secret(secret: &str) -> Option<&'static str> {
    if secret.is_empty() {
        return Some("the secret is empty; with `when_set` the key is declared only where its variable is set");
    }
    if !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Some("the secret must consist of printable ASCII characters without spaces");
    }
    if secret.len() < SHORTEST {
        return Some("the secret must have 16 characters or more");
    }
    let claims_and_is_not = KeySecret::has_minted_prefix(secret) && KeySecret::public_id_of(secret).is_none();
    claims_and_is_not.then_some("a secret that starts with sk-svc- must be a whole minted one; this one is mistyped or cut off")
}
