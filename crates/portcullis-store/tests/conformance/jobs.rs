//! CI jobs, and what belongs to them.

mod builders;
mod claims;
mod controllers;
mod deliveries;
mod killed;
mod lists;
mod pipelines;
mod queue;
mod records;
mod retention;
mod runners;
mod writer;
