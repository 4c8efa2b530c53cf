//! What policies say, and what follows from it.

mod failure;
mod helpers;
mod log;
mod matching;
mod modes;
mod modules;
mod operations;
mod order;
mod subject;
