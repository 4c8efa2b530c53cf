//! What a set of policies is compiled from, and what can be wrong with it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Everything a set is compiled from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources {
    /// Run before the policies, once per evaluation, in sloppy mode. What it declares is seen by
    /// policies and modules.
    pub globals: String,
    /// ES modules, by the numbers with which `$module` asks for them.
    pub modules: Vec<ModuleSource>,
    /// The policies, in order.
    pub policies: Vec<PolicySource>,
    /// How many `$cover` marks there are; 0: none.
    pub marks: u32,
}

/// An ES module as the body of a function in strict mode. `header` and `footer` have no line break.
///
/// Inside, `$module(k)` gives what module number `k` exports. Each module is run once per
/// evaluation, when it is first asked for; nothing at its top level outlives the evaluation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleSource {
    /// Its name, like `lib/images.ts`, for messages.
    pub name: String,
    /// What stands on the line before the code: its imports.
    pub header: String,
    /// The code, with the author's own lines and columns.
    pub code: String,
    /// What stands on the line after the code: a `return` of what it exports.
    pub footer: String,
}

/// Where the code of a policy is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PolicyCode {
    /// The body of a function, in sloppy mode. It may `await`.
    Body(String),
    /// The default export of a module, by its place in [`Sources::modules`].
    Module(usize),
}

/// One policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicySource {
    /// Its name, the only one of this name in its set.
    pub name: String,
    /// Its code.
    pub code: PolicyCode,
}

impl PolicySource {
    /// A policy whose code is the body of a function.
    pub fn body(name: impl Into<String>, code: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            code: PolicyCode::Body(code.into()),
        }
    }
}

impl Sources {
    /// How many texts come before the one of this name.
    pub(crate) fn place_of(&self, name: &SourceName) -> usize {
        let modules = || self.modules.iter().map(|module| module.name.as_str());
        let policies = || self.policies.iter().map(|policy| policy.name.as_str());
        match name {
            SourceName::Globals => 0,
            SourceName::Module(name) => 1 + modules().take_while(|n| n != name).count(),
            SourceName::Policy(name) => {
                1 + modules().count() + policies().take_while(|n| n != name).count()
            }
        }
    }
}

/// Which text a place is in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SourceName {
    /// The globals.
    Globals,
    /// The text of this policy.
    Policy(String),
    /// The module of this name.
    Module(String),
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Globals => "globals",
            Self::Policy(name) | Self::Module(name) => name,
        })
    }
}

/// Something wrong in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileFault {
    /// Which text.
    pub source: SourceName,
    /// Line in the author's own text, from 1.
    pub line: u32,
    /// Column in that line, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for CompileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            source,
            line,
            column,
            message,
        } = self;
        write!(f, "{source}:{line}:{column}: {message}")
    }
}

impl std::error::Error for CompileFault {}

/// Whether these texts could use the variable of this name. A name with an escape in it, or one
/// that `eval` makes up, is not seen; texts with such things could use any.
pub(crate) fn mention<'a>(texts: impl IntoIterator<Item = &'a str>, name: &str) -> bool {
    texts
        .into_iter()
        .any(|text| text.contains("\\u") || has_word(text, "eval") || has_word(text, name))
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$') || !c.is_ascii();
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words() {
        for (text, wanted) in [
            ("return ac.User", true),
            ("replace(each)", false),
            ("ac", true),
            ("$ac + _ac + ac1 + éac", false),
            ("eval('a' + 'c')", true),
            ("medieval", false),
            ("\\u0061c", true),
        ] {
            assert_eq!(mention([text], "ac"), wanted, "{text}");
        }
    }
}
