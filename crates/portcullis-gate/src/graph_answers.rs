//! The answers about a graph, the same for the command line, the REST API and the page.
//!
//! [`GraphView`] picks the graphs of a profile, finds vertices by a part of their names, and answers about paths and neighbours; [`Export`] writes
//! them as a whole, piece by piece; [`AccessQuestion`] and [`can_i()`] ask authorizers and say why.
//!
//! An answer carries the `problems` of the objects it comes from; a negative one may differ without them.
//!
//! A profile with several targets has a graph for each of them. Unless one is picked, an answer is about
//! all of them together.

mod can_i;
mod export;
mod neighbors;
mod path;
mod question;
mod search;
mod selector;
mod view;

#[cfg(test)]
pub(crate) mod sample;

pub use can_i::{AskedGraph, CanI, Explained, RuleAnswer, SubjectAnswer, can_i};
pub use export::{Export, ExportFormat};
pub use neighbors::{Neighbor, Neighbors};
pub use path::PathAnswer;
pub use question::{AccessQuestion, ResourceText, WrongQuestion};
pub use search::Vertices;
pub use view::{GraphView, Unanswered};

pub use view::{Key, Neighborhood};
