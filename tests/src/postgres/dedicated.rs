//! A server of a test's own, which can be stopped and started again over the same files.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use anyhow::Result;
use tempfile::TempDir;

use super::{Account, find_binaries, initialise, wait_until_ready};
use crate::ports::free_address;
use crate::watchdog;

/// As for the shared server, but the files stay when the server ends.
const START: &str = r#""$0" -D "$1/data" -p "$2" -k "$1" -h 127.0.0.1 -c max_connections=100 >"$1/log" 2>&1"#;

/// A server that ends with the value, whatever happens to the test.
pub struct Dedicated {
    binaries: PathBuf,
    account: Account,
    folder: TempDir,
    port: u16,
    keeper: Option<Child>,
}

impl Dedicated {
    /// Creates and starts one.
    ///
    /// # Errors
    /// When PostgreSQL is not installed or does not start.
    pub fn start() -> Result<Self> {
        let binaries = find_binaries()?;
        let account = Account::for_server()?;
        let folder = tempfile::Builder::new().prefix("svc-postgres-own-").tempdir()?;
        account.give(folder.path())?;
        initialise(&binaries, folder.path(), &account)?;
        let port = free_address().port();
        let mut server = Self { binaries, account, folder, port, keeper: None };
        server.resume()?;
        Ok(server)
    }

    /// URL of its one database.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://postgres:trusted@127.0.0.1:{}/postgres", self.port)
    }

    /// Stops it at once, without a word to its clients, as `pg_ctl stop -m immediate` does.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn stop(&mut self) -> Result<()> {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            keeper.wait()?;
        }
        Ok(())
    }

    /// Starts it again.
    ///
    /// # Errors
    /// When it does not become ready.
    pub fn resume(&mut self) -> Result<()> {
        let _ = fs::remove_file(self.folder.path().join("data/postmaster.pid"));
        let mut keeper = self
            .account
            .command("/bin/sh")
            .args(["-c", &watchdog::script(START, "QUIT")])
            .arg(self.binaries.join("postgres"))
            .arg(self.folder.path())
            .arg(self.port.to_string())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        wait_until_ready(&mut keeper, self.folder.path())?;
        self.keeper = Some(keeper);
        Ok(())
    }
}

impl Drop for Dedicated {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}
