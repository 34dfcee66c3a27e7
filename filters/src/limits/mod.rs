//! Caps on requests per minute: global, per role, per key.

mod filter;
mod window;

pub use filter::LimitsFilter;
pub use window::{Admission, Window};

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};

use crate::auth::Key;

/// Caps that are not a key's own.
#[derive(Clone, Debug, Default)]
pub struct Caps {
    /// Requests per sliding minute over all keys.
    pub global_rpm: Option<u32>,
    /// Requests per sliding minute by role id.
    pub role_rpm: HashMap<Arc<str>, u32>,
}

/// What a request may do, with the figures of the tightest cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// No cap applies.
    Unlimited,
    /// Admitted.
    Admitted {
        /// The tightest cap, requests per minute.
        limit: u32,
        /// What is left of it.
        remaining: u32,
    },
    /// Refused.
    Refused {
        /// The cap that was reached, requests per minute.
        limit: u32,
        /// When the next request can be admitted.
        retry_after: Duration,
        /// Whose cap it is.
        scope: Scope,
    },
}

/// Whose cap a decision rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All keys together.
    Global,
    /// The key's role.
    Role,
    /// The key itself.
    Key,
}

/// The counters of one process.
#[derive(Debug, Default)]
pub struct Limiter {
    windows: RwLock<Windows>,
}

/// One window per scope and id; the id of the global scope is empty.
type Windows = HashMap<(Scope, Arc<str>), Arc<Mutex<Window>>>;

impl Limiter {
    /// Counts one request of `key` at `now_ms` against every cap that applies, all or nothing, in the order global, role, key.
    pub fn admit(&self, caps: &Caps, key: &Key, now_ms: u64) -> Decision {
        let role = key.role.as_ref().and_then(|role| Some((Scope::Role, role.clone(), *caps.role_rpm.get(role)?)));
        let applying = [
            caps.global_rpm.map(|cap| (Scope::Global, Arc::from(""), cap)),
            role,
            key.rpm_limit.map(|cap| (Scope::Key, key.id.clone(), cap)),
        ];
        let mut windows: Vec<(Scope, u32, Arc<Mutex<Window>>)> = Vec::with_capacity(3);
        for (scope, id, cap) in applying.into_iter().flatten() {
            windows.push((scope, cap, self.window(scope, id)));
        }
        admit_all(&windows, now_ms)
    }

    fn window(&self, scope: Scope, id: Arc<str>) -> Arc<Mutex<Window>> {
        let name = (scope, id);
        if let Some(window) = self.windows.read().get(&name) {
            return window.clone();
        }
        self.windows.write().entry(name).or_default().clone()
    }
}

/// Holds every window while deciding, always in the same order, so that no request is counted in one and refused in another.
fn admit_all(windows: &[(Scope, u32, Arc<Mutex<Window>>)], now_ms: u64) -> Decision {
    let mut held: Vec<_> = windows.iter().map(|(scope, cap, window)| (*scope, *cap, window.lock())).collect();
    for (scope, cap, window) in &mut held {
        if let Admission::Refused { retry_after } = window.check(*cap, now_ms) {
            return Decision::Refused { limit: *cap, retry_after, scope: *scope };
        }
    }
    let mut decision = Decision::Unlimited;
    for (_, cap, window) in &mut held {
        window.count(now_ms);
        let left = cap.saturating_sub(window.used());
        match decision {
            Decision::Admitted { remaining, .. } if remaining <= left => {}
            _ => decision = Decision::Admitted { limit: *cap, remaining: left },
        }
    }
    decision
}
