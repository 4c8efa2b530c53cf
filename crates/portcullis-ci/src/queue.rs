//! The queue in memory: which jobs there are, by *lanes*, and who waits for one.
//!
//! Jobs of one lane ask the same of runners. All who ask for a job are waiters of the index, which assigns them to lanes;
//! those that are assigned are served together, in one transaction that takes the first jobs of their lanes (`serving`).
//! The index only says where to look: what it doesn't know of, because another server put it into the queue, a refresh
//! finds; what it believes to be there and isn't, taking finds out.

mod class;
mod contacts;
mod cursor;
mod hub;
mod index;
mod lane;
#[cfg(test)]
mod tests;
mod verified;

pub(crate) use contacts::summary;
pub(crate) use hub::{Answer, Queue};
pub(crate) use index::{LaneOrder, QueueChange};
pub(crate) use lane::Served;
pub(crate) use verified::Verified;
