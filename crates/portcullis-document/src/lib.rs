//! Documents that people write: configurations, tenants, profiles, manifests, test cases.
//!
//! ```text
//! text -> Source -> yaml::parse -> Document (a tree of Nodes) -> read::typed -> a type of the caller's
//!                                                                      \-> Faults
//! ```
//!
//! Every value and key of a [`Document`] knows its line and column. Every error, of form or of meaning, is a
//! [`Fault`]: code that only knows a path makes [`Fault::at`] that path, and
//! [`Document::locate`] or [`Origin::locate`] gives it the file, the line and the column.
//!
//! Nothing here reads a file: a [`Source`] is made from a text. What is read on the way of a request (reviews,
//! pods) isn't a document, and has faults of its own (`portcullis_core::json`).

mod document;
mod fault;
mod origin;
pub mod path;
mod position;
pub mod read;
mod read_error;
pub mod since;
mod source;
mod suggest;
mod units;
mod warning;
pub mod yaml;

pub use document::{Document, Located, Node, Value};
pub use fault::{Fault, Faults};
pub use origin::Origin;
pub use position::Position;
pub use source::Source;
pub use suggest::nearest;
pub use units::{Duration, Seconds, Size, UnitError};
pub use warning::Warning;
