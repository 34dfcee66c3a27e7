//! Signs of life for a client whose stream is silent, so that neither it nor a proxy between takes the connection for dead.

use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::deadline::Due;

/// The pulse of one connection. A write costs it two flags: it looks twice in every interval whether there was one.
#[derive(Debug, Default)]
pub(super) struct Pulse {
    /// How often, and with which words.
    beat: Mutex<Option<(Duration, &'static str)>>,
    due: Due,
    wrote: bool,
    silent: bool,
    /// Everything that was written is whole, so that something may follow.
    whole: bool,
}

impl Pulse {
    /// Lets `words` be sent whenever nothing was for `every`, or half of that longer at the most.
    pub(super) fn start(&self, every: Duration, words: &'static str) {
        *self.beat.lock() = Some((every, words));
        self.due.set(Some(Instant::now() + every / 2));
    }

    /// Sends nothing from now on.
    pub(super) fn stop(&self) {
        if self.beat.lock().take().is_some() {
            self.due.set(None);
        }
    }

    /// Something is being written.
    pub(super) fn written(&mut self) {
        self.wrote = true;
        self.whole = false;
    }

    /// What was written has left, and is whole.
    pub(super) fn flushed(&mut self) {
        self.whole = true;
    }

    /// When to look again.
    pub(super) fn due(&mut self) -> Option<Instant> {
        self.due.at()
    }

    /// What is to be sent now: the words as a chunk of a body.
    pub(super) fn beats(&mut self, now: Instant) -> Option<Bytes> {
        if !self.due.strikes(now) {
            return None;
        }
        let (every, words) = (*self.beat.get_mut())?;
        self.due.set(Some(now + every / 2));
        let quiet = !std::mem::take(&mut self.wrote) && self.whole;
        let was_silent = std::mem::replace(&mut self.silent, quiet);
        let beats = quiet && was_silent;
        self.silent &= !beats;
        beats.then(|| Bytes::from(format!("{:x}\r\n{words}\r\n", words.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn next(pulse: &mut Pulse) -> Bytes {
        loop {
            match pulse.due() {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
            if let Some(beat) = pulse.beats(Instant::now()) {
                return beat;
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_beats_once_in_every_silent_interval() {
        let mut pulse = Pulse::default();
        pulse.written();
        pulse.flushed();
        pulse.start(Duration::from_secs(10), "beat");
        let start = Instant::now();
        assert_eq!(next(&mut pulse).await, "4\r\nbeat\r\n");
        assert_eq!(start.elapsed(), Duration::from_secs(15), "the first half saw the write");
        next(&mut pulse).await;
        assert_eq!(start.elapsed(), Duration::from_secs(25));
    }

    #[tokio::test(start_paused = true)]
    async fn it_rests_while_something_is_written_and_never_cuts_in() {
        let mut pulse = Pulse::default();
        pulse.start(Duration::from_secs(10), "beat");
        for _ in 0..10 {
            pulse.written();
            pulse.flushed();
            let waited = tokio::time::timeout(Duration::from_secs(5), next(&mut pulse)).await;
            assert!(waited.is_err());
        }
        pulse.written();
        let waited = tokio::time::timeout(Duration::from_secs(60), next(&mut pulse)).await;
        assert!(waited.is_err(), "half an event was written");
        pulse.flushed();
        pulse.stop();
        assert!(tokio::time::timeout(Duration::from_secs(60), next(&mut pulse)).await.is_err());
    }
}
