//! Addresses where nobody answers at all.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

use super::{Faulty, Step};
use crate::stub::Asked;

/// How long an attempt to connect waits before it is taken as unanswered.
const UNANSWERED: Duration = Duration::from_millis(150);
/// More than any kernel lets in beside a backlog of nothing.
const MOST: usize = 64;

/// An address, held as long as this lives.
pub struct Place {
    address: SocketAddr,
    socket: Socket,
    _visitors: Vec<TcpStream>,
}

impl Place {
    /// Base URL without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers there from now on.
    ///
    /// # Panics
    /// When the kernel does not let it listen.
    #[must_use]
    pub fn recover(self, answer: impl Fn(&Asked) -> Vec<Step> + Send + Sync + 'static) -> Faulty {
        self.socket.listen(128).expect("a bound socket listens");
        Faulty::over(self.socket.into(), |_| None, answer)
    }

    fn bind() -> (Socket, SocketAddr) {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).expect("a free port");
        let address = socket.local_addr().expect("it is bound").as_socket().expect("an IP address");
        (socket, address)
    }
}

/// A port that is taken and does not listen: connecting is refused.
///
/// # Panics
/// When there is no free port.
#[must_use]
pub fn closed_port() -> Place {
    let (socket, address) = Place::bind();
    Place { address, socket, _visitors: Vec::new() }
}

/// A listener that accepts nothing and whose backlog is full: connecting is not answered.
///
/// # Panics
/// When the kernel goes on answering.
#[must_use]
pub fn full_backlog() -> Place {
    let (socket, address) = Place::bind();
    socket.listen(0).expect("a bound socket listens");
    let mut visitors = Vec::new();
    while let Ok(visitor) = TcpStream::connect_timeout(&address, UNANSWERED) {
        visitors.push(visitor);
        assert!(visitors.len() < MOST, "the kernel answers beyond the backlog");
    }
    Place { address, socket, _visitors: visitors }
}
