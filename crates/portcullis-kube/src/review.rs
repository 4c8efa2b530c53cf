//! The wire of the Kubernetes door: reviews in, answers out.
//!
//! Kubernetes' shapes live here and nowhere else. Decoding is generous where API servers differ
//! (fields they add, fields they leave out) and strict where an attacker could gain (a key twice,
//! an operation nobody knows). Judging is not done here.

mod access;
mod admission;
mod member;

pub use access::{AccessReview, decode_access, encode_access};
pub use admission::{AdmissionReview, Answer, decode_admission, encode_admission};
