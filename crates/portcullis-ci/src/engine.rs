//! What happens to jobs within one transaction: a [`Turn`] loads, decides with `portcullis-jobs`, and saves. What is
//! to be done afterwards is an [`Aftermath`].

mod advance;
mod asking;
mod pipelines;
mod question;
mod running;
mod start;
mod take;
mod turn;
mod verdict;

pub(crate) use asking::choice_of;
pub(crate) use question::Question;
pub(crate) use take::{Given, LaneResult};
pub(crate) use turn::{Aftermath, Turn, World, now};
pub use verdict::CallbackOutcome;
pub(crate) use verdict::{Callback, Tried, TryResult};
