//! A real PostgreSQL server for tests: one per test process, thrown away with it.
//!
//! The server is the child of a small shell script that waits on a pipe. The test process holds the other end of that pipe
//! open for as long as it lives, so however it ends, also by `kill -9`, the script stops the server and removes its files.

pub mod dedicated;

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use sea_orm::sqlx::postgres::PgConnection;
use sea_orm::sqlx::{AssertSqlSafe, Connection, Executor};

use crate::ports::free_address;
use crate::watchdog;

/// How long a server may take to become ready.
const READY_DEADLINE: Duration = Duration::from_secs(60);
const READY_PAUSE: Duration = Duration::from_millis(20);
/// Where Debian puts the binaries of each major version.
const DEBIAN_VERSIONS: &str = "/usr/lib/postgresql";
const MISSING: &str = "PostgreSQL is not installed; these tests need its server: apt-get install postgresql";

/// `$0` is the server's binary, `$1` its folder and `$2` its port.
const START: &str = r#""$0" -D "$1/data" -p "$2" -k "$1" -h 127.0.0.1 -F -c synchronous_commit=off -c full_page_writes=off \
    -c max_connections=300 >"$1/log" 2>&1"#;
/// Its files go with it.
const CLEAN: &str = "rm -rf \"$1\"\n";

static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
static DATABASES: AtomicU32 = AtomicU32::new(0);

/// Creates an empty database on the process's server, which is started on first use, and returns its URL.
///
/// # Errors
/// When PostgreSQL is not installed, does not start, or refuses the new database.
pub async fn fresh_database() -> Result<String> {
    let server = SERVER.get_or_init(|| Server::start().map_err(|cause| format!("{cause:#}")));
    let server = server.as_ref().map_err(|cause| anyhow!("failed to start PostgreSQL: {cause}"))?;
    let name = format!("svc_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
    let mut connection = PgConnection::connect(&server.url("postgres")).await?;
    connection.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await?;
    connection.close().await?;
    Ok(server.url(&name))
}

/// A running server. Its watchdog, and with it the server, ends when this process does.
#[derive(Debug)]
struct Server {
    port: u16,
    _watchdog: Child,
}

impl Server {
    fn start() -> Result<Self> {
        let binaries = find_binaries()?;
        let account = Account::for_server()?;
        let folder = tempfile::Builder::new().prefix("svc-postgres-").tempdir()?;
        account.give(folder.path())?;
        initialise(&binaries, folder.path(), &account)?;
        // From here on the watchdog removes the folder, since only it outlives the server.
        let folder = folder.keep();
        let port = free_address().port();
        let mut watchdog = account
            .command("/bin/sh")
            .args(["-c", &(watchdog::script(START, "QUIT") + CLEAN)])
            .arg(binaries.join("postgres"))
            .arg(&folder)
            .arg(port.to_string())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        wait_until_ready(&mut watchdog, &folder)?;
        Ok(Self { port, _watchdog: watchdog })
    }

    fn url(&self, database: &str) -> String {
        format!("postgres://postgres:trusted@127.0.0.1:{}/{database}", self.port)
    }
}

fn initialise(binaries: &Path, folder: &Path, account: &Account) -> Result<()> {
    let mut command = account.command(binaries.join("initdb"));
    let output = command
        .args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions", "-D"])
        .arg(folder.join("data"))
        .output()
        .context("initdb could not be run")?;
    if !output.status.success() {
        bail!("initdb failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// Waits for the word `ready` on the last line of the server's pid file, as `pg_ctl` does.
fn wait_until_ready(watchdog: &mut Child, folder: &Path) -> Result<()> {
    let started = Instant::now();
    let mut log = String::new();
    while started.elapsed() < READY_DEADLINE {
        let state = fs::read_to_string(folder.join("data/postmaster.pid")).unwrap_or_default();
        if state.lines().nth(7).is_some_and(|line| line.trim() == "ready") {
            return Ok(());
        }
        // Kept from round to round, because the watchdog removes the file when the server ends.
        log = fs::read_to_string(folder.join("log")).unwrap_or(log);
        if watchdog.try_wait()?.is_some() {
            bail!("it ended at once: {log}");
        }
        std::thread::sleep(READY_PAUSE);
    }
    bail!("it was not ready after {} s: {log}", READY_DEADLINE.as_secs())
}

/// The folder with `initdb` and `postgres`: the newest version in Debian's place, else what `PATH` finds. Debian's comes
/// first because programs of these names on `PATH` may be wrappers.
fn find_binaries() -> Result<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir(DEBIAN_VERSIONS)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    versions.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut candidates = versions.into_iter().map(|(_, folder)| folder).chain(on_path);
    candidates.find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file()).context(MISSING)
}

/// Who runs the server: PostgreSQL refuses to run as root.
#[derive(Clone, Copy, Debug)]
struct Account {
    /// User and group to change to; none when this process is not root.
    ids: Option<(u32, u32)>,
}

impl Account {
    fn for_server() -> Result<Self> {
        if effective_user()? != 0 {
            return Ok(Self { ids: None });
        }
        let accounts = fs::read_to_string("/etc/passwd")?;
        let ids = account_ids(&accounts, "postgres").or_else(|| account_ids(&accounts, "nobody"));
        Ok(Self { ids: Some(ids.context("this is root, and there is no user postgres or nobody to run PostgreSQL as")?) })
    }

    fn give(&self, folder: &Path) -> Result<()> {
        if let Some((user, group)) = self.ids {
            chown(folder, Some(user), Some(group))?;
        }
        Ok(())
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir("/").env("LC_ALL", "C");
        if let Some((user, group)) = self.ids {
            command.uid(user).gid(group);
        }
        command
    }
}

fn account_ids(accounts: &str, name: &str) -> Option<(u32, u32)> {
    let line = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut ids = line.split(':').skip(2);
    Some((ids.next()?.parse().ok()?, ids.next()?.parse().ok()?))
}

/// The owner of a file this process has just made.
fn effective_user() -> Result<u32> {
    Ok(tempfile::tempfile()?.metadata()?.uid())
}
