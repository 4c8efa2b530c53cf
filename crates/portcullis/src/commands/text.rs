//! Texts that several commands print or write.

pub(super) mod annotations;
pub(super) mod columns;
pub(super) mod data;
pub(super) mod diff;
pub(super) mod error;
pub(super) mod indent;
pub(super) mod json;
pub(super) mod json_list;
pub(super) mod plain;
pub(super) mod progress;
pub(super) mod report;
pub(super) mod spool;
pub(super) mod terminal;
pub(super) mod time;
pub(super) mod wrap;
pub(super) mod xml;
pub(super) mod yaml;
