//! What a controller answers: one canonical form, read from every spelling in use.
//!
//! What a verdict leads to is decided in [`crate::admission`].

mod check;
mod decode;
mod fault;
mod model;

pub use check::{VerdictRules, check_mutation};
pub use decode::{MOST_BODY_BYTES, decode_verdict};
pub use fault::VerdictFault;
pub(crate) use fault::wrong_type;
pub use model::{AdmissionWord, MOST_REASON_BYTES, Verdict, clean_reason};
