//! Brings changes of the configuration to the running gateway within a second.
//!
//! The database counts every change. The count is asked for at short intervals; PostgreSQL also announces changes, which
//! spares most of the wait. While the database is away the gateway serves on with what it has.

use std::sync::Arc;
use std::time::Duration;

use sea_orm::sqlx::postgres::PgListener;
use sea_orm::{DatabaseConnection, DbBackend};
use svc_filters::auth::Pepper;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::load::{LoadError, load, revision};
use super::seal::Sealer;
use super::snapshot::Live;
use crate::conf::Conf;
use crate::state::Gateway;

/// The channel on which PostgreSQL announces a new revision.
const CHANNEL: &str = "svc_config";
/// How often the revision is asked for where nothing announces it.
const SQLITE_INTERVAL: Duration = Duration::from_millis(500);
/// How often it is asked for beside the announcements.
const POSTGRES_INTERVAL: Duration = Duration::from_secs(1);
/// How long one look at the database may take.
const DEADLINE: Duration = Duration::from_secs(10);
/// Pause before announcements are asked for again.
const LISTEN_AGAIN: Duration = Duration::from_secs(2);

/// Keeps the gateway's snapshot current until `stop` turns true.
pub async fn refresh(gateway: Arc<Gateway>, database: DatabaseConnection, pepper: Pepper, sealer: Sealer, mut stop: watch::Receiver<bool>) {
    let mut refresher = Refresher { conf: &gateway.conf, live: &gateway.live, database, pepper, sealer, away: false };
    refresher.run(&mut stop).await;
}

struct Refresher<'a> {
    conf: &'a Conf,
    live: &'a Live,
    database: DatabaseConnection,
    pepper: Pepper,
    sealer: Sealer,
    /// Whether the last look failed; logged once.
    away: bool,
}

impl Refresher<'_> {
    async fn run(&mut self, stop: &mut watch::Receiver<bool>) {
        let announces = self.database.get_database_backend() == DbBackend::Postgres;
        let interval = if announces { POSTGRES_INTERVAL } else { SQLITE_INTERVAL };
        let announced = Arc::new(Notify::new());
        // Ends with this function.
        let mut listening = JoinSet::new();
        if announces {
            listening.spawn(listen(self.conf.database.url.reveal().to_owned(), announced.clone()));
        }
        while !*stop.borrow() {
            tokio::select! {
                () = announced.notified() => {}
                () = tokio::time::sleep(interval) => {}
                changed = stop.changed() => if changed.is_err() { return },
            }
            self.look().await;
        }
    }

    /// Looks for a new revision and puts it in force.
    async fn look(&mut self) {
        match timeout(DEADLINE, self.current()).await {
            Ok(Ok(())) if self.away => {
                self.away = false;
                log::info!("the database is back; the configuration is current");
            }
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.failed(&error),
            Err(_) => self.failed(&"read the configuration from the database: it does not answer"),
        }
    }

    fn failed(&mut self, error: &dyn std::fmt::Display) {
        if !self.away {
            log::error!("failed to {error}; the gateway serves on with the configuration it has");
        }
        self.away = true;
    }

    async fn current(&self) -> Result<(), LoadError> {
        let held = self.live.hold();
        if revision(&self.database).await? == held.revision {
            return Ok(());
        }
        let snapshot = load(&self.database, self.conf, &self.pepper, &self.sealer, Some(&held)).await?;
        log::info!("configuration revision {} is in force", snapshot.revision);
        self.live.replace(snapshot);
        Ok(())
    }
}

/// Passes PostgreSQL's announcements on, over a connection of its own, for ever. What is announced during an outage is lost;
/// the interval's look makes up for it, and tells of the outage.
async fn listen(url: String, announced: Arc<Notify>) {
    loop {
        if let Ok(mut listener) = PgListener::connect(&url).await
            && listener.listen(CHANNEL).await.is_ok()
        {
            while listener.try_recv().await.is_ok() {
                announced.notify_one();
            }
        }
        tokio::time::sleep(LISTEN_AGAIN).await;
    }
}

#[cfg(test)]
mod tests;
