//! CI jobs while servers and databases fail: no job that was acknowledged is lost, none is there twice, and every verdict
//! counts once.
//!
//! `scripts/test-faults` (that is `make e2e-faults`) runs this. It needs `PORTCULLIS`, the binary to judge; without it, it
//! says so in one line and passes. PostgreSQL and pgbouncer are started by the tests themselves.
//!
//! Clients submit jobs while the test kills, stops and replaces what they depend on. Clients and controllers remember what
//! was answered ([`history`]); in the end that is compared ([`checker`]) with what the API shows ([`snapshot`]).
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "tests fail loudly; clippy.toml covers test functions, not their helpers"
)]

mod bouncer;
mod checker;
mod client;
mod history;
mod instance;
mod load;
mod plan;
mod pooling;
mod random;
mod restarts;
mod scene;
mod servers;
mod snapshot;
mod standby;
mod stopped;
mod world;
