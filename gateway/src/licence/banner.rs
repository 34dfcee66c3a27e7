//! What operators are told about the licence.

use super::state::{Resolved, Standing, WINDOW};
use super::{DAY, Licence};

/// The one banner that shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banner {
    /// `B-1` to `B-5`.
    pub code: &'static str,
    /// A sentence for operators.
    pub text: String,
}

impl Licence {
    /// The banner. Which one was decided at start; the days in it are those of `now`, in Unix seconds.
    #[must_use]
    pub fn banner(&self, now: i64) -> Option<Banner> {
        let resolved = self.resolved();
        let days = days(self.days_left(now).unwrap_or_default());
        let text = match resolved.standing {
            Standing::Valid => return None,
            Standing::Expiring => format!("The licence expires in {days}."),
            Standing::Grace => format!("The licence has expired. Everything works for {days} more; install a renewed one until then."),
            Standing::Missing => "There is no licence: set SVC_LICENSE_KEY and restart. Until then this is recovery mode.".to_owned(),
            Standing::Invalid => {
                let reason = resolved.env_license_invalid.as_deref().unwrap_or_default();
                format!("The licence in SVC_LICENSE_KEY cannot be used ({reason}). Until it is replaced this is recovery mode.")
            }
            Standing::Expired => {
                "The licence expired more than 30 days ago. Until a renewed one is installed this is recovery mode.".to_owned()
            }
            Standing::Cached => {
                let reason = resolved.env_license_invalid.as_deref().unwrap_or_default();
                format!(
                    "The licence in SVC_LICENSE_KEY cannot be used ({reason}). The last good one serves until a restart finds it expired or \
                     older than 30 days."
                )
            }
        };
        resolved.standing.banner().map(|code| Banner { code, text })
    }

    /// Days until the licence expires or, where it has, until its grace ends; a day begun counts. `None` without a licence. Never
    /// negative.
    #[must_use]
    pub fn days_left(&self, now: i64) -> Option<i64> {
        let Resolved { standing, claims, .. } = self.resolved();
        let grace = if *standing == Standing::Grace { WINDOW } else { 0 };
        let end = claims.as_ref()?.expires_at.saturating_add(grace);
        let left = end.saturating_sub(now).max(0);
        Some(left.saturating_add(DAY - 1) / DAY)
    }

    /// One line for the log.
    #[must_use]
    pub fn line(&self, now: i64) -> String {
        let resolved = self.resolved();
        let (edition, build, tier) = (self.edition().as_str(), self.build().as_str(), resolved.tier.as_str());
        let mut line = format!("licence: {edition} edition; tier {tier}, source {}, {build} build", resolved.source.as_str());
        if let Some(claims) = &resolved.claims {
            line.push_str(&format!(", issued to {:?}", claims.customer));
        }
        if let Some(left) = self.days_left(now) {
            line.push_str(&format!(", {} left", days(left)));
        }
        match self.banner(now) {
            Some(Banner { code, text }) => line.push_str(&format!("; {code}: {text}")),
            None => line.push_str("; no banner"),
        }
        line
    }
}

fn days(days: i64) -> String {
    if days == 1 { "1 day".to_owned() } else { format!("{days} days") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::licence::Edition;
    use crate::licence::state::{Environment, resolve};
    use crate::licence::token::Claims;

    const NOW: i64 = 1_800_000_000;

    fn licence(expires_at: i64) -> Licence {
        let claims = Claims { customer: "Example \"Ltd\"".into(), edition: Edition::Enterprise, issued_at: NOW - 9, expires_at };
        Licence::new(resolve(Environment::Valid(claims), || None, NOW), Edition::Enterprise)
    }

    #[test]
    fn days_count_when_they_have_begun() {
        for (expires_at, expected, banner) in [
            (NOW + 31 * DAY, 31, None),
            (NOW + 30 * DAY, 30, Some("The licence expires in 30 days.")),
            (NOW + 2 * DAY - 1, 2, Some("The licence expires in 2 days.")),
            (NOW + DAY, 1, Some("The licence expires in 1 day.")),
            (NOW + 1, 1, Some("The licence expires in 1 day.")),
            (NOW, 30, Some("The licence has expired. Everything works for 30 days more; install a renewed one until then.")),
            (NOW - 30 * DAY, 0, Some("The licence has expired. Everything works for 0 days more; install a renewed one until then.")),
        ] {
            let licence = licence(expires_at);
            assert_eq!(licence.days_left(NOW), Some(expected));
            assert_eq!(licence.banner(NOW).map(|banner| banner.text).as_deref(), banner);
        }
        assert_eq!(licence(NOW - 31 * DAY).days_left(NOW), Some(0));
        assert_eq!(licence(i64::MAX).days_left(i64::MIN), Some(i64::MAX / DAY));
    }

    #[test]
    fn the_line_of_the_log_tells_it_all() {
        let line = licence(NOW + 5 * DAY).line(NOW);
        let expected = "licence: enterprise edition; tier enterprise, source environment, enterprise build, issued to \"Example \\\"Ltd\\\"\", \
                        5 days left; B-1: The licence expires in 5 days.";
        assert_eq!(line, expected);
        let none = Licence::new(resolve(Environment::Missing, || None, NOW), Edition::Community).line(NOW);
        assert!(none.starts_with("licence: community edition; tier recovery, source none, community build; B-3: There is no"), "{none}");
    }
}
