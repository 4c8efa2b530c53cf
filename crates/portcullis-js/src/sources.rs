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
    /// The same, written for jsPolicy, where each policy is asked alone: `allow()` ends this policy and no other one.
    JsPolicy(String),
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

/// Members of `ac` that are made anew for each request.
const OWN_OF_REQUEST: [&str; 5] = [
    "HTTPRequest",
    "RequestPeerCertificates",
    "Timestamp",
    "User",
    "UserAuthNMethod",
];

/// Whether policies of these texts could find what an earlier request left, or leave something for a later one: they
/// name `ac` otherwise than in `ac.User` and the like.
pub fn may_remember<'a>(texts: impl IntoIterator<Item = &'a str>) -> bool {
    let is_of_request = |after: &str| {
        let member = after.strip_prefix("?.").or_else(|| after.strip_prefix('.'));
        member.is_some_and(|member| {
            let end = member.find(|c| !is_part(c)).unwrap_or(member.len());
            OWN_OF_REQUEST.contains(&member.get(..end).unwrap_or_default())
        })
    };
    texts.into_iter().any(|text| {
        text.contains("\\u") || has_word(text, "eval") || !words(text, "ac").all(is_of_request)
    })
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$') || !c.is_ascii()
}

fn has_word(text: &str, word: &str) -> bool {
    words(text, word).next().is_some()
}

/// What follows each place where this word stands.
fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(word).filter_map(move |(at, _)| {
        let before = text.get(..at)?.chars().next_back();
        let after = text.get(at + word.len()..)?;
        let is_word = !before.is_some_and(is_part) && !after.chars().next().is_some_and(is_part);
        is_word.then_some(after)
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

    #[test]
    fn what_is_made_for_each_request_is_not_remembered() {
        for (text, wanted) in [
            ("return ac.User.Name === req.userInfo.username", false),
            ("ac?.Timestamp; ac.HTTPRequest.Host", false),
            ("object.spec", false),
            ("ac.GlobalContext.n++", true),
            ("const {GlobalContext} = ac", true),
            ("ac['Global' + 'Context']", true),
            ("ac.UserX", true),
            ("ac", true),
            ("ac.User; keep(ac)", true),
            ("eval('a' + 'c')", true),
        ] {
            assert_eq!(may_remember([text]), wanted, "{text}");
        }
    }
}
