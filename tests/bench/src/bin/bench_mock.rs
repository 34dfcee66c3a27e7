//! `bench-mock`: a provider that answers at once, with canned JSON or a stream of the length and pace asked for.
//!
//! `bench-mock --listen 127.0.0.1:PORT [--lifetime-s 3600]`; it ends by itself after its lifetime.

use std::time::Duration;

use anyhow::{Context, Result};
use svc_bench::mock;
use svc_bench::options::Options;
use tokio::net::TcpListener;
use tokio::task::LocalSet;

const LIFETIME_S: u64 = 3_600;

fn main() -> Result<()> {
    let options = Options::parse(std::env::args().skip(1), &["listen", "lifetime-s"])?;
    let address = options.loopback("listen")?;
    let lifetime = Duration::from_secs(options.number("lifetime-s")?.unwrap_or(LIFETIME_S));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async {
        let listener = TcpListener::bind(address).await.with_context(|| format!("listen on {address}"))?;
        // The end of its lifetime is a normal end.
        let _ = tokio::time::timeout(lifetime, mock::serve(listener)).await;
        Ok(())
    })
}
