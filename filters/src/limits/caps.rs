//! What is capped, and for whom.

use std::collections::HashMap;
use std::sync::Arc;

use crate::auth::Key;

/// Caps of one scope. `None` is no cap, 0 blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cap {
    /// Requests in any 60 seconds.
    pub rpm: Option<u32>,
    /// Tokens in any 60 seconds.
    pub tpm: Option<u64>,
    /// Requests at the same time.
    pub parallel: Option<u32>,
}

impl Cap {
    /// Whether nothing is capped.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.rpm.is_none() && self.tpm.is_none() && self.parallel.is_none()
    }
}

/// Caps that are not a key's own.
#[derive(Clone, Debug, Default)]
pub struct Caps {
    /// Over all keys.
    pub global: Cap,
    /// By role id. Roles without a cap are left out.
    pub roles: HashMap<Arc<str>, Cap>,
}

/// Whose cap it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All keys together.
    Global,
    /// The key's role.
    Role,
    /// The key itself.
    Key,
}

impl Scope {
    /// The name in stores and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Role => "role",
            Self::Key => "key",
        }
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Requests per minute.
    Requests,
    /// Tokens per minute.
    Tokens,
    /// Requests at the same time.
    Parallel,
}

/// Caps that apply, whose they are, and the id of the role or key.
pub(super) type Applying<'a> = Option<(Scope, Option<&'a Arc<str>>, Cap)>;

/// The caps a request of `key` is under, in the order they are asked.
pub(super) fn applying<'a>(caps: &'a Caps, key: &'a Key) -> [Applying<'a>; 3] {
    let role = key.role.as_ref().and_then(|role| Some((Scope::Role, Some(role), *caps.roles.get(role)?)));
    let own = Cap { rpm: key.rpm_limit, tpm: key.tpm_limit, parallel: key.max_parallel };
    [Some((Scope::Global, None, caps.global)), role, Some((Scope::Key, Some(&key.id), own))]
        .map(|found| found.filter(|(.., cap)| !cap.is_none()))
}
