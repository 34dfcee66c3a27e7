//! Waiting for a condition, with a deadline.

use std::thread;
use std::time::{Duration, Instant};

/// How long a condition may take unless a test says otherwise.
pub const PATIENCE: Duration = Duration::from_secs(20);
const STEP: Duration = Duration::from_millis(5);

/// The first value `look` finds.
///
/// # Panics
/// When it finds none within [`PATIENCE`]; `what` completes "waited in vain for".
pub fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    within(PATIENCE, what, look)
}

/// The first value `look` finds within a time of the test's own.
///
/// # Panics
/// When it finds none.
pub fn within<T>(patience: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited {patience:?} in vain for {what}");
        thread::sleep(STEP);
    }
}
