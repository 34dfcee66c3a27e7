//! The request log as a test reads it: straight from the database.

use sea_orm::{ColumnTrait, ConnectionTrait, DatabaseConnection, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder};
use svc_entity::request_log::{Column, Entity, Model};

use crate::upstream::runtime;
use crate::wait;

/// A connection to the database of a gateway.
pub struct Database(DatabaseConnection);

impl Database {
    /// Connects to a database that exists.
    ///
    /// # Panics
    /// When it does not.
    #[must_use]
    pub fn open(url: &str) -> Self {
        Self(runtime().block_on(svc_migrations::connect(url, 2)).expect("the database is there"))
    }

    /// The row of a request, once it is written.
    ///
    /// # Panics
    /// When it is not in time.
    #[must_use]
    pub fn row(&self, request_id: &str) -> Model {
        wait::until(&format!("the row of request {request_id}"), || self.rows_of(request_id).pop())
    }

    /// The rows of a request that are there now.
    ///
    /// # Panics
    /// When the database fails.
    #[must_use]
    pub fn rows_of(&self, request_id: &str) -> Vec<Model> {
        let query = Entity::find().filter(Column::RequestId.eq(request_id)).all(&self.0);
        runtime().block_on(query).expect("the log can be read")
    }

    /// All rows, oldest first.
    ///
    /// # Panics
    /// When the database fails.
    #[must_use]
    pub fn rows(&self) -> Vec<Model> {
        runtime().block_on(Entity::find().order_by_asc(Column::StartedAt).all(&self.0)).expect("the log can be read")
    }

    /// Number of rows; none while the database does not answer.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        runtime().block_on(Entity::find().count(&self.0)).ok()
    }

    /// Runs a statement, such as an operator would.
    ///
    /// # Panics
    /// When it fails.
    pub fn execute(&self, statement: &str) {
        runtime().block_on(self.0.execute_unprepared(statement)).expect("the statement is sound");
    }

    /// The connection itself.
    #[must_use]
    pub fn connection(&self) -> &DatabaseConnection {
        &self.0
    }
}
