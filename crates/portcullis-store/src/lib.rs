//! What outlives the process: decisions, in SQLite or PostgreSQL.
//!
//! Everything here blocks, so callers give it threads of their own. What a record says, and that no
//! secret is in it, is the affair of `portcullis-record`.
//!
//! `database` is the base that everything stored stands on: a connection to either database behind
//! one small trait. `migrations` brings the tables up to date. `decisions` is what is stored about
//! decisions; its SQL is the same for both.

mod database;
mod decisions;
mod error;
mod location;
mod migrations;
mod store;

pub use decisions::{Entry, Filter, Listed, Mark, Page, Pruned, Retention, Statistics};
pub use error::StoreError;
pub use location::{Location, LocationError};
pub use store::{Mode, Store};
