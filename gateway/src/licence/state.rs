//! Which tier holds, decided once at start from the environment's licence, the cached one and the time.

use super::token::Claims;
use super::{DAY, Edition};

/// How long before it expires a licence is said to, and how long after that it still serves.
pub const WINDOW: i64 = 30 * DAY;
/// A cached licence is used while it was verified less than this ago.
const CACHED_FOR: i64 = 30 * DAY;
/// How far ahead the clock may have been that verified a cached licence.
const SKEW: i64 = DAY;

/// What `SVC_LICENSE_KEY` holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Environment {
    /// Nothing, or only blanks.
    Missing,
    /// Something that is no licence, and why.
    Unusable(String),
    /// A licence, expired or not.
    Valid(Claims),
}

/// The licence that was last found good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cached {
    /// What it says.
    pub claims: Claims,
    /// When it came from the environment: Unix seconds.
    pub verified_at: i64,
}

/// What the licence allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The community's functions, with caps on what is created.
    Recovery,
    /// Those of an edition.
    Licensed(Edition),
}

/// Where the tier comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `SVC_LICENSE_KEY`.
    Environment,
    /// The cached licence.
    Cache,
    /// There is no licence that could be used.
    None,
}

/// How things stand with the licence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Good for more than 30 days.
    Valid,
    /// Good for 30 days at most: B-1.
    Expiring,
    /// Expired 30 days ago at most: B-2.
    Grace,
    /// The environment's cannot be used and there is no cached one: B-3.
    Invalid,
    /// The environment has none: B-3.
    Missing,
    /// Expired more than 30 days ago: B-4.
    Expired,
    /// The environment's cannot be used, the cached one serves: B-5.
    Cached,
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// What is allowed.
    pub tier: Tier,
    /// How things stand, from which the banner follows.
    pub standing: Standing,
    /// Whose licence it is.
    pub source: Source,
    /// What the licence says that was looked at last; also an expired one's.
    pub claims: Option<Claims>,
    /// Why the environment's licence cannot be used, where it cannot.
    pub env_license_invalid: Option<String>,
}

/// Decides; `now` is Unix seconds. `cached` is asked only where the environment's licence cannot be read: one that is missing or
/// has expired says clearly enough what holds.
pub fn resolve(environment: Environment, cached: impl FnOnce() -> Option<Cached>, now: i64) -> Resolved {
    let (standing, claims) = match environment {
        Environment::Missing => (Standing::Missing, None),
        Environment::Valid(claims) => (by_time(&claims, now), Some(claims)),
        Environment::Unusable(reason) => {
            let usable = cached().filter(|cached| cached.serves(now)).map(|cached| cached.claims);
            let standing = if usable.is_some() { Standing::Cached } else { Standing::Invalid };
            return decided(standing, usable, Some(reason));
        }
    };
    decided(standing, claims, None)
}

fn by_time(claims: &Claims, now: i64) -> Standing {
    let left = claims.expires_at.saturating_sub(now);
    match left {
        _ if left > WINDOW => Standing::Valid,
        _ if left > 0 => Standing::Expiring,
        _ if left >= -WINDOW => Standing::Grace,
        _ => Standing::Expired,
    }
}

fn decided(standing: Standing, claims: Option<Claims>, env_license_invalid: Option<String>) -> Resolved {
    let source = match standing {
        Standing::Cached => Source::Cache,
        Standing::Missing | Standing::Invalid => Source::None,
        _ => Source::Environment,
    };
    let tier = match &claims {
        Some(claims) if standing != Standing::Expired => Tier::Licensed(claims.edition),
        _ => Tier::Recovery,
    };
    Resolved { tier, standing, source, claims, env_license_invalid }
}

impl Cached {
    /// Whether it is young enough and has not expired; there is no grace for it. One that was verified in the future is not
    /// believed, but for a clock that was a little ahead.
    fn serves(&self, now: i64) -> bool {
        let age = now.saturating_sub(self.verified_at);
        (-SKEW..CACHED_FOR).contains(&age) && now < self.claims.expires_at
    }
}

impl Standing {
    /// The one banner that shows. What makes B-1 and B-2 is not looked at where B-5 holds: a cached licence has no grace, and that
    /// the environment's cannot be read matters more than how long the cached one is good. So B-4, B-3, B-2, B-5, B-1 exclude one
    /// another.
    #[must_use]
    pub const fn banner(self) -> Option<&'static str> {
        match self {
            Self::Valid => None,
            Self::Expiring => Some("B-1"),
            Self::Grace => Some("B-2"),
            Self::Missing | Self::Invalid => Some("B-3"),
            Self::Expired => Some("B-4"),
            Self::Cached => Some("B-5"),
        }
    }

    /// Its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Expiring => "expiring",
            Self::Grace => "grace",
            Self::Invalid => "invalid",
            Self::Missing => "missing",
            Self::Expired => "expired",
            Self::Cached => "cached",
        }
    }
}

impl Tier {
    /// Its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Recovery => "recovery",
            Self::Licensed(edition) => edition.as_str(),
        }
    }
}

impl Source {
    /// Its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Cache => "cache",
            Self::None => "none",
        }
    }
}

#[cfg(test)]
mod tests;
