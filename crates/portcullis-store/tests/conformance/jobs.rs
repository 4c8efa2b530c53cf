//! CI jobs, and what belongs to them.

mod ahead;
mod archive;
pub(crate) mod builders;
mod claims;
mod controllers;
mod counts;
mod deliveries;
mod drafts;
mod failures;
mod killed;
mod lists;
mod managers;
mod output;
mod pipelines;
mod queue;
mod records;
mod runners;
mod take;
mod unfit;
mod writer;
