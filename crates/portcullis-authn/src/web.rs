//! Talking to providers: strict addresses, whom to believe, and one exchange at a time.

mod address;
mod exchange;
mod trust;

pub(crate) use address::Address;
pub(crate) use exchange::{Form, get, post};
pub(crate) use trust::Trust;
