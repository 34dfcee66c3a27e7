//! Addresses of a provider's host, looked up without blocking and kept for a short time.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;

/// How long looked-up addresses are used.
const KEPT: Duration = Duration::from_secs(30);
/// How long a look-up may take.
const DEADLINE: Duration = Duration::from_secs(5);

#[derive(Debug)]
struct Found {
    addresses: Vec<SocketAddr>,
    until: Instant,
}

#[derive(Debug)]
pub(crate) struct Resolver {
    literal: Option<SocketAddr>,
    host: String,
    port: u16,
    found: ArcSwapOption<Found>,
}

impl Resolver {
    pub(crate) fn new(host: String, port: u16) -> Self {
        let literal = host.parse::<IpAddr>().ok().map(|address| SocketAddr::new(address, port));
        Self { literal, host, port, found: ArcSwapOption::empty() }
    }

    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// The address for the `attempt`-th try. Addresses past their time are still used while the resolver is unreachable.
    pub(crate) async fn address(&self, attempt: usize) -> io::Result<SocketAddr> {
        if let Some(address) = self.literal {
            return Ok(address);
        }
        let known = self.found.load_full();
        if let Some(found) = known.as_ref().filter(|found| Instant::now() < found.until) {
            return pick(&found.addresses, attempt);
        }
        match self.look_up().await {
            Ok(addresses) => {
                let address = pick(&addresses, attempt);
                self.found.store(Some(Arc::new(Found { addresses, until: Instant::now() + KEPT })));
                address
            }
            Err(error) => known.map_or(Err(error), |found| pick(&found.addresses, attempt)),
        }
    }

    async fn look_up(&self) -> io::Result<Vec<SocketAddr>> {
        let look_up = tokio::net::lookup_host((self.host.as_str(), self.port));
        let mut addresses: Vec<SocketAddr> = tokio::time::timeout(DEADLINE, look_up).await.map_err(io::Error::other)??.collect();
        // Addresses of the older protocol first: a host without a route to the newer one is the commoner misfortune.
        addresses.sort_by_key(SocketAddr::is_ipv6);
        Ok(addresses)
    }
}

fn pick(addresses: &[SocketAddr], attempt: usize) -> io::Result<SocketAddr> {
    let index = attempt.checked_rem(addresses.len()).unwrap_or(0);
    addresses.get(index).copied().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the host has no address"))
}
