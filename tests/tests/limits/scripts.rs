//! The window in Redis decides as the one in memory does, on a clock of the test's own.

use std::time::Duration;

use svc_filters::limits::Window;
use svc_tests::redis::Redis;

const WINDOW: &str = include_str!("../../../gateway/src/limiter/scripts/window.lua");
const ADMIT: &str = include_str!("../../../gateway/src/limiter/scripts/admit.lua");
const FINISH: &str = include_str!("../../../gateway/src/limiter/scripts/finish.lua");
const CLOCK: &str = "return time[1] * 1000 + math.floor(time[2] / 1000)";
const KEY: &str = "svc:{limits}:test:tokens";
const START: u64 = 1_795_254_720_000;

/// A script whose last argument is the time.
fn script(body: &str) -> String {
    assert!(WINDOW.contains(CLOCK), "the clock is read at one place");
    format!("{}{body}", WINDOW.replace(CLOCK, "return tonumber(ARGV[#ARGV])"))
}

fn numbers(answer: &str) -> Vec<u64> {
    assert!(answer.starts_with('*'), "{answer}");
    answer.lines().filter_map(|line| line.strip_prefix(':')).map(|number| number.parse().expect("a count")).collect()
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

#[test]
fn the_window_in_redis_decides_as_the_one_in_memory() {
    let redis = Redis::start();
    let (admit, finish) = (script(ADMIT), script(FINISH));
    for (seed, cap, longest) in [(1, 100, 4_000), (2, 1_000, 90), (3, 37, 30_000), (4, 300, 700)] {
        redis.command(&["DEL", KEY]);
        let (mut window, mut dice, mut now) = (Window::default(), Dice(seed), START);
        let mut served = 0;
        for step in 0..700 {
            now += dice.below(longest);
            let amount = 1 + dice.below(20);
            let told = format!("seed {seed}, step {step}, {amount} at {now}");
            let (cap_text, amount_text, now_text) = (cap.to_string(), amount.to_string(), now.to_string());
            let answer = redis.command(&["EVAL", &admit, "1", KEY, "id", "15000", "window", &cap_text, &amount_text, &now_text]);
            let [refused, after, left, empties, entry] = numbers(&answer)[..] else { panic!("{told}: {answer}") };
            match window.check(amount, cap, now) {
                Ok(()) => {
                    assert_eq!((refused, entry), (0, window.count(amount, now)), "{told}");
                    served += 1;
                    if dice.below(3) == 0 {
                        let took = 1 + dice.below(30);
                        settle(&mut window, entry, amount, took, now);
                        let (entry, took) = (entry.to_string(), took.to_string());
                        redis.command(&["EVAL", &finish, "1", KEY, "id", "window", &entry, &amount_text, &took, &now_text]);
                    }
                }
                Err(wait) => {
                    // The script looks at a hundred entries and says when the last of them leaves.
                    assert!(refused == 1 && after > 0 && Duration::from_millis(after) <= wait, "{told}: {after} {wait:?}");
                    assert_eq!((left, empties), (cap.saturating_sub(window.used()), millis(window.empties(now))), "{told}");
                }
            }
            let used = redis.command(&["HGET", KEY, "used"]);
            assert!(used.contains(&format!("\n{}\r", window.used())), "{told}: {used} {window:?}");
        }
        assert!(served > 20, "seed {seed}: {served}");
    }
}

fn settle(window: &mut Window, entry: u64, reserved: u64, took: u64, now: u64) {
    match took.checked_sub(reserved) {
        Some(0) => {}
        Some(more) => {
            window.count(more, now);
        }
        None => window.take_back(entry, reserved - took),
    }
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).expect("small")
}
