use std::fs;

use tempfile::TempDir;

use super::keys::SigningKey;
use super::state::Standing;
use super::token::{Claims, sign};
use super::*;

const NOW: i64 = 1_800_000_000;

/// A data directory and the key a build trusts.
struct Stage {
    folder: TempDir,
    key: SigningKey,
}

impl Stage {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), key: SigningKey::generate().unwrap() }
    }

    fn token(&self, expires_at: i64) -> String {
        let claims = Claims { customer: "Example Ltd".into(), edition: Edition::Enterprise, issued_at: NOW - 500 * DAY, expires_at };
        sign(&claims, &self.key, NOW).unwrap()
    }

    fn start(&self, value: Option<&str>, now: i64) -> Resolved {
        let cache = Cache::new(self.folder.path().join("cached"), b"master");
        decide(value.map(OsString::from), &[self.key.public().clone()], &cache, now)
    }

    fn is_cached(&self) -> bool {
        self.folder.path().join("cached").exists()
    }
}

fn licence(tier: Tier, build: Edition) -> Licence {
    let resolved = Resolved { tier, standing: Standing::Valid, source: Source::Environment, claims: None, env_license_invalid: None };
    Licence::new(resolved, build)
}

#[test]
fn only_build_and_licence_together_make_the_enterprise_edition() {
    use Edition::{Community, Enterprise};
    for (tier, build, expected) in [
        (Tier::Licensed(Enterprise), Enterprise, Enterprise),
        (Tier::Licensed(Enterprise), Community, Community),
        (Tier::Licensed(Community), Enterprise, Community),
        (Tier::Licensed(Community), Community, Community),
        (Tier::Recovery, Enterprise, Community),
        (Tier::Recovery, Community, Community),
    ] {
        let licence = licence(tier, build);
        assert_eq!((licence.edition(), licence.is_enterprise()), (expected, expected == Enterprise), "{tier:?} {build:?}");
        for feature in Feature::ALL {
            let there = match feature {
                Feature::Metrics => build == Enterprise,
                _ => expected == Enterprise || feature.edition() == Community,
            };
            assert_eq!(licence.require(feature).is_ok(), there, "{feature:?}");
        }
        let caps = (tier == Tier::Recovery).then_some((25, 5));
        assert_eq!(licence.cap(Capped::ApiKeys).zip(licence.cap(Capped::Users)), caps, "only recovery mode has caps");
    }
}

#[test]
fn a_blank_variable_is_a_missing_licence() {
    let stage = Stage::new();
    for value in [None, Some(""), Some("  \n\t ")] {
        assert_eq!(stage.start(value, NOW).standing, Standing::Missing);
    }
    let token = stage.token(NOW + 90 * DAY);
    assert_eq!(stage.start(Some(&format!(" {token}\n")), NOW).standing, Standing::Valid, "a file's line end does no harm");
}

#[test]
fn a_good_licence_is_cached_and_serves_when_the_variable_is_spoilt() {
    let stage = Stage::new();
    let token = stage.token(NOW + 90 * DAY);
    assert_eq!(stage.start(Some("spoilt"), NOW).standing, Standing::Invalid);
    assert!(!stage.is_cached());
    assert_eq!(stage.start(Some(&token), NOW).standing, Standing::Valid);
    assert_eq!(stage.start(Some(&token[..40]), NOW + 30 * DAY - 1).standing, Standing::Cached);
    assert_eq!(stage.start(Some(&token[..40]), NOW + 30 * DAY).standing, Standing::Invalid, "using it does not make it younger");
    assert_eq!(stage.start(None, NOW).standing, Standing::Missing, "the cache does not stand in for a missing licence");
    assert_eq!(stage.start(Some(&token), NOW + 30 * DAY).standing, Standing::Valid);
    assert_eq!(stage.start(Some("spoilt"), NOW + 31 * DAY).standing, Standing::Cached, "each good start makes it young again");
}

#[test]
fn an_expired_licence_neither_uses_nor_fills_the_cache() {
    let stage = Stage::new();
    stage.start(Some(&stage.token(NOW + 90 * DAY)), NOW);
    let before = fs::read(stage.folder.path().join("cached")).unwrap();
    let resolved = stage.start(Some(&stage.token(NOW - 31 * DAY)), NOW);
    assert_eq!((resolved.tier, resolved.standing), (Tier::Recovery, Standing::Expired));
    assert_eq!(fs::read(stage.folder.path().join("cached")).unwrap(), before);
}

#[test]
fn a_clock_that_goes_back_gives_no_tier_a_longer_life() {
    let stage = Stage::new();
    stage.start(Some(&stage.token(NOW + 90 * DAY)), NOW);
    assert_eq!(stage.start(Some("spoilt"), NOW - DAY).standing, Standing::Cached);
    for back in [DAY + 1, 400 * DAY, NOW, NOW + 5] {
        let resolved = stage.start(Some("spoilt"), NOW - back);
        assert_eq!((resolved.tier, resolved.standing), (Tier::Recovery, Standing::Invalid), "{back} seconds back");
    }
}

#[test]
fn a_licence_serves_although_it_cannot_be_cached() {
    let stage = Stage::new();
    fs::create_dir(stage.folder.path().join("cached")).unwrap();
    assert_eq!(stage.start(Some(&stage.token(NOW + 90 * DAY)), NOW).standing, Standing::Valid);
}
