//! What a verdict may change.

use super::fault::VerdictFault;
use super::model::Verdict;
use crate::tags::{MOST_TAGS, TagsChanged, check_tag};

/// What a verdict is checked against.
#[derive(Debug, Clone, Copy)]
pub struct VerdictRules<'a> {
    /// The job that was asked about.
    pub job: u64,
    /// Its tags when it was asked about.
    pub tags: &'a [String],
    /// Whether the controller may change tags and runners.
    pub may_mutate: bool,
    /// Whether it may remove every tag.
    pub may_untag: bool,
}

/// Checks the changes a verdict asks for, and gives the tags they lead to.
///
/// # Errors
///
/// The first change that isn't allowed.
pub fn check_mutation(
    verdict: &Verdict,
    rules: &VerdictRules<'_>,
) -> Result<TagsChanged, VerdictFault> {
    if verdict.is_mutation() && !rules.may_mutate {
        return Err(VerdictFault::MutationByValidating);
    }
    let lists = [
        ("tags.add", &verdict.tags.add),
        ("tags.remove", &verdict.tags.remove),
    ];
    for (name, tags) in lists {
        for (index, tag) in tags.iter().enumerate() {
            check_tag(tag).map_err(|fault| VerdictFault::BadTag {
                path: format!("{name}[{index}]"),
                fault,
            })?;
        }
    }
    let changed = verdict.tags.apply(rules.tags);
    if changed.tags.len() > MOST_TAGS {
        return Err(VerdictFault::TooManyTags(changed.tags.len()));
    }
    if changed.tags.is_empty() && !rules.tags.is_empty() && !rules.may_untag {
        return Err(VerdictFault::WouldUntag);
    }
    Ok(changed)
}
