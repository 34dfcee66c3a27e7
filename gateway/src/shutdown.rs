//! The end of the process: stop accepting, let running answers finish, write what is in the journal, exit.
//!
//! Pingora sleeps through its whole grace period even when nothing runs any more, so this module watches the requests being
//! served and ends the process as soon as the last one is done.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::Mutex;
use pingora::server::{ShutdownSignal, ShutdownSignalWatch};
use tokio::signal::unix::{SignalKind, signal};

use crate::state::Gateway;

/// Time in which requests whose head was just read become visible.
const SETTLE: Duration = Duration::from_millis(100);
/// Signals within this time are one: a terminal sends them to every process of a group, and a script passes them on.
const SAME_SIGNAL: Duration = Duration::from_secs(1);
/// How often the count of running requests is looked at.
const STEP: Duration = Duration::from_millis(20);

/// Turns SIGTERM, SIGINT and SIGQUIT into one graceful end; a second signal ends the process at once.
#[derive(Debug)]
pub struct Signals {
    told: Mutex<Sender<()>>,
}

impl Signals {
    /// The watch for Pingora, and the receiver that is told when the end begins.
    #[must_use]
    pub fn new() -> (Self, Receiver<()>) {
        let (sender, receiver) = channel();
        (Self { told: Mutex::new(sender) }, receiver)
    }
}

#[async_trait]
impl ShutdownSignalWatch for Signals {
    async fn recv(&self) -> ShutdownSignal {
        next_signal().await;
        log::info!("stopping: running requests may finish");
        let _ = self.told.lock().send(());
        tokio::spawn(async {
            tokio::time::sleep(SAME_SIGNAL).await;
            next_signal().await;
            log::warn!("stopped by a second signal");
            std::process::exit(130);
        });
        ShutdownSignal::GracefulTerminate
    }
}

async fn next_signal() {
    let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::quit()];
    let [Ok(mut terminate), Ok(mut interrupt), Ok(mut quit)] = kinds.map(signal) else {
        log::error!("signals cannot be watched; end the process with SIGKILL");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        _ = quit.recv() => {}
    }
}

/// Starts the thread that ends the process once the end has begun and nothing runs any more. `flush` writes the journal out.
pub fn end_when_idle(gateway: Arc<Gateway>, begun: Receiver<()>, flush: impl FnOnce() + Send + 'static) {
    let wait = move || {
        if begun.recv().is_err() {
            return;
        }
        let deadline = Instant::now() + *gateway.conf.server.grace_period;
        thread::sleep(SETTLE);
        while gateway.active.count() > 0 && Instant::now() < deadline {
            thread::sleep(STEP);
        }
        let left = gateway.active.count();
        if left > 0 {
            log::warn!("{left} requests did not finish within the grace period");
        }
        flush();
        log::info!("stopped");
        std::process::exit(0);
    };
    if let Err(error) = thread::Builder::new().name("svc-shutdown".to_owned()).spawn(wait) {
        log::error!("failed to start the shutdown watcher: {error}");
    }
}
