//! Redis or Valkey as the shared store: one script per admission, over all counters of the request.
//!
//! The server's clock counts. Keys expire by themselves: windows a minute after their last count, places of running requests when
//! their gateway stops renewing them. An admission waits for `redis.timeout` at most; whatever fails ends the connection, and until
//! the next one is made nobody waits. What is to be told after a request goes through a queue with a bound.

mod line;
mod link;
mod running;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use async_trait::async_trait;
use redis::Client;
use svc_filters::limits::{Measure, Permit};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use self::line::{Ended, Line, Task};
use self::link::Link;
use self::running::Running;
use super::scripts::{self, Counter, Said};
use super::{Admission, Slip, Store, Unreachable};
use crate::conf;

/// Ended requests that wait to be told; the places of more become free when their lease ends.
const QUEUE: usize = 16_384;
/// How long the first connection may take before the gateway goes on without.
const FIRST: Duration = Duration::from_secs(2);
/// How long the last ended requests may take to be told.
const LAST: Duration = Duration::from_secs(1);
/// How long a place of a running request is kept without news of its gateway, in milliseconds.
const LEASE_MS: u64 = 15_000;

/// A URL Redis cannot be found by.
#[derive(Debug, thiserror::Error)]
#[error("understand redis.url: {0}")]
pub struct BadUrl(String);

/// Counters in Redis.
pub struct Redis {
    link: Arc<Link>,
    running: Arc<Running>,
    tasks: mpsc::Sender<Task>,
    timeout: Duration,
    /// Tells the requests of this process from those of others.
    instance: u64,
    requests: AtomicU64,
}

/// Checks the URL of the configuration without connecting.
///
/// # Errors
/// When it is malformed.
pub fn parse(conf: &conf::Redis) -> Result<Option<Client>, BadUrl> {
    conf.url().map(|url| Client::open(url).map_err(|error| BadUrl(error.category().to_owned()))).transpose()
}

impl Redis {
    /// Starts the thread that holds the connection, and waits a short while for the first one.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(client: Client, timeout: Duration) -> std::io::Result<Self> {
        let (tasks, queue) = mpsc::channel(QUEUE);
        let link = Arc::new(Link::new(&client));
        let running = Arc::new(Running::default());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (ready, connected) = sync_channel(1);
        let (holder, places) = (link.clone(), running.clone());
        std::thread::Builder::new()
            .name("svc-limits".to_owned())
            .spawn(move || runtime.block_on(link::hold(client, &holder, &places, queue, ready)))?;
        let _ = connected.recv_timeout(FIRST);
        let instance = u64::from_le_bytes(rand::random());
        Ok(Self { link, running, tasks, timeout, instance, requests: AtomicU64::new(0) })
    }

    async fn ask(&self, line: &Line, id: &str, counters: &[Counter]) -> Result<Vec<i64>, String> {
        match tokio::time::timeout(self.timeout, line.admit(id, LEASE_MS, counters)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no answer within {} ms", self.timeout.as_millis())),
        }
    }

    /// What happens when the request ends.
    fn slip(&self, id: String, counters: Vec<Counter>, entries: Vec<u64>) -> Slip {
        let open: Vec<(Counter, u64)> =
            counters.into_iter().zip(entries).filter(|(counter, _)| counter.measure != Measure::Requests).collect();
        if open.is_empty() {
            return Slip::blank();
        }
        let places: Vec<String> = running(&open).map(|counter| counter.key.clone()).collect();
        self.running.enter(&id, &places);
        let (registry, tasks) = (self.running.clone(), self.tasks.clone());
        Slip::new(move |tokens| {
            registry.leave(&id, &places);
            let ended = Ended { id, counters: open, tokens };
            if ended.says_something()
                && let Err(TrySendError::Full(_)) = tasks.try_send(Task::End(ended))
            {
                log::debug!("an ended request is not told to the shared limits: too many wait");
            }
        })
    }
}

fn running(open: &[(Counter, u64)]) -> impl Iterator<Item = &Counter> {
    open.iter().map(|(counter, _)| counter).filter(|counter| counter.measure == Measure::Parallel)
}

#[async_trait]
impl Store for Redis {
    async fn admit(&self, permit: &Permit) -> Result<Admission, Unreachable> {
        let Some(line) = self.link.line() else {
            self.link.missed();
            return Err(Unreachable);
        };
        let counters = scripts::counters(permit);
        let id = format!("{:x}-{:x}", self.instance, self.requests.fetch_add(1, Ordering::Relaxed));
        let said = match self.ask(&line, &id, &counters).await {
            Ok(answer) => scripts::read(&answer, &counters, permit).ok_or_else(|| "an answer that makes no sense".to_owned()),
            Err(why) => Err(why),
        };
        match said {
            Ok(Said::Refused(refusal)) => Ok(Admission::Refused(refusal)),
            Ok(Said::Admitted(standing, entries)) => Ok(Admission::Admitted(standing, self.slip(id, counters, entries))),
            Err(why) => {
                self.link.broke(&line, &why);
                self.link.missed();
                Err(Unreachable)
            }
        }
    }

    fn close(&self) {
        let (told, all) = sync_channel(1);
        if self.tasks.try_send(Task::Close(told)).is_ok() {
            let _ = all.recv_timeout(LAST);
        }
    }
}
