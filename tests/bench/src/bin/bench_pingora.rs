//! `bench-pingora`: the least a Pingora proxy can do, as the lower bound for the gateway.
//!
//! One upstream, no filters, the library's defaults.

use std::net::SocketAddr;

use anyhow::Result;
use async_trait::async_trait;
use pingora::prelude::{HttpPeer, ProxyHttp, Server, Session, http_proxy_service};
use pingora::server::configuration::ServerConf;
use svc_bench::options::Options;

/// Idle upstream connections kept: more than any scenario opens.
const KEPT_CONNECTIONS: usize = 2_048;

struct Passage {
    upstream: SocketAddr,
}

#[async_trait]
impl ProxyHttp for Passage {
    type CTX = ();

    fn new_ctx(&self) -> Self::CTX {}

    async fn upstream_peer(&self, _session: &mut Session, _ctx: &mut Self::CTX) -> pingora::Result<Box<HttpPeer>> {
        Ok(Box::new(HttpPeer::new(self.upstream, false, String::new())))
    }
}

fn main() -> Result<()> {
    let options = Options::parse(std::env::args().skip(1), &["listen", "upstream", "threads"])?;
    let threads = usize::try_from(options.number("threads")?.unwrap_or(1))?;
    let conf = ServerConf { threads, upstream_keepalive_pool_size: KEPT_CONNECTIONS, ..ServerConf::default() };
    let mut server = Server::new_with_opt_and_conf(None, conf);
    server.bootstrap();
    let mut service = http_proxy_service(&server.configuration, Passage { upstream: options.loopback("upstream")? });
    service.add_tcp(&options.loopback("listen")?.to_string());
    server.add_service(service);
    server.run_forever()
}
