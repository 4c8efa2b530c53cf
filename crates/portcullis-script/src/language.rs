//! The languages of policy files.

/// What a policy file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Language {
    /// JavaScript: `.js` and `.mjs`.
    #[default]
    JavaScript,
    /// TypeScript: `.ts` and `.mts`.
    TypeScript,
}

impl Language {
    /// The language of a file whose name ends so, behind its last dot.
    pub fn of_ending(ending: &str) -> Option<Self> {
        match ending {
            "js" | "mjs" => Some(Self::JavaScript),
            "ts" | "mts" => Some(Self::TypeScript),
            _ => None,
        }
    }
}
