//! Files that the program trusts: configuration, keys, and what it keeps itself.
//!
//! [`read()`] never blocks and never reads without bound, whatever the path leads to. [`check_named`],
//! [`check_own`] and [`prepare_directory`] say who else could have written what is about to be
//! trusted. [`create_private`] makes a file that only its owner can read.
//! A [`Fingerprint`] shows whether files changed.
//!
//! This is not for files that a user asks to be judged, such as manifests on standard input.

mod access;
mod create;
mod directory;
mod fingerprint;
mod read;
mod space;

pub use access::{Use, check_named, check_own};
pub use create::create_private;
pub use directory::prepare_directory;
pub use fingerprint::Fingerprint;
pub use read::{open, read, read_text};
pub use space::free_space;
