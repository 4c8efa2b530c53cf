//! Everything that is not a proper request: rejected with a reason, never allowed, and the server
//! stays up.

mod http;
mod json;
mod sizes;
