//! Tags of jobs: what a tag may be, and how a verdict changes them.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most tags a job may have, also after every change.
pub const MOST_TAGS: usize = 64;
/// The most bytes of a tag.
pub const MOST_TAG_BYTES: usize = 255;

/// What is wrong with a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TagFault {
    /// It is empty.
    #[error("a tag can't be empty")]
    Empty,
    /// It is longer than [`MOST_TAG_BYTES`].
    #[error("a tag has at most {MOST_TAG_BYTES} bytes")]
    TooLong,
    /// It contains a control character.
    #[error("a tag can't contain control characters")]
    ControlCharacter,
}

/// Checks one tag.
///
/// # Errors
///
/// What is wrong with it.
pub fn check_tag(tag: &str) -> Result<(), TagFault> {
    if tag.is_empty() {
        Err(TagFault::Empty)
    } else if tag.len() > MOST_TAG_BYTES {
        Err(TagFault::TooLong)
    } else if tag.contains(char::is_control) {
        Err(TagFault::ControlCharacter)
    } else {
        Ok(())
    }
}

/// Tags without repetitions, in the order of their first mention.
pub(crate) fn without_repetitions<I: IntoIterator<Item = String>>(tags: I) -> Vec<String> {
    let mut seen = HashSet::new();
    let tags = tags.into_iter();
    tags.filter(|tag| seen.insert(tag.clone())).collect()
}

/// A change of tags.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TagChange {
    /// Tags to add.
    #[serde(default)]
    pub add: Vec<String>,
    /// Tags to remove.
    #[serde(default)]
    pub remove: Vec<String>,
}

/// Tags after a change, and what is odd about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagsChanged {
    /// The tags after the change.
    pub tags: Vec<String>,
    /// What the author of the change should know.
    pub warnings: Vec<String>,
}

impl TagChange {
    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.add.is_empty() && self.remove.is_empty()
    }

    /// The change that makes one list of tags the other; the order doesn't count.
    pub fn between(before: &[String], after: &[String]) -> Self {
        let missing = |from: &[String], of: &[String]| {
            let of: HashSet<&String> = of.iter().collect();
            without_repetitions(from.iter().filter(|tag| !of.contains(tag)).cloned())
        };
        Self {
            add: missing(after, before),
            remove: missing(before, after),
        }
    }

    /// Applies the change: removals first, then additions, so that a tag in both stays. The order is kept.
    pub fn apply(&self, tags: &[String]) -> TagsChanged {
        let add: HashSet<&String> = self.add.iter().collect();
        let remove: HashSet<&String> = self.remove.iter().collect();
        let is_kept = |tag: &&String| !remove.contains(tag) || add.contains(tag);
        let kept = tags.iter().filter(is_kept);
        let tags = without_repetitions(kept.chain(&self.add).cloned());
        let both = self.add.iter().filter(|tag| remove.contains(tag)).cloned();
        let warnings = without_repetitions(both);
        let warnings = warnings.into_iter();
        TagsChanged {
            tags,
            warnings: warnings
                .map(|tag| format!("tag `{tag}` is both added and removed: it is added"))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tags(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn change(add: &str, remove: &str) -> TagChange {
        TagChange {
            add: tags(add),
            remove: tags(remove),
        }
    }

    #[test]
    fn removals_come_first_and_order_is_kept() {
        for (before, add, remove, after, warnings) in [
            ("linux", "us-west", "", "linux us-west", 0), // case 6
            ("linux docker", "", "linux", "docker", 0),   // case 7
            ("linux", "linux", "", "linux", 0),           // case 8
            ("linux", "linux", "linux", "linux", 1),      // case 9
            ("a b c", "d b", "a b", "b c d", 1),
            ("a", "b b", "x", "a b", 0),
            ("", "", "a", "", 0),
            ("", "a a", "a a", "a", 1),
        ] {
            let changed = change(add, remove).apply(&tags(before));
            assert_eq!(changed.tags, tags(after), "{before} +{add} -{remove}");
            assert_eq!(
                changed.warnings.len(),
                warnings,
                "{before} +{add} -{remove}"
            );
        }
    }

    #[test]
    fn tags_are_short_and_printable() {
        assert_eq!(check_tag("us-west é"), Ok(()));
        assert_eq!(check_tag(""), Err(TagFault::Empty));
        assert_eq!(check_tag(&"x".repeat(255)), Ok(()));
        assert_eq!(check_tag(&"x".repeat(256)), Err(TagFault::TooLong));
        for tag in ["a\n", "\u{0}", "\u{7f}", "\u{85}"] {
            assert_eq!(check_tag(tag), Err(TagFault::ControlCharacter));
        }
    }

    proptest! {
        #[test]
        fn a_change_between_two_lists_leads_from_one_to_the_other(
            before in proptest::collection::vec("[a-d]", 0..6),
            after in proptest::collection::vec("[a-d]", 0..6),
        ) {
            let mut reached = TagChange::between(&before, &after).apply(&before).tags;
            let mut wanted = without_repetitions(after);
            reached.sort();
            wanted.sort();
            prop_assert_eq!(reached, wanted);
        }
    }
}
