//! Sending what is in the outbox to controllers.
//!
//! `dispatch` claims rows that are due, as many as each controller's lane has room for; `attempt` makes one try.

mod attempt;
mod dispatch;

pub(crate) use attempt::{Message, send};
pub(crate) use dispatch::{is_asked, is_awaited};
