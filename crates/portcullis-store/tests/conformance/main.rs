//! What a store guarantees, on every database.
//!
//! Every case runs on SQLite and on a PostgreSQL that these tests start themselves, on loopback.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that can't go on has failed"
)]

mod append;
mod concurrent;
mod consolidate;
mod failover;
mod follow;
mod holds;
mod jobs;
mod killed;
mod list;
mod model;
mod odd;
mod open;
mod place;
mod pooler;
mod prune;
mod records;
mod restart;
mod scan;
mod server;
mod sessions;
mod states;
mod tally;
mod tls;
mod upgrade;

/// Makes two tests of each case: one for each database.
macro_rules! on_both {
    ($($case:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[test] fn $case() { super::$case(&crate::place::Place::sqlite()); })*
        }
        mod on_postgres {
            $(#[test] fn $case() { super::$case(&crate::place::Place::postgres()); })*
        }
    };
}
pub(crate) use on_both;
