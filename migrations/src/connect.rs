//! Opening the database a URL names.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use sea_orm::sqlx;
use sea_orm::{DatabaseConnection, DbBackend, SqlxPostgresConnector, SqlxSqliteConnector};
use sqlx::ConnectOptions;
use sqlx::Connection;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

use crate::migrate::is_sqlite_busy;

/// How long a statement waits for a free connection, and how long a server that refuses connections is tried again.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a statement waits for another writer of a SQLite file.
const BUSY_TIMEOUT: Duration = Duration::from_millis(5000);
/// How long several programs that create the same SQLite file may stand in each other's way.
const OPEN_DEADLINE: Duration = Duration::from_secs(60);
const OPEN_PAUSE: Duration = Duration::from_millis(50);

/// Why the database could not be opened. No text here holds a password.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL names a database that is not supported.
    #[error("open the database: its URL must start with sqlite://, postgres:// or postgresql://")]
    Scheme,
    /// The URL cannot be read. Its text is not shown, since a password may be anywhere in it.
    #[error("open the database: its URL is not valid; special characters in user name, password and path must be percent-encoded")]
    Url,
    /// The folder of a SQLite file could not be made.
    #[error("create the folder {} for the database", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file could not be opened, or the server could not be reached or refused.
    #[error("open the database {place}")]
    Open {
        /// File, or host, port and name, of the database.
        place: String,
        /// What the driver said.
        source: sqlx::Error,
    },
}

/// Opens the database and checks that it answers. `max_connections` is at least 1 and at most what the server allows.
///
/// The folder of a SQLite file, and the file, are created where missing. `sqlite::memory:` is a database of its own on every
/// call, kept on one connection. Statements are not logged.
///
/// # Errors
/// When the URL is of no supported kind or cannot be read, or when the database does not answer within 10 seconds.
pub async fn connect(url: &str, max_connections: u32) -> Result<DatabaseConnection, ConnectError> {
    let max_connections = max_connections.max(1);
    match url.split_once(':') {
        Some(("sqlite", _)) => connect_sqlite(url, max_connections).await,
        Some(("postgres" | "postgresql", _)) => connect_postgres(url, max_connections).await,
        _ => Err(ConnectError::Scheme),
    }
}

/// The database's name as people write it in settings and logs: `sqlite` or `postgresql`.
#[must_use]
pub fn backend_name(db: &DatabaseConnection) -> &'static str {
    match db.get_database_backend() {
        DbBackend::Sqlite => "sqlite",
        DbBackend::Postgres => "postgresql",
        _ => "unsupported",
    }
}

async fn connect_sqlite(url: &str, max_connections: u32) -> Result<DatabaseConnection, ConnectError> {
    let options = SqliteConnectOptions::from_str(url)
        .map_err(|_| ConnectError::Url)?
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        // Of a new file; a batch of the request log touches half as many as of the usual size.
        .page_size(8192)
        .pragma("wal_autocheckpoint", "2000")
        // KiB: batches fit, and what lies in the file is in the page cache of the system anyway.
        .pragma("cache_size", "-512")
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true)
        .disable_statement_logging();
    let pool = SqlitePoolOptions::new().acquire_timeout(ACQUIRE_TIMEOUT).test_before_acquire(false);
    let pool = if is_memory(url) {
        // The data lives as long as its connection: keep exactly one, for ever.
        pool.max_connections(1).min_connections(1).idle_timeout(None).max_lifetime(None)
    } else {
        create_folder(options.get_filename())?;
        pool.max_connections(max_connections)
    };
    open_sqlite(pool, options).await.map(SqlxSqliteConnector::from_sqlx_sqlite_pool)
}

fn is_memory(url: &str) -> bool {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    path.ends_with(":memory:") || query.split('&').any(|pair| pair == "mode=memory")
}

fn create_folder(file: &Path) -> Result<(), ConnectError> {
    match file.parent() {
        None => Err(ConnectError::Url),
        Some(folder) => std::fs::create_dir_all(folder).map_err(|source| ConnectError::Folder { folder: folder.to_path_buf(), source }),
    }
}

/// Opens the file, again and again while another program switches it to WAL, for which SQLite does not wait by itself.
async fn open_sqlite(pool: SqlitePoolOptions, options: SqliteConnectOptions) -> Result<sqlx::SqlitePool, ConnectError> {
    let place = options.get_filename().display().to_string();
    let started = Instant::now();
    loop {
        match pool.clone().connect_with(options.clone()).await {
            Ok(pool) => return Ok(pool),
            Err(cause) if is_busy(&cause) && started.elapsed() < OPEN_DEADLINE => tokio::time::sleep(OPEN_PAUSE).await,
            Err(source) => return Err(ConnectError::Open { place, source }),
        }
    }
}

fn is_busy(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| is_sqlite_busy(&code))
}

async fn connect_postgres(url: &str, max_connections: u32) -> Result<DatabaseConnection, ConnectError> {
    let options = PgConnectOptions::from_str(url).map_err(|_| ConnectError::Url)?.disable_statement_logging();
    let pool = PgPoolOptions::new().acquire_timeout(ACQUIRE_TIMEOUT).max_connections(max_connections);
    match pool.connect_with(options.clone()).await {
        Ok(pool) => Ok(SqlxPostgresConnector::from_sqlx_postgres_pool(pool)),
        Err(cause) => Err(ConnectError::Open { place: postgres_place(&options), source: real_cause(&options, cause).await }),
    }
}

/// A pool that ran out of time does not say why; one more try outside the pool does.
async fn real_cause(options: &PgConnectOptions, cause: sqlx::Error) -> sqlx::Error {
    if !matches!(cause, sqlx::Error::PoolTimedOut) {
        return cause;
    }
    match tokio::time::timeout(ACQUIRE_TIMEOUT, PgConnection::connect_with(options)).await {
        Ok(Err(real)) => real,
        Ok(Ok(_)) | Err(_) => cause,
    }
}

fn postgres_place(options: &PgConnectOptions) -> String {
    let server = match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => options.get_host().to_owned(),
    };
    format!("{} on {server}:{}", options.get_database().unwrap_or("(default)"), options.get_port())
}
