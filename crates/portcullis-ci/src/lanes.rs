//! The ways to the controllers that this server calls: which URLs are allowed, connections, and how much is under way.

mod guard;
mod outlet;
mod table;

pub(crate) use guard::{check, client};
pub(crate) use outlet::Outlet;
pub(crate) use table::{Lanes, Room};
