//! From a configuration file to a running gateway.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use pingora::apps::HttpServerOptions;
use pingora::listeners::ListenerConfig;
use pingora::listeners::tls::TlsSettings;
use pingora::protocols::l4::stream::L4BufferSettings;
use pingora::proxy::http_proxy;
use pingora::server::configuration::ServerConf;
use pingora::server::{RunArgs, Server};
use pingora::services::listening::Service;
use sea_orm::DatabaseConnection;
use svc_filters::auth::Pepper;
use svc_filters::chain::Chain;
use svc_filters::registry::Registry;
use tokio::net::TcpSocket;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::clock::Clock;
use crate::conf::Conf;
use crate::control::Control;
use crate::edge::Edge;
use crate::events::Events;
use crate::guardrail_models::GuardrailModels;
use crate::licence::{self, Feature, Licence};
use crate::limiter;
use crate::phases::body::BodyMemory;
use crate::proxy::Proxy;
use crate::request_id::RequestId;
use crate::secrets::Secrets;
use crate::shutdown::{Signals, end_when_idle};
use crate::state::{Active, Gateway};
use crate::store::{self, Counting, Flusher, Journal, Live, Sealer};
use crate::telemetry::{self, Metrics};
use crate::traces::Traces;

/// Bytes the journal may hold while the database is away.
const JOURNAL_BYTES: u64 = 1 << 30;
/// Idle connections to providers that are kept.
const UPSTREAM_POOL: usize = 1024;
/// How long the journal may be written out, and spans be sent, at the end.
const LAST_FLUSH: Duration = Duration::from_secs(10);

/// How long another process may still hold the address to listen on.
const ADDRESS_WAIT: Duration = Duration::from_secs(10);
const ADDRESS_PAUSE: Duration = Duration::from_millis(100);

/// Checks a configuration as far as that is possible without starting anything.
///
/// # Errors
/// What is wrong with it.
pub fn check(conf: &Conf, registry: &Registry) -> Result<()> {
    Chain::build(&conf.filters, registry)?;
    limiter::parse(&conf.redis)?;
    Traces::start(&conf.telemetry.traces, "")?;
    Ok(())
}

/// Runs the gateway until a signal ends it. What is to be seen of its log is for the caller to say before; see
/// [`logs::start`](crate::logs::start).
///
/// # Errors
/// When it cannot start.
pub fn run(conf: Conf, registry: &Registry) -> Result<()> {
    let chain = Chain::build(&conf.filters, registry)?;
    wait_for_address("server.listen", conf.server.listen)?;
    let secrets = Secrets::load(&conf)?;
    let runtime = store_runtime()?;
    let pepper = Pepper::new(secrets.key_pepper());
    let sealer = Sealer::new(secrets.master_key());
    let clock = Clock::default();
    let now = clock.unix_ms();
    let licence = Licence::at_start(&conf, &secrets, now / 1000);
    log::info!("{}", licence.line(now / 1000));
    licence.warn_about(&conf);
    let (database, live) = runtime.block_on(open_database(&conf, &pepper, &sealer))?;
    if let Err(error) = runtime.block_on(licence::tell_change(&database, &licence, now)) {
        log::warn!("failed to note how the licence stands: {error}");
    }
    let folder = conf.data_dir.join("journal");
    let journal = Journal::open(&folder, JOURNAL_BYTES)?;
    let begin = journal.end_position();
    let shared = shared_limits(&conf)?;
    let metrics = metrics(&conf, &licence)?;
    let instance = RequestId::generate(now);
    let (traces, exporter) = Traces::start(&conf.telemetry.traces, instance.as_str())?.unzip();
    let gateway = Arc::new(Gateway {
        chain,
        live: Live::new(live),
        journal,
        events: Events::default(),
        counting: Counting::new(conf.telemetry.own_token_counts, metrics.is_some()),
        metrics,
        traces,
        clock,
        body_memory: BodyMemory::new(conf.server.limits.body_memory.as_usize()),
        shared,
        guardrail_models: GuardrailModels::new(&conf.guardrail_models)?,
        active: Active::default(),
        control: Control::new(database.clone(), runtime.handle().clone(), pepper.clone(), secrets.admin(), licence.clone()),
        licence,
        conf,
    });
    let (stop, stopped) = watch::channel(false);
    let flusher = Flusher::new(gateway.clone(), database.clone(), &folder, begin)?;
    let flushing = runtime.spawn(flusher.run(stopped.clone()));
    let exporting = exporter.map(|exporter| runtime.spawn(exporter.run()));
    runtime.spawn(store::refresh(gateway.clone(), database, pepper, sealer, stopped));
    if gateway.metrics.is_some() {
        runtime.block_on(show_metrics(&gateway))?;
    }
    let (signals, begun) = Signals::new();
    let ending = gateway.clone();
    end_when_idle(gateway.clone(), begun, move || {
        if let Some(shared) = &ending.shared {
            shared.close();
        }
        let _ = stop.send(true);
        let last = async {
            let _ = flushing.await;
            if let (Some(traces), Some(exporting)) = (&ending.traces, exporting) {
                traces.close();
                let _ = exporting.await;
            }
        };
        let _ = runtime.block_on(async { tokio::time::timeout(LAST_FLUSH, last).await });
    });
    serve(&gateway, signals)
}

/// Waits until nobody listens there: the process before this one may still be ending.
///
/// # Errors
/// When it stays taken, or may not be used.
fn wait_for_address(setting: &str, address: SocketAddr) -> Result<()> {
    let deadline = Instant::now() + ADDRESS_WAIT;
    loop {
        match bind(address) {
            Ok(()) => return Ok(()),
            Err(cause) if cause.kind() == ErrorKind::AddrInUse && Instant::now() < deadline => std::thread::sleep(ADDRESS_PAUSE),
            Err(cause) => return Err(cause).with_context(|| format!("{setting}: cannot listen on {address}")),
        }
    }
}

/// Takes an address and lets it go again without ever listening: a client that was let in would be dropped with it.
fn bind(address: SocketAddr) -> io::Result<()> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)
}

/// What is to be counted for Prometheus, where that is asked for and this edition does it.
///
/// # Errors
/// When the listener's address stays taken.
fn metrics(conf: &Conf, licence: &Licence) -> Result<Option<Metrics>> {
    if !conf.metrics.enabled {
        return Ok(None);
    }
    if licence.require(Feature::Metrics).is_err() {
        log::warn!("metrics.enabled: metrics are unavailable, they need the Enterprise build; no listener is opened");
        return Ok(None);
    }
    wait_for_address("metrics.port", conf.metrics.address())?;
    Ok(Some(Metrics::new().context("failed to declare the metrics")?))
}

/// Opens the listener for Prometheus, on the store's threads. It answers until the process ends, after the last flush.
async fn show_metrics(gateway: &Arc<Gateway>) -> Result<()> {
    let address = gateway.conf.metrics.address();
    let listener = telemetry::bind(address).await.with_context(|| format!("metrics.port: cannot listen on {address}"))?;
    log::info!("metrics on http://{address}/metrics");
    tokio::spawn(telemetry::serve(listener, gateway.clone()));
    Ok(())
}

fn shared_limits(conf: &Conf) -> Result<Option<Box<dyn limiter::Store>>> {
    let Some(client) = limiter::parse(&conf.redis)? else { return Ok(None) };
    let redis = limiter::Redis::start(client, *conf.redis.timeout).context("failed to start the thread of the shared limits")?;
    Ok(Some(Box::new(redis)))
}

async fn open_database(conf: &Conf, pepper: &Pepper, sealer: &Sealer) -> Result<(DatabaseConnection, store::Snapshot)> {
    let database = svc_migrations::connect(conf.database.url.reveal(), conf.database.max_connections).await?;
    svc_migrations::migrate(&database).await?;
    store::declare(&database, conf, pepper, sealer).await?;
    let snapshot = store::load(&database, conf, pepper, sealer, None).await?;
    log::info!(
        "{} keys, {} providers, {} models",
        snapshot.policy.keys.len(),
        snapshot.providers.len(),
        snapshot.policy.models.iter().count()
    );
    Ok((database, snapshot))
}

fn serve(gateway: &Arc<Gateway>, signals: Signals) -> Result<()> {
    let conf = &gateway.conf;
    let mut server = Server::new_with_opt_and_conf(None, server_conf(conf));
    server.bootstrap();
    let mut proxy = http_proxy(&server.configuration, Proxy::new(gateway.clone()));
    let limits = &conf.server.limits;
    let mut options = HttpServerOptions::default();
    options.keepalive_request_limit = Some(limits.keepalive_requests);
    proxy.server_options = Some(options);
    let mut service = Service::new("svc".to_owned(), Edge::new(proxy, conf));
    service.add_listener(listener(conf)?);
    server.add_service(service);
    log::info!("listening on {}", conf.server.listen);
    server.run(RunArgs { shutdown_signal: Box::new(signals) });
    // The watcher thread ends the process; Pingora may return first.
    loop {
        std::thread::park();
    }
}

fn server_conf(conf: &Conf) -> ServerConf {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    ServerConf {
        threads: if conf.server.threads == 0 { cores } else { conf.server.threads },
        upstream_keepalive_pool_size: UPSTREAM_POOL,
        grace_period_seconds: Some(conf.server.grace_period.as_secs().saturating_add(LAST_FLUSH.as_secs() + 5)),
        graceful_shutdown_timeout_seconds: Some(1),
        ..ServerConf::default()
    }
}

fn listener(conf: &Conf) -> Result<ListenerConfig> {
    // Pingora reads heads and bodies into buffers of their own, and `edge::Connection` joins writes where that helps; buffers of
    // the connection itself would only cost memory, for every stream there is.
    let listener = ListenerConfig::tcp(conf.server.listen.to_string()).l4_buffer(L4BufferSettings::unbuffered());
    let Some(tls) = &conf.server.tls else { return Ok(listener) };
    let (cert, key) = (tls.cert.to_string_lossy(), tls.key.to_string_lossy());
    let mut settings = TlsSettings::intermediate(&cert, &key).context("failed to read the listener's certificate and key")?;
    settings.enable_h2();
    Ok(listener.tls(settings))
}

/// A small runtime for everything that touches the database, on threads that give way to the request path.
fn store_runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("svc-store")
        .on_thread_start(give_way)
        .enable_all()
        .build()
        .context("failed to start the store's runtime")
}

#[expect(unsafe_code, reason = "std has no call for a thread's priority")]
fn give_way() {
    const NICE: libc::c_int = 10;
    // SAFETY: the call changes the calling thread's own priority and touches no memory.
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) } != 0 {
        log::debug!("the store's threads keep the normal priority");
    }
}
