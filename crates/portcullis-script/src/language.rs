//! The languages of policy files.

/// What a policy file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// JavaScript: `.js` and `.mjs`.
    JavaScript,
    /// TypeScript: `.ts` and `.mts`.
    TypeScript,
}

impl Language {
    /// The language of a file, by the ending of its name. Declarations (`.d.ts`) hold no code.
    pub fn of_file_name(name: &str) -> Option<Self> {
        if name.ends_with(".d.ts") || name.ends_with(".d.mts") {
            return None;
        }
        let (stem, ending) = name.rsplit_once('.')?;
        match ending {
            _ if stem.is_empty() => None,
            "js" | "mjs" => Some(Self::JavaScript),
            "ts" | "mts" => Some(Self::TypeScript),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_a_name_tells_the_language() {
        for (name, wanted) in [
            ("a.js", Some(Language::JavaScript)),
            ("x/a.b.mjs", Some(Language::JavaScript)),
            ("a.ts", Some(Language::TypeScript)),
            ("a.mts", Some(Language::TypeScript)),
            ("a.d.ts", None),
            ("a.tsx", None),
            (".ts", None),
            ("ts", None),
        ] {
            assert_eq!(Language::of_file_name(name), wanted, "{name}");
        }
    }
}
