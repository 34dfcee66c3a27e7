//! What to send, how often and for how long.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::options::Options;

/// The options of `bench-load`.
pub const OPTIONS: &[&str] = &[
    "address",
    "path",
    "header",
    "body",
    "marker",
    "deltas",
    "connections",
    "count",
    "rate",
    "ramp-ms",
    "warm-up-ms",
    "run-ms",
    "timeout-ms",
];

const MOST_CONNECTIONS: u64 = 4_096;
const MOST_REQUESTS: u64 = 10_000_000;
const LONGEST_RUN_MS: u64 = 600_000;

/// What a right answer looks like.
#[derive(Debug, Clone)]
pub enum Expected {
    /// One document that contains this text.
    Marker(Vec<u8>),
    /// A stream with exactly this many deltas, usage, and the terminal event as its last.
    Deltas(u64),
}

/// One run of the generator, bounded in time and in count.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Where to connect.
    pub address: SocketAddr,
    /// Head and body of the request, as sent.
    pub request: Vec<u8>,
    /// What each answer is checked for.
    pub expected: Expected,
    /// Connections, each with one request at a time.
    pub connections: u32,
    /// Requests at most.
    pub count: u64,
    /// Requests per second, or as fast as answers come.
    pub rate: Option<u64>,
    /// Time over which the connections start.
    pub ramp: Duration,
    /// Time at the start that is served and checked but not reported.
    pub warm_up: Duration,
    /// Time after the warm-up in which requests begin.
    pub run: Duration,
    /// Longest wait for one whole answer.
    pub timeout: Duration,
}

impl Plan {
    /// Reads the plan from the command line, the body from the file it names.
    ///
    /// # Errors
    /// When an option is missing or out of bounds, or the body cannot be read.
    pub fn from_options(options: &Options) -> Result<Self> {
        let address = options.loopback("address")?;
        let connections = options.number("connections")?.unwrap_or(1);
        ensure!((1..=MOST_CONNECTIONS).contains(&connections), "use {connections} connections: 1 to {MOST_CONNECTIONS} are possible");
        let run_ms = options.number("run-ms")?.unwrap_or(LONGEST_RUN_MS);
        let milliseconds = |name| options.number(name).map(|ms| Duration::from_millis(ms.unwrap_or(0).min(LONGEST_RUN_MS)));
        Ok(Self {
            address,
            request: request(options, address)?,
            expected: expected(options)?,
            connections: u32::try_from(connections)?,
            count: options.number("count")?.unwrap_or(MOST_REQUESTS).min(MOST_REQUESTS),
            rate: options.number("rate")?.filter(|rate| *rate > 0),
            ramp: milliseconds("ramp-ms")?,
            warm_up: milliseconds("warm-up-ms")?,
            run: Duration::from_millis(run_ms.min(LONGEST_RUN_MS)),
            timeout: Duration::from_millis(options.number("timeout-ms")?.unwrap_or(30_000)),
        })
    }
}

fn expected(options: &Options) -> Result<Expected> {
    match (options.number("deltas")?, options.text("marker")) {
        (Some(deltas), _) => Ok(Expected::Deltas(deltas)),
        (None, Some(marker)) => Ok(Expected::Marker(marker.as_bytes().to_vec())),
        (None, None) => anyhow::bail!("know what to expect: give --deltas or --marker"),
    }
}

fn request(options: &Options, address: SocketAddr) -> Result<Vec<u8>> {
    let path = options.text("path").context("find --path")?;
    let file = options.text("body").context("find --body FILE")?;
    let body = std::fs::read(file).with_context(|| format!("read {file}"))?;
    let mut head = format!("POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\naccept: */*\r\n");
    for field in options.all("header") {
        ensure!(!field.contains(['\r', '\n']), "send a header field that spans lines");
        head.push_str(field);
        head.push_str("\r\n");
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    let mut request = head.into_bytes();
    request.extend_from_slice(&body);
    Ok(request)
}
