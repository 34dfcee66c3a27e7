//! `/admin` over HTTP, on both databases: who may call it, what it makes, changes and refuses, and what it leaves behind.

/// Each case as a test on both databases.
macro_rules! on_both {
    ($($case:ident: $sqlite:ident, $postgres:ident;)+) => {$(
        #[test]
        fn $sqlite() {
            crate::stage::on_sqlite($case);
        }

        #[test]
        fn $postgres() {
            crate::stage::on_postgres($case);
        }
    )+};
}

mod access;
mod audit;
mod health;
mod keys;
mod lists;
mod refusals;
mod rotation;
mod routing;
mod stage;
mod users;
