//! The wire format of the Kubernetes door: reviews in, answers out.
//!
//! Kubernetes' shapes live here and nowhere else. Decoding is lenient where API servers differ
//! (fields they add, fields they leave out) and strict where an attacker could gain (duplicate keys,
//! an unknown operation). Judging is not done here.

mod access;
mod admission;
mod member;
mod request;

pub use access::{AccessReview, decode_access, encode_access};
pub use admission::{AdmissionReview, Answer, Shape, decode_admission, encode_admission};
pub use request::{request_with_both_names, review_of};
