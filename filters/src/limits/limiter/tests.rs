//! Admission over several scopes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::auth::{Caller, KeyStatus, Owner, Pepper};
use crate::limits::{Cap, Left};

const NOW: u64 = 120_000;

fn key(id: &str, role: Option<&str>, cap: Cap) -> Key {
    Key {
        id: id.into(),
        name: id.into(),
        public_id: None,
        secret: Pepper::new(b"a pepper of some length").hash(id),
        previous_secret: None,
        owner: Owner::User("u".into()),
        caller: Caller::default(),
        team: None,
        application: None,
        role: role.map(Arc::from),
        allowed_models: None,
        rpm_limit: cap.rpm,
        tpm_limit: cap.tpm,
        max_parallel: cap.parallel,
        expires_at: None,
        status: KeyStatus::Active,
        tags: None,
        translation: None,
    }
}

fn caps(global: Cap, staff: Cap) -> Caps {
    Caps { global, roles: HashMap::from([("staff".into(), staff)]) }
}

fn rpm(rpm: u32) -> Cap {
    Cap { rpm: Some(rpm), ..Cap::default() }
}

fn tpm(tpm: u64) -> Cap {
    Cap { tpm: Some(tpm), ..Cap::default() }
}

fn parallel(parallel: u32) -> Cap {
    Cap { parallel: Some(parallel), ..Cap::default() }
}

fn refusal(decision: Decision) -> Refusal {
    let Decision::Refused(refusal) = decision else { panic!("{decision:?}") };
    refusal
}

fn admitted(decision: Decision) -> Standing {
    let Decision::Admitted(standing) = decision else { panic!("{decision:?}") };
    standing
}

#[test]
fn without_caps_nothing_is_counted_and_nothing_estimated() {
    let limiter = Limiter::default();
    let free = key("k", Some("staff"), Cap::default());
    let (decision, permit) = limiter.admit(&Caps::default(), &free, || panic!("tokens are not capped"), NOW);
    assert_eq!((decision, permit.is_none(), limiter.meters()), (Decision::Unlimited, true, 0));
    let (decision, _) = limiter.admit(&Caps::default(), &key("k", None, rpm(1)), || panic!("requests alone are capped"), NOW);
    assert!(matches!(decision, Decision::Admitted(_)));
}

#[test]
fn a_thousand_at_once_get_exactly_the_cap() {
    let limiter = Limiter::default();
    let caps = caps(rpm(100), parallel(150));
    let (served, running) = (AtomicUsize::new(0), std::sync::Barrier::new(20));
    std::thread::scope(|scope| {
        for thread in 0..20 {
            let (limiter, caps, served, running) = (&limiter, &caps, &served, &running);
            scope.spawn(move || {
                let key = key(&format!("k{}", thread % 7), Some("staff"), tpm(1_000_000));
                running.wait();
                for _ in 0..50 {
                    if let (Decision::Admitted(_), Some(permit)) = limiter.admit(caps, &key, || 1, NOW) {
                        served.fetch_add(1, Ordering::Relaxed);
                        drop(permit);
                    }
                }
            });
        }
    });
    assert_eq!(served.into_inner(), 100);
}

#[test]
fn a_thousand_at_once_run_at_most_as_many_as_may() {
    let limiter = Limiter::default();
    let caps = caps(Cap::default(), parallel(100));
    let held: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..20)
            .map(|thread| {
                let (limiter, caps) = (&limiter, &caps);
                let key = key(&format!("k{thread}"), Some("staff"), Cap::default());
                scope.spawn(move || (0..50).filter_map(|_| limiter.admit(caps, &key, || 0, NOW).1).collect::<Vec<_>>())
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a thread")).collect()
    });
    assert_eq!(held.len(), 100);
    drop(held);
    assert_eq!((0..1000).filter_map(|_| limiter.admit(&caps, &key("k", Some("staff"), rpm(1000)), || 0, NOW).1).count(), 1000);
}

#[test]
fn the_first_cap_met_is_told_and_nothing_is_counted_elsewhere() {
    let limiter = Limiter::default();
    let caps = caps(rpm(10), rpm(2));
    let staff = key("k", Some("staff"), rpm(1));
    assert!(matches!(limiter.admit(&caps, &staff, || 0, NOW).0, Decision::Admitted(_)));
    for _ in 0..50 {
        let refused = refusal(limiter.admit(&caps, &staff, || 0, NOW + 500).0);
        assert_eq!((refused.scope, refused.measure, refused.limit), (Scope::Key, Measure::Requests, 1));
        assert_eq!(refused.retry_after, Duration::from_millis(59_500));
        let left = Left { limit: 1, remaining: 0, reset: Duration::from_millis(59_500) };
        assert_eq!(refused.standing.requests, Some(left), "the cap that was reached is told");
    }
    let other = key("l", Some("staff"), Cap::default());
    assert_eq!(admitted(limiter.admit(&caps, &other, || 0, NOW).0).requests.map(|left| (left.limit, left.remaining)), Some((2, 0)));
    assert_eq!(refusal(limiter.admit(&caps, &other, || 0, NOW).0).scope, Scope::Role);
    let third = key("m", None, rpm(100));
    let left: Vec<u64> =
        (0..8).filter_map(|_| admitted(limiter.admit(&caps, &third, || 0, NOW).0).requests.map(|left| left.remaining)).collect();
    assert_eq!(left, [7, 6, 5, 4, 3, 2, 1, 0], "the fifty refused took nothing of the service's ten");
    assert_eq!(refusal(limiter.admit(&caps, &third, || 0, NOW).0).scope, Scope::Global);
}

#[test]
fn zero_blocks_on_every_measure() {
    for cap in [rpm(0), tpm(0), parallel(0)] {
        assert_eq!(refusal(Limiter::default().admit(&Caps::default(), &key("k", None, cap), || 0, NOW).0).limit, 0, "{cap:?}");
    }
}

#[test]
fn tokens_are_reserved_and_settled() {
    let limiter = Limiter::default();
    let key = key("k", None, tpm(1_000));
    let ask = |tokens, now| limiter.admit(&Caps::default(), &key, || tokens, now);
    let (decision, large) = ask(u64::MAX, NOW);
    assert_eq!(admitted(decision).tokens.map(|left| (left.limit, left.remaining)), Some((1_000, 0)), "one large request may pass");
    assert_eq!(refusal(ask(1, NOW).0).measure, Measure::Tokens);
    let mut large = large.expect("tokens are capped");
    assert!(large.is_open());
    large.settle(300, NOW + 5_000);
    drop(large);
    let (decision, small) = ask(600, NOW + 5_000);
    assert_eq!(admitted(decision).tokens.map(|left| left.remaining), Some(100), "what was not taken can be used at once");
    let mut small = small.expect("tokens are capped");
    small.settle(900, NOW + 10_000);
    drop(small);
    assert_eq!(refusal(ask(1, NOW + 59_000).0).retry_after, Duration::from_secs(1), "the large one leaves first");
    assert!(matches!(ask(100, NOW + 60_000).0, Decision::Admitted(_)));
    let later = refusal(ask(601, NOW + 65_000).0);
    assert_eq!((later.measure, later.retry_after), (Measure::Tokens, Duration::from_secs(5)), "what was taken beyond counts later");
    assert!(matches!(ask(601, NOW + 70_000).0, Decision::Admitted(_)));
}

#[test]
fn a_withdrawn_request_was_never_there() {
    let limiter = Limiter::default();
    let key = key("k", None, Cap { rpm: Some(1), tpm: Some(10), parallel: Some(1) });
    for _ in 0..10 {
        let (_, permit) = limiter.admit(&Caps::default(), &key, || 10, NOW);
        permit.expect("nothing is counted").withdraw();
    }
}

#[test]
fn a_permit_names_the_scopes_it_is_counted_in() {
    let limiter = Limiter::default();
    let (_, permit) = limiter.admit(&caps(rpm(5), tpm(70)), &key("k", Some("staff"), Cap::default()), || 100, NOW);
    let permit = permit.expect("two caps");
    let counted: Vec<_> = permit.counted().map(|counted| (counted.scope, counted.id.as_deref(), counted.reserved)).collect();
    assert_eq!(counted, [(Scope::Global, None, 0), (Scope::Role, Some("staff"), 70)]);
}

#[test]
fn idle_meters_are_dropped_and_held_ones_stay() {
    let limiter = Limiter::default();
    let ask = |id: String, cap, now| limiter.admit(&Caps::default(), &key(&id, None, cap), || 0, now);
    let held = ask("held".to_owned(), parallel(1), NOW).1;
    for number in 0..5_000 {
        let _ = ask(format!("k{number}"), rpm(5), NOW);
    }
    assert_eq!(limiter.meters(), 5_001);
    for step in 0..200 {
        let _ = ask("busy".to_owned(), rpm(1_000), NOW + 61_000 + step * 200);
    }
    assert_eq!(limiter.meters(), 2, "the busy one and the one that runs");
    assert!(matches!(ask("held".to_owned(), parallel(1), NOW + 101_000).0, Decision::Refused(_)), "a sweep lets nobody in");
    drop(held);
}
