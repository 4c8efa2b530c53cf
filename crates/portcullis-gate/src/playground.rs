//! Policies that somebody is writing, tried in a process of its own: one over one object, or a candidate set in place
//! of the policies in force over recorded requests.
//!
//! There is no second evaluator: the process builds the same chain as `portcullis eval` and `portcullis replay`. It is
//! started for one order alone and has nothing but the order, so nothing is left for the next one; it makes no host
//! calls; and it is killed if it doesn't answer in time.
//!
//! ```text
//! server: ask, replay -> process: serve -> judge   -> offline::Blueprint -> Verdict
//!                                       -> replays -> replay::Replay     -> Report
//! ```

mod base;
mod candidate;
mod judge;
mod process;
mod question;
mod verdict;

pub use candidate::Candidate;
pub use process::{Feed, Unanswered, ask, replay, serve};
pub use question::{Door, Language, ManifestText, Question};
pub use verdict::{Covered, Fault, Line, Replayed, Verdict};
