//! Arguments that several commands share: configuration, server, decisions and their source, times.
//!
//! What only one command takes is with that command, in `commands/`.

mod admission;
mod configuration;
mod filter;
mod folder;
mod moment;
mod server;
mod span;
mod store;

pub(crate) use self::admission::{Admission, load_options};
pub(crate) use self::configuration::Configuration;
pub(crate) use self::filter::Filter;
pub(crate) use self::folder::{Judging, folder_of};
pub(crate) use self::moment::{Moment, moment};
pub(crate) use self::server::{Server, secret};
pub(crate) use self::span::span;
pub(crate) use self::store::Store;
