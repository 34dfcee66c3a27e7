//! Ports for servers that tests start, and that nobody else takes in between.
//!
//! A port the kernel hands out for `:0` is free for a moment only: as soon as it is let go, any client's connection or
//! another test's server may get it, and a test then talks to a stranger. So ports are taken from below the range the
//! kernel hands out from, and each is held by a locked file until this process ends.

use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::BuildHasher;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, PoisonError};

/// Below Linux's `ip_local_port_range`, above well-known services.
const FIRST: u16 = 10_240;
const COUNT: u16 = 20_000;

/// The locks of the ports this process has taken.
static HELD: Mutex<Vec<File>> = Mutex::new(Vec::new());

/// A loopback address nobody listens on, and that no other test gets while this process lives.
///
/// # Panics
/// When the machine has none, or its temporary folder cannot be written.
#[must_use]
pub fn free_address() -> SocketAddr {
    // A folder for each user, since another's files could not be locked.
    let user = tempfile::tempfile().and_then(|file| file.metadata()).expect("the temporary folder is writable").uid();
    let folder = std::env::temp_dir().join(format!("svc-tests-ports-{user}"));
    fs::create_dir_all(&folder).expect("the temporary folder is writable");
    let start = RandomState::new().hash_one(std::process::id());
    for step in 0..COUNT {
        let offset = u16::try_from((start + u64::from(step)) % u64::from(COUNT)).expect("less than a port");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, FIRST + offset));
        let Ok(lock) = File::create(folder.join(address.port().to_string())) else { continue };
        if lock.try_lock().is_ok() && TcpListener::bind(address).is_ok() {
            HELD.lock().unwrap_or_else(PoisonError::into_inner).push(lock);
            return address;
        }
    }
    panic!("none of {COUNT} ports is free");
}

#[test]
fn no_address_is_given_twice() {
    let mut given: Vec<_> = (0..200).map(|_| free_address()).collect();
    given.sort_unstable();
    given.dedup();
    assert_eq!(given.len(), 200);
}
