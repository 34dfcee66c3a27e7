//! The listener: plain or TLS, HTTP/1.1 or HTTP/2, and a socket that a handler may reset.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use crate::auth::GoogleError;
use crate::options::Options;
use crate::routes;

/// A running instance. Dropping it closes the port and every connection.
#[derive(Debug)]
pub struct Demo {
    address: SocketAddr,
    scheme: &'static str,
    accepting: JoinHandle<()>,
}

/// Why an instance did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is taken or not ours.
    #[error("listen on {0}")]
    Listen(SocketAddr, #[source] io::Error),
    /// The PEM files cannot be read.
    #[error("read the certificate or its key")]
    Pem(#[from] rustls::pki_types::pem::Error),
    /// The service account's file is unusable.
    #[error(transparent)]
    ServiceAccount(#[from] GoogleError),
    /// Certificate and key do not fit.
    #[error("use the certificate")]
    Tls(#[from] rustls::Error),
}

impl Demo {
    /// Binds and serves in the background.
    ///
    /// # Errors
    /// When the address cannot be bound or the TLS files are unusable.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        let tls = options.tls.as_ref().map(|(cert, key)| acceptor(cert, key)).transpose()?;
        let listen = |error| StartError::Listen(options.listen, error);
        let listener = TcpListener::bind(options.listen).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let router = routes::router(&options)?;
        Ok(Self { address, scheme, accepting: tokio::spawn(accept(listener, tls, router)) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Scheme, host and port, without a path.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Lets a handler break the connection its request came on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fuse(Arc<AtomicBool>);

impl Fuse {
    /// The next write fails and the peer sees a TCP reset.
    pub(crate) fn blow(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(()) }
    }
}

async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, router: Router) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(connections.spawn(connection(stream, tls.clone(), router.clone()))),
                Err(error) => log::warn!("failed to accept a connection: {error}"),
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, tls: Option<TlsAcceptor>, router: Router) {
    let _ = stream.set_nodelay(true);
    let fuse = Fuse::default();
    let router = router.layer(axum::Extension(fuse.clone()));
    let wire = Wire { stream, fuse };
    let Some(tls) = tls else { return http(wire, router).await };
    match tls.accept(wire).await {
        Ok(stream) => http(stream, router).await,
        Err(error) => log::debug!("failed to agree on TLS: {error}"),
    }
}

async fn http(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, router: Router) {
    let served = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)).await;
    if let Err(error) = served {
        log::debug!("a connection ended early: {error}");
    }
}

fn acceptor(cert: &Path, key: &Path) -> Result<TlsAcceptor, StartError> {
    let chain = CertificateDer::pem_file_iter(cert)?.collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_file(key)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = builder.with_no_client_auth().with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// A TCP stream that a blown fuse turns into a reset.
struct Wire {
    stream: TcpStream,
    fuse: Fuse,
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.fuse.check().is_err() {
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.fuse.check()?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.fuse.check()?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
