//! Lists of what is in use and of what is in the archive as one.

use crate::error::Failure;

/// One part of a list by descending ids, from two places: the newest in use first, then those of the archive. The
/// second is asked only for what can still be on the page: those above the last id of a page that is full already.
/// What moved in between is there once.
pub(in crate::jobs) fn both<T>(
    limit: usize,
    id: impl Fn(&T) -> u64,
    current: Vec<T>,
    archived: impl FnOnce(u64) -> Result<Vec<T>, Failure>,
) -> Result<Vec<T>, Failure> {
    let mut all = current;
    all.sort_unstable_by_key(|one| std::cmp::Reverse(id(one)));
    all.truncate(limit);
    let above = match all.last() {
        Some(last) if all.len() == limit => id(last),
        _ => 0,
    };
    all.extend(archived(above)?);
    all.sort_by_key(|one| std::cmp::Reverse(id(one)));
    all.dedup_by_key(|one| id(one));
    all.truncate(limit);
    Ok(all)
}
