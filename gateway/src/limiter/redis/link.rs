//! Keeping a connection: made anew with growing pauses when it breaks, told once per outage.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use redis::Client;
use tokio::sync::{Notify, mpsc};

use super::LEASE_MS;
use super::line::{Line, Task};
use super::running::Running;

/// Pauses between tries to connect: the first, doubled up to the longest.
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// How often leases are renewed, and an idle connection is looked at.
const RENEWED_EVERY: Duration = Duration::from_millis(LEASE_MS / 3);
/// Ended requests told, and leases renewed, at once.
const AT_ONCE: usize = 500;

/// The current connection, if there is one.
pub(super) struct Link {
    line: ArcSwapOption<Line>,
    lost: Notify,
    server: String,
    outage: Mutex<Option<Instant>>,
    missed: AtomicU64,
}

impl Link {
    pub(super) fn new(client: &Client) -> Self {
        let server = client.get_connection_info().addr().to_string();
        Self { line: ArcSwapOption::empty(), lost: Notify::new(), server, outage: Mutex::new(None), missed: AtomicU64::new(0) }
    }

    /// The connection; `None` while there is none.
    pub(super) fn line(&self) -> Option<std::sync::Arc<Line>> {
        self.line.load_full()
    }

    /// A request was decided without the store.
    pub(super) fn missed(&self) {
        self.missed.fetch_add(1, Ordering::Relaxed);
    }

    /// Something failed on that connection. Another may be there already.
    pub(super) fn broke(&self, line: &Line, why: &str) {
        let current = self.line.load_full();
        if current.as_ref().is_some_and(|current| current.number == line.number) {
            self.line.store(None);
            self.begin_outage(why);
            self.lost.notify_one();
        }
    }

    fn begin_outage(&self, why: &str) {
        let mut outage = self.outage.lock();
        if outage.is_none() {
            *outage = Some(Instant::now());
            log::warn!("the shared limits at {} cannot be reached: {why}", self.server);
        }
    }

    fn connected(&self, line: Line) {
        self.line.store(Some(line.into()));
        let missed = self.missed.swap(0, Ordering::Relaxed);
        match self.outage.lock().take() {
            None => log::info!("limits are shared at {}", self.server),
            Some(since) => {
                let away = since.elapsed().as_millis();
                log::warn!("the shared limits at {} are back after {away} ms; {missed} requests were decided without", self.server);
            }
        }
    }
}

/// Holds a connection until the queue is closed. `ready` is told once the first try to connect is over.
pub(super) async fn hold(client: Client, link: &Link, running: &Running, mut queue: mpsc::Receiver<Task>, ready: SyncSender<()>) {
    let mut pause = PAUSE;
    for number in 0.. {
        match Line::open(&client, number).await {
            Ok(line) => {
                pause = PAUSE;
                link.connected(line.clone());
                let _ = ready.try_send(());
                if serve(&line, link, running, &mut queue).await.is_none() {
                    return;
                }
            }
            Err(error) => {
                link.begin_outage(&error.to_string());
                let _ = ready.try_send(());
            }
        }
        if idle(pause, &mut queue).await.is_none() {
            return;
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Tells what is to be told until the connection breaks. `None` when the queue is closed.
async fn serve(line: &Line, link: &Link, running: &Running, queue: &mut mpsc::Receiver<Task>) -> Option<()> {
    let mut renewal = tokio::time::interval(RENEWED_EVERY);
    let mut tasks = Vec::with_capacity(AT_ONCE);
    loop {
        let told = tokio::select! {
            () = link.lost.notified() => match link.line() {
                // A notice of an earlier connection.
                Some(_) => continue,
                None => return Some(()),
            },
            _ = renewal.tick() => renew(line, running).await,
            count = queue.recv_many(&mut tasks, AT_ONCE) => {
                if count == 0 {
                    return None;
                }
                tell(line, &mut tasks).await
            }
        };
        if let Err(error) = told {
            link.broke(line, &error.to_string());
        }
    }
}

/// Keeps each place of a running request, also one the server has forgotten.
async fn renew(line: &Line, running: &Running) -> redis::RedisResult<()> {
    for (key, ids) in running.parts(AT_ONCE) {
        line.renew(&key, LEASE_MS, &ids).await?;
    }
    line.ping().await
}

async fn tell(line: &Line, tasks: &mut Vec<Task>) -> redis::RedisResult<()> {
    let mut closing = Vec::new();
    let mut ended = Vec::with_capacity(tasks.len());
    for task in tasks.drain(..) {
        match task {
            Task::End(end) => ended.push(end),
            Task::Close(told) => closing.push(told),
        }
    }
    let result = line.finish(&ended).await;
    for told in closing {
        let _ = told.try_send(());
    }
    result
}

/// Waits for the next try to connect, and forgets what cannot be told meanwhile: leases and windows end by themselves. `None` when
/// the queue is closed.
async fn idle(pause: Duration, queue: &mut mpsc::Receiver<Task>) -> Option<()> {
    let over = tokio::time::sleep(pause);
    tokio::pin!(over);
    loop {
        tokio::select! {
            () = &mut over => return Some(()),
            task = queue.recv() => match task? {
                Task::End(_) => {}
                Task::Close(told) => drop(told.try_send(())),
            },
        }
    }
}
