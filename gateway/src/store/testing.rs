//! Databases for tests: a new SQLite file, and a new schema of PostgreSQL where `SVC_TEST_POSTGRES_URL` names a server.

use sea_orm::{ConnectionTrait, DatabaseConnection};

use crate::conf::Conf;
use crate::request_id::random_bits;

/// A migrated, empty database.
pub(crate) struct Db {
    pub(crate) db: DatabaseConnection,
    pub(crate) url: String,
    pub(crate) _folder: tempfile::TempDir,
}

/// One database of each kind that is at hand.
pub(crate) async fn databases() -> Vec<Db> {
    let mut databases = vec![sqlite().await];
    databases.extend(postgres().await);
    databases
}

pub(crate) async fn sqlite() -> Db {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("test.db").display());
    open(url, folder).await
}

pub(crate) async fn postgres() -> Option<Db> {
    let server = std::env::var("SVC_TEST_POSTGRES_URL").ok().filter(|url| !url.is_empty())?;
    let name = format!("svc_test_{:016x}", random_bits());
    let admin = svc_migrations::connect(&server, 1).await.unwrap();
    admin.execute_unprepared(&format!("CREATE DATABASE {name}")).await.unwrap();
    admin.close().await.unwrap();
    let (start, _) = server.rsplit_once('/').unwrap();
    Some(open(format!("{start}/{name}"), tempfile::tempdir().unwrap()).await)
}

async fn open(url: String, folder: tempfile::TempDir) -> Db {
    let db = svc_migrations::connect(&url, 4).await.unwrap();
    svc_migrations::migrate(&db).await.unwrap();
    Db { db, url, _folder: folder }
}

/// A configuration from its text.
pub(crate) fn conf(text: &str) -> Conf {
    Conf::parse(text, "test.yaml", &|_| None).unwrap()
}
