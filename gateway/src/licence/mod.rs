//! The licence: which edition's functions are there, and what may be created.
//!
//! It is read once, at start, from `SVC_LICENSE_KEY`; only a restart changes what was decided. Requests of clients never depend on
//! it: what exists keeps working, and what needs an edition is refused where it is created or changed.

mod banner;
mod cache;
mod change;
mod crypto;
mod feature;
pub mod keys;
mod spki;
pub mod state;
pub mod token;

use std::ffi::OsString;
use std::sync::Arc;

pub use banner::Banner;
use cache::Cache;
pub use change::tell_change;
pub use feature::{Feature, TierGated};
use keys::VerifyingKey;
use state::{Environment, Resolved, Source, Tier, resolve};

use crate::conf::Conf;
use crate::secrets::Secrets;

/// Whether this is the Enterprise build.
pub const ENTERPRISE_BUILD: bool = cfg!(feature = "enterprise");
/// Holds the licence.
const VARIABLE: &str = "SVC_LICENSE_KEY";
/// Seconds of a day.
pub const DAY: i64 = 86_400;

/// What a build or a licence has the functions of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edition {
    /// Everything but what is the Enterprise edition's own.
    Community,
    /// Everything.
    Enterprise,
}

/// What recovery mode bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capped {
    /// Keys, whatever their status.
    ApiKeys,
    /// Users, whatever their status.
    Users,
}

/// What was decided at start. Clones are cheap.
#[derive(Clone, Debug)]
pub struct Licence(Arc<Decided>);

#[derive(Debug)]
struct Decided {
    resolved: Resolved,
    build: Edition,
}

impl Licence {
    /// Reads the environment, decides, and keeps a licence that is good; `now` is Unix seconds.
    #[must_use]
    pub fn at_start(conf: &Conf, secrets: &Secrets, now: i64) -> Self {
        let build = if ENTERPRISE_BUILD { Edition::Enterprise } else { Edition::Community };
        let cache = Cache::new(conf.data_dir.join(&conf.licence.cache), secrets.master_key());
        Self::new(decide(std::env::var_os(VARIABLE), &keys::trusted(), &cache, now), build)
    }

    /// A decision, in a build of an edition.
    #[must_use]
    pub fn new(resolved: Resolved, build: Edition) -> Self {
        Self(Arc::new(Decided { resolved, build }))
    }

    /// What was decided.
    #[must_use]
    pub fn resolved(&self) -> &Resolved {
        &self.0.resolved
    }

    /// Whose functions were built.
    #[must_use]
    pub fn build(&self) -> Edition {
        self.0.build
    }

    /// Whose functions are there: Enterprise only where both the build and the licence say so.
    #[must_use]
    pub fn edition(&self) -> Edition {
        match (self.0.build, self.0.resolved.tier) {
            (Edition::Enterprise, Tier::Licensed(Edition::Enterprise)) => Edition::Enterprise,
            _ => Edition::Community,
        }
    }

    /// Whether the Enterprise edition's functions are there.
    #[must_use]
    pub fn is_enterprise(&self) -> bool {
        self.edition() == Edition::Enterprise
    }

    /// How many there may be of something for another one to be created; `None` without bounds. Community licences have none: only
    /// recovery mode has.
    #[must_use]
    pub fn cap(&self, what: Capped) -> Option<u64> {
        (self.0.resolved.tier == Tier::Recovery).then_some(match what {
            Capped::ApiKeys => 25,
            Capped::Users => 5,
        })
    }

    /// Asks for a function.
    ///
    /// # Errors
    /// Where the edition in force does not have it.
    pub fn require(&self, feature: Feature) -> Result<(), TierGated> {
        let is_there = match feature {
            // Who watches over a gateway should not be blind when its licence ends.
            Feature::Metrics => self.0.build == Edition::Enterprise,
            _ => self.is_enterprise() || feature.edition() == Edition::Community,
        };
        if is_there { Ok(()) } else { Err(TierGated { feature }) }
    }
}

impl Edition {
    /// Its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Community => "community",
            Self::Enterprise => "enterprise",
        }
    }

    /// The edition of a word.
    #[must_use]
    pub fn called(word: &str) -> Option<Self> {
        [Self::Community, Self::Enterprise].into_iter().find(|edition| edition.as_str() == word)
    }
}

/// Decides by what the variable holds. A licence that serves is cached.
fn decide(value: Option<OsString>, keys: &[VerifyingKey], cache: &Cache, now: i64) -> Resolved {
    let token = value.as_ref().map(|value| value.to_str().map(str::trim));
    let environment = match token {
        None | Some(Some("")) => Environment::Missing,
        Some(None) => Environment::Unusable("it is not text".to_owned()),
        Some(Some(token)) => match token::verify(token, keys, now) {
            Ok(verified) => Environment::Valid(verified.claims),
            Err(error) => Environment::Unusable(error.to_string()),
        },
    };
    if let Environment::Unusable(reason) = &environment {
        log::error!("the licence in {VARIABLE} cannot be used: {reason}");
    }
    let resolved = resolve(environment, || cache.read(keys, now), now);
    if let (Source::Environment, Tier::Licensed(_), Some(Some(token))) = (resolved.source, resolved.tier, token)
        && let Err(error) = cache.write(token, now)
    {
        log::warn!("failed to keep a copy of the licence: {error}");
    }
    resolved
}

#[cfg(test)]
mod tests;
