//! What a module imports from other modules.

/// One `import … from`, `export … from` or bare `import`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The module, as written: `./x.js`.
    pub specifier: String,
    /// Line of the specifier, from 1.
    pub line: u32,
    /// Column of the specifier, from 1, in characters.
    pub column: u32,
    /// The exports it takes by name.
    pub names: Vec<ImportedName>,
    /// It takes all exports in one object: `* as x`.
    pub wildcard: bool,
    /// It exports again all that the other module exports, except `default`: `export *`.
    pub star: bool,
}

/// An export of another module that is taken by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedName {
    /// The other module's name for it; `default` for the default export.
    pub name: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
}

/// What the header does with an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Link {
    /// The local name of all exports.
    pub(crate) namespace: Option<String>,
    /// The other module's names and the local ones.
    pub(crate) named: Vec<(String, String)>,
    /// The footer needs the module: as `$from` and the import's place.
    pub(crate) is_passed_on: bool,
}

/// One export: its name, and the expression that gives its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Export {
    pub(crate) name: String,
    pub(crate) value: String,
}
