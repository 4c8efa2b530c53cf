//! What policies write and what they know of their callers.

mod log;
mod subject;
