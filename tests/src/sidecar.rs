//! The real sidecar with the tests' tiny models.
//!
//! As with PostgreSQL, it is the child of a shell script that waits on a pipe, so that it ends with the test process however that
//! ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use tempfile::TempDir;

use crate::{wait, watchdog};

/// How long the sidecar may take to be ready, its packages included where they have to be installed first.
const READY: Duration = Duration::from_secs(300);

/// `$0` is the sidecar's script, `$1` its configuration.
const START: &str = r#""$0" --config "$1" --listen 127.0.0.1:0"#;

/// A running sidecar. Its models are `injection`, which knows the word "ignore", `toxicity`, which knows "idiot", and `pii`, which
/// knows some names and e-mail addresses.
pub struct Sidecar {
    address: SocketAddr,
    watchdog: Child,
    _folder: TempDir,
}

impl Sidecar {
    /// The one that the tests of a program share.
    #[must_use]
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Sidecar> = OnceLock::new();
        SHARED.get_or_init(|| Self::start(""))
    }

    /// Starts one and waits until its models are loaded; `conf` is added to its configuration.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start(conf: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("svc-sidecar-").tempdir().expect("a temporary folder");
        let made = Command::new(script()).arg("models").arg(folder.path()).stdout(Stdio::null()).status().expect("sidecar/run can be run");
        assert!(made.success(), "the tiny models were made");
        let path = folder.path().join("sidecar.yaml");
        let written = std::fs::read_to_string(&path).expect("the models came with a configuration");
        std::fs::write(&path, written + conf).expect("the folder is writable");
        let mut command = Command::new("bash");
        command
            .arg("-c")
            .arg(watchdog::script(START, "KILL"))
            .arg(script())
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut watchdog = command.spawn().expect("bash can be run");
        let mut line = String::new();
        BufReader::new(watchdog.stdout.take().expect("stdout is piped")).read_line(&mut line).expect("its first line");
        let address = line.trim().rsplit_once("http://").and_then(|(_, address)| address.parse().ok());
        let address = address.unwrap_or_else(|| panic!("the sidecar says where it listens, not {line:?}"));
        let sidecar = Self { address, watchdog, _folder: folder };
        wait::within(READY, "the sidecar's models", || sidecar.is_ready().then_some(()));
        sidecar
    }

    /// Base URL without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn is_ready(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(self.address) else { return false };
        let asked = stream.write_all(b"GET /health HTTP/1.1\r\nhost: sidecar\r\nconnection: close\r\n\r\n");
        let mut answer = String::new();
        asked.is_ok() && stream.read_to_string(&mut answer).is_ok() && answer.starts_with("HTTP/1.1 200")
    }
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        // The script sees the end of its pipe and ends the sidecar.
        drop(self.watchdog.stdin.take());
        let _ = self.watchdog.wait();
    }
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests lie in the repository").join("sidecar/run")
}
