//! Prepares policy files for the engine.
//!
//! The engine runs function bodies, which can be created for each evaluation so that nothing a
//! module keeps survives. [`prepare`] makes such a body from a file: types are blanked and module
//! syntax is rewritten in place, so that each remaining character stays at its line and column
//! and errors need no translation. [`examine()`] says what bodies can and can't do; [`with_tree`] gives the tree of
//! a text to those who look for mistakes in it.
//! Nothing here runs code, reads files or resolves imports.

mod bare_names;
mod canvas;
mod default_export;
mod examine;
mod fault;
mod glue;
mod import;
mod language;
mod limits;
mod marks;
mod metadata;
mod module;
mod names;
mod parse;
mod reads_only;
mod refuse;
mod script;
mod strip;
mod token;
mod tree;

pub use bare_names::BareNames;
pub use examine::{FunctionBody, Insight, examine};
pub use fault::{Places, ScriptFault};
pub use import::{Import, ImportedName};
pub use language::Language;
pub use marks::Mark;
pub use metadata::{Metadata, Place};
pub use script::{Script, prepare};
pub use tree::{Tree, with_tree};
