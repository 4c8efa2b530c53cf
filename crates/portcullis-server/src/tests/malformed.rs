//! Everything that is not a proper request: refused with a reason, never an allow, and the gate
//! lives.

mod http;
mod json;
mod sizes;
