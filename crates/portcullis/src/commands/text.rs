//! Texts that several commands print or write.

pub(super) mod columns;
pub(super) mod data;
pub(super) mod diff;
pub(super) mod error;
pub(super) mod indent;
pub(super) mod json;
pub(super) mod plain;
pub(super) mod report;
pub(super) mod terminal;
pub(super) mod time;
pub(super) mod wrap;
pub(super) mod xml;
pub(super) mod yaml;
