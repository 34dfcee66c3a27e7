use super::*;

const NOW: i64 = 1_800_000_000;

fn claims(expires_at: i64) -> Claims {
    Claims { customer: "Example Ltd".into(), edition: Edition::Enterprise, issued_at: NOW - 400 * DAY, expires_at }
}

/// The decision about a licence of the environment; the cache must not be asked.
fn with_licence(expires_at: i64) -> Resolved {
    resolve(Environment::Valid(claims(expires_at)), || panic!("a licence that can be read needs no cache"), NOW)
}

/// The decision where the environment's licence is unusable.
fn with_cache(cached: Option<(i64, i64)>) -> Resolved {
    let cached = cached.map(|(verified_at, expires_at)| Cached { claims: claims(expires_at), verified_at });
    resolve(Environment::Unusable("it is no JWT".into()), || cached, NOW)
}

/// Tier, banner, source and whether the flag is set.
fn shown(resolved: &Resolved) -> (&'static str, Option<&'static str>, &'static str, bool) {
    (resolved.tier.as_str(), resolved.standing.banner(), resolved.source.as_str(), resolved.env_license_invalid.is_some())
}

#[test]
fn a_missing_licence_means_recovery_without_a_look_at_the_cache() {
    let resolved = resolve(Environment::Missing, || panic!("the cache is not asked"), NOW);
    assert_eq!(shown(&resolved), ("recovery", Some("B-3"), "none", false));
}

#[test]
fn a_licence_good_for_more_than_30_days_has_no_banner() {
    for expires_at in [NOW + 30 * DAY + 1, NOW + 365 * DAY, i64::MAX] {
        assert_eq!(shown(&with_licence(expires_at)), ("enterprise", None, "environment", false));
    }
}

#[test]
fn a_licence_in_its_last_30_days_says_so() {
    for expires_at in [NOW + 30 * DAY, NOW + 30 * DAY - 1, NOW + 1] {
        assert_eq!(shown(&with_licence(expires_at)), ("enterprise", Some("B-1"), "environment", false));
    }
}

#[test]
fn an_expired_licence_serves_for_30_days_more() {
    for expires_at in [NOW, NOW - 1, NOW - 30 * DAY] {
        assert_eq!(shown(&with_licence(expires_at)), ("enterprise", Some("B-2"), "environment", false));
    }
}

#[test]
fn past_its_grace_a_licence_means_recovery_without_a_look_at_the_cache() {
    for expires_at in [NOW - 30 * DAY - 1, NOW - 3650 * DAY, 0, i64::MIN] {
        let resolved = with_licence(expires_at);
        assert_eq!(shown(&resolved), ("recovery", Some("B-4"), "environment", false));
        assert_eq!(resolved.claims.map(|claims| claims.expires_at), Some(expires_at), "it is told whose licence expired");
    }
}

#[test]
fn an_unusable_licence_falls_to_the_cached_one() {
    for verified_at in [NOW, NOW - 30 * DAY + 1, NOW + DAY] {
        let resolved = with_cache(Some((verified_at, NOW + 90 * DAY)));
        assert_eq!(shown(&resolved), ("enterprise", Some("B-5"), "cache", true));
        assert_eq!(resolved.env_license_invalid.as_deref(), Some("it is no JWT"));
    }
}

#[test]
fn a_cached_licence_in_its_last_30_days_still_shows_the_one_banner_about_the_cache() {
    for expires_at in [NOW + 30 * DAY, NOW + 1] {
        assert_eq!(shown(&with_cache(Some((NOW, expires_at)))), ("enterprise", Some("B-5"), "cache", true));
    }
}

#[test]
fn without_a_cached_licence_that_serves_an_unusable_one_means_recovery() {
    let recovery = ("recovery", Some("B-3"), "none", true);
    assert_eq!(shown(&with_cache(None)), recovery);
    for verified_at in [NOW - 30 * DAY, NOW - 31 * DAY, 0, i64::MIN] {
        assert_eq!(shown(&with_cache(Some((verified_at, NOW + 90 * DAY)))), recovery, "verified at {verified_at}: too old");
    }
    for verified_at in [NOW + DAY + 1, NOW + 365 * DAY, i64::MAX] {
        assert_eq!(shown(&with_cache(Some((verified_at, NOW + 9000 * DAY)))), recovery, "verified at {verified_at}: in the future");
    }
    for expires_at in [NOW, NOW - 1, NOW - 29 * DAY] {
        assert_eq!(shown(&with_cache(Some((NOW, expires_at)))), recovery, "a cached licence has no grace");
    }
}

#[test]
fn the_edition_is_the_one_of_the_licence() {
    let community = Claims { edition: Edition::Community, ..claims(NOW + 60 * DAY) };
    assert_eq!(resolve(Environment::Valid(community.clone()), || None, NOW).tier, Tier::Licensed(Edition::Community));
    let cached = || Some(Cached { claims: community, verified_at: NOW });
    assert_eq!(resolve(Environment::Unusable(String::new()), cached, NOW).tier, Tier::Licensed(Edition::Community));
}

#[test]
fn a_renewed_licence_clears_the_banner() {
    assert_eq!(with_licence(NOW - 31 * DAY).standing.banner(), Some("B-4"));
    assert_eq!(with_licence(NOW + 365 * DAY).standing.banner(), None);
}
