//! One connection and the commands sent over it.

use std::sync::mpsc::SyncSender;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, ErrorKind, FromRedisValue, RedisError, RedisResult, ServerErrorKind, cmd, pipe};
use svc_filters::limits::Measure;

use crate::limiter::scripts::{ADMIT, Counter, FINISH, RENEW};

/// How long a connection, or a command nobody waits for, may take.
const PATIENCE: Duration = Duration::from_secs(1);
/// A key that is written to see that the server takes writes.
const PROBE: &str = "svc:{limits}:probe";

/// What is to be told to the store after the fact.
pub(super) enum Task {
    /// A request has ended.
    End(Ended),
    /// Nothing more comes; tell when all is told.
    Close(SyncSender<()>),
}

/// A request that has ended.
pub(super) struct Ended {
    pub(super) id: String,
    /// Its counters of tokens and of running requests, with the entry it is counted in.
    pub(super) counters: Vec<(Counter, u64)>,
    /// Tokens it took; `None` leaves the estimate.
    pub(super) tokens: Option<u64>,
}

impl Ended {
    /// Whether anything in the store changes by it.
    pub(super) fn says_something(&self) -> bool {
        self.changed().next().is_some()
    }

    fn command(&self, script: &str) -> Cmd {
        let mut command = cmd("EVALSHA");
        command.arg(script).arg(self.changed().count());
        for (counter, _) in self.changed() {
            command.arg(&counter.key);
        }
        command.arg(&self.id);
        for (counter, entry) in self.changed() {
            let took = self.tokens.unwrap_or(counter.amount);
            command.arg(counter.kind()).arg(*entry).arg(counter.amount).arg(took);
        }
        command
    }

    fn changed(&self) -> impl Iterator<Item = &(Counter, u64)> {
        self.counters.iter().filter(|(counter, _)| match counter.measure {
            Measure::Parallel => true,
            Measure::Tokens => self.tokens.is_some_and(|took| took != counter.amount),
            Measure::Requests => false,
        })
    }
}

/// A script as the server knows it.
#[derive(Clone)]
struct Script {
    text: &'static str,
    hash: String,
}

/// A connection on which the scripts are loaded.
#[derive(Clone)]
pub(super) struct Line {
    connection: MultiplexedConnection,
    /// Tells connections apart.
    pub(super) number: u64,
    admit: Script,
    finish: Script,
    renew: Script,
}

impl Line {
    /// Connects, loads the scripts and sees that the server takes writes.
    pub(super) async fn open(client: &Client, number: u64) -> RedisResult<Self> {
        let config = AsyncConnectionConfig::new().set_connection_timeout(Some(PATIENCE)).set_response_timeout(Some(PATIENCE));
        let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
        let () = cmd("SET").arg(PROBE).arg(1).arg("PX").arg(1000).query_async(&mut connection).await?;
        let admit = load(&mut connection, ADMIT).await?;
        let finish = load(&mut connection, FINISH).await?;
        let renew = load(&mut connection, RENEW).await?;
        Ok(Self { connection, number, admit, finish, renew })
    }

    /// Counts a request.
    pub(super) async fn admit(&self, id: &str, lease_ms: u64, counters: &[Counter]) -> RedisResult<Vec<i64>> {
        self.run(&self.admit, |command| {
            command.arg(counters.len());
            for counter in counters {
                command.arg(&counter.key);
            }
            command.arg(id).arg(lease_ms);
            for counter in counters {
                command.arg(counter.kind()).arg(counter.cap).arg(counter.amount);
            }
        })
        .await
    }

    /// Tells that requests have ended, all in one send.
    pub(super) async fn finish(&self, ended: &[Ended]) -> RedisResult<()> {
        if ended.is_empty() {
            return Ok(());
        }
        let mut connection = self.connection.clone();
        let mut pipeline = pipe();
        for end in ended {
            pipeline.add_command(end.command(&self.finish.hash)).ignore();
        }
        match pipeline.query_async(&mut connection).await {
            Err(error) if is_forgotten(&error) => {
                load(&mut connection, FINISH).await?;
                pipeline.query_async(&mut connection).await
            }
            other => other,
        }
    }

    /// Renews the leases of running requests.
    pub(super) async fn renew(&self, key: &str, lease_ms: u64, ids: &[String]) -> RedisResult<()> {
        self.run(&self.renew, |command| {
            command.arg(1).arg(key).arg(lease_ms).arg(ids);
        })
        .await
    }

    /// Whether the server is there.
    pub(super) async fn ping(&self) -> RedisResult<()> {
        cmd("PING").query_async(&mut self.connection.clone()).await
    }

    /// Runs a script by its hash, or by its text where the server has forgotten it.
    async fn run<T: FromRedisValue>(&self, script: &Script, arguments: impl Fn(&mut Cmd)) -> RedisResult<T> {
        let mut connection = self.connection.clone();
        let mut command = cmd("EVALSHA");
        arguments(command.arg(&script.hash));
        match command.query_async(&mut connection).await {
            Err(error) if is_forgotten(&error) => {
                let mut command = cmd("EVAL");
                arguments(command.arg(script.text));
                command.query_async(&mut connection).await
            }
            other => other,
        }
    }
}

async fn load(connection: &mut MultiplexedConnection, text: &'static str) -> RedisResult<Script> {
    let hash = cmd("SCRIPT").arg("LOAD").arg(text).query_async(connection).await?;
    Ok(Script { text, hash })
}

fn is_forgotten(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}
