//! An answer as what a test expects: the value of `expect`.

use portcullis_record::MASKED;
use serde_json::{Map, Value};

use super::answer::Answer;

/// What a mask in a text stands for.
const ANYTHING: &str = ".*";

/// A regular expression for just this text, in which what is masked may be anything.
pub(super) fn pattern(text: &str) -> String {
    let parts: Vec<String> = text.split(MASKED).map(escaped).collect();
    parts.join(ANYTHING)
}

/// What means something in a regular expression outside of `[...]`.
const SPECIAL: &str = r"\.+*?()|[]{}^$";

fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if SPECIAL.contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

impl Answer {
    /// What a case expects that expects just this.
    pub fn expectation(&self) -> Value {
        let mut keys = Map::new();
        let mut set = |key: &str, value: Value| keys.insert(key.to_owned(), value);
        set("allowed", self.allowed.into());
        if self.allowed {
            set("patch", self.patch.clone());
        } else {
            if let Some(policy) = &self.policy {
                set("policy", policy.as_str().into());
            }
            set("message", self.expected_message().into());
        }
        if !self.warnings.is_empty() {
            set("warnings", self.expected_warnings());
        }
        Value::Object(keys)
    }

    /// What just this message matches.
    pub fn expected_message(&self) -> String {
        format!("^{}$", pattern(&self.message))
    }

    /// What just these warnings match.
    pub fn expected_warnings(&self) -> Value {
        self.warnings
            .iter()
            .map(|text| Value::from(pattern(text)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    #[test]
    fn a_pattern_matches_its_text_and_nothing_near_it() {
        let text = "a-b: 1 + 1 = 2? (yes) [x] {y} ^$ \\ | * . # & ~ é";
        let found = Regex::new(&format!("^{}$", pattern(text))).unwrap();
        assert!(found.is_match(text));
        assert!(!found.is_match(&text.replace('.', "x")));
        assert_eq!(pattern("no-latest: web"), "no-latest: web");
        assert_eq!(pattern(&format!("a {MASKED}.")), r"a .*\.");
    }
}
