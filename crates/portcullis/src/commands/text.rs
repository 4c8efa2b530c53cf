//! Texts that several commands print or write.

pub(super) mod diff;
pub(super) mod file;
pub(super) mod indent;
pub(super) mod plain;
pub(super) mod terminal;
pub(super) mod xml;
pub(super) mod yaml;
