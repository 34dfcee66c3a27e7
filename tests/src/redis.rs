//! A real Redis or Valkey server for a test, which can be stopped and started again.
//!
//! As with PostgreSQL, the server is the child of a shell script that waits on a pipe, so that it ends with the test process
//! however that ends.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::certificates::certify;
use crate::ports::free_address;
use crate::wait;
use crate::watchdog;

const PROGRAMS: [&str; 2] = ["redis-server", "valkey-server"];
const MISSING: &str = "neither redis-server nor valkey-server is installed; these tests need one: apt-get install redis-server";

/// `$0` is the server, `$1` its port, `$2` its folder and `$3` its port for TLS.
const PLACE: &str = r#"if [ -e "$2/leaf.pem" ]; then
    set -- "$1" "$2" --tls-port "$3" --tls-cert-file "$2/leaf.pem" --tls-key-file "$2/leaf.key" --tls-ca-cert-file "$2/ca.pem" --tls-auth-clients no
else
    set -- "$1" "$2"
fi
port=$1 folder=$2
shift 2
"#;
const START: &str = r#""$0" --port "$port" --bind 127.0.0.1 --save '' --appendonly no --dir "$folder" "$@" >"$folder/log" 2>&1"#;

/// A server that keeps nothing on disk.
pub struct Redis {
    program: PathBuf,
    folder: TempDir,
    port: u16,
    tls_port: u16,
    watchdog: Option<Child>,
}

impl Redis {
    /// Starts one and waits until it answers.
    ///
    /// # Panics
    /// When none is installed, or it does not start.
    #[must_use]
    pub fn start() -> Self {
        let mut server = Self::make();
        server.resume();
        server
    }

    /// The same with a port for TLS beside the other, and a certificate for 127.0.0.1 by an authority of its own.
    ///
    /// # Panics
    /// When none is installed, or it does not start.
    #[must_use]
    pub fn start_tls() -> Self {
        let mut server = Self::make();
        certify(server.folder.path(), "IP:127.0.0.1", 2);
        server.resume();
        server
    }

    fn make() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = std::env::split_paths(&path)
            .flat_map(|folder| PROGRAMS.map(|name| folder.join(name)))
            .find(|program| program.is_file())
            .expect(MISSING);
        let folder = tempfile::Builder::new().prefix("svc-redis-").tempdir().expect("a temporary folder");
        Self { program, folder, port: free_address().port(), tls_port: free_address().port(), watchdog: None }
    }

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Its URL over TLS.
    #[must_use]
    pub fn tls_url(&self) -> String {
        format!("rediss://127.0.0.1:{}", self.tls_port)
    }

    /// The certificate of its authority.
    #[must_use]
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Kills it; all it knew is lost.
    ///
    /// # Panics
    /// When it cannot be waited for.
    pub fn stop(&mut self) {
        if let Some(mut watchdog) = self.watchdog.take() {
            drop(watchdog.stdin.take());
            watchdog.wait().expect("the watchdog is ours");
        }
    }

    /// Starts it again on the same port.
    ///
    /// # Panics
    /// When it does not start.
    pub fn resume(&mut self) {
        let watchdog = Command::new("/bin/sh")
            .args(["-c", &(PLACE.to_owned() + &watchdog::script(START, "KILL"))])
            .arg(&self.program)
            .arg(self.port.to_string())
            .arg(self.folder.path())
            .arg(self.tls_port.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.watchdog = Some(watchdog.expect("a shell"));
        wait::until("Redis to answer", || self.ask("PING").filter(|answer| answer.starts_with("+PONG")));
    }

    /// What the server says to a command, as it says it.
    ///
    /// # Panics
    /// When it does not answer.
    pub fn command(&self, arguments: &[&str]) -> String {
        let mut command = format!("*{}\r\n", arguments.len());
        for argument in arguments {
            command.push_str(&format!("${}\r\n{argument}\r\n", argument.len()));
        }
        self.ask(command.trim_end()).expect("the server runs")
    }

    /// What the server says to a command in one line; `None` when it does not answer.
    #[must_use]
    pub fn ask(&self, command: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
        stream.write_all(format!("{command}\r\nQUIT\r\n").as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.stop();
    }
}
