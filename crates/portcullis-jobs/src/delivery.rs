//! How controllers are reached: when to try again, when to stop trying for a while, and what an answer means.
//!
//! Everything is a value with `now` as an argument; sending is up to the caller.

mod answer;
mod breaker;
mod rate;
mod retry;

pub use answer::{Answer, classify_answer, read_retry_after};
pub use breaker::{Breaker, BreakerState, Permission};
pub use rate::TokenBucket;
pub use retry::next_try;
