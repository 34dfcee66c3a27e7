//! Measures what a row of the request log costs: `request_log <database URL> [rows] [rows per call]`.

use std::time::Instant;

use anyhow::{Context, Result};
use svc_filters::usage::Usage;
use svc_gateway::request_id::RequestId;
use svc_gateway::store::{AttemptRecord, Record, RequestOutcome, request_log};

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().context("usage: request_log <database URL> [rows] [rows per call]")?;
    let rows = arguments.next().map_or(Ok(100_000), |text| text.parse::<usize>())?;
    let per_call = arguments.next().map_or(Ok(256), |text| text.parse::<usize>())?;
    let db = svc_migrations::connect(&url, 2).await?;
    svc_migrations::migrate(&db).await?;
    let records: Vec<Record> = (0..rows).map(record).collect();
    let (started, used) = (Instant::now(), cpu_us());
    for batch in records.chunks(per_call) {
        request_log::insert(&db, batch).await?;
    }
    let (wall, cpu) = (started.elapsed(), cpu_us() - used);
    let rows = rows as f64;
    println!("{:.2} us per row, of which {:.2} us CPU in this process", wall.as_secs_f64() * 1e6 / rows, cpu as f64 / rows);
    Ok(())
}

fn record(number: usize) -> Record {
    let started_at = 1_700_000_000_000 + i64::try_from(number).unwrap_or_default() / 5;
    Record {
        request_id: RequestId::generate(started_at).as_str().to_owned(),
        started_at,
        key_id: Some(format!("018bcfe5-6800-7000-8000-{:012}", number % 20)),
        owner_kind: Some("user".into()),
        owner_id: Some(format!("018bcfe5-6800-7000-9000-{:012}", number % 20)),
        client_shape: "chat_completions".into(),
        endpoint: "chat_completions".into(),
        path: "/v1/chat/completions".into(),
        provider: Some("openai".into()),
        provider_shape: Some("chat_completions".into()),
        model_asked: Some("gpt-4o".into()),
        model_resolved: Some("gpt-4o".into()),
        model_upstream: Some("gpt-4o".into()),
        status: 200,
        outcome: RequestOutcome::Complete,
        stream: number.is_multiple_of(2),
        total_us: 812_345,
        first_byte_us: Some(212_345),
        overhead_us: 345,
        usage: Some(Usage { input_uncached: 812, output: 345, ..Usage::default() }),
        request_bytes: 2_345,
        response_bytes: 6_789,
        client_address: Some("10.0.0.7".into()),
        user_agent: Some("OpenAI/Python 1.99.0".into()),
        attempts: vec![AttemptRecord { provider: "openai".into(), model: "gpt-4o".into(), status: 200, us: 811_999, ..Default::default() }],
        finish_reason: Some("stop".into()),
        ..Record::default()
    }
}

/// CPU time of this process in microseconds, the database's own threads included.
fn cpu_us() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    // User and system time, in hundredths of a second, are the 12th and 13th fields from the process's state on.
    let hundredths = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    (hundredths(11) + hundredths(12)) * 10_000
}
