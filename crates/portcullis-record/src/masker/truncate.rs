//! Reviews that are too large to be recorded in full.
//!
//! A user who may create objects could otherwise fill the store with a few of them. What takes most of the
//! space goes, member by member of the request; who asked for what stays, and so does every other part of
//! the record. What is left out is listed in `input.truncated`.

use portcullis_core::json::Index;

use crate::mask::found::Found;
use crate::mask::text::{self, Members};
use crate::shape::MaskShape;

/// A member that takes more than this part of the limit is left out.
const PART: usize = 8;

/// Leaves out what is large, if the review is larger than the limit. Gives what was left out, as JSON
/// pointers.
pub(super) fn apply(
    found: &mut Found<'_>,
    (text, index): (&str, &Index),
    shape: &MaskShape,
    limit: usize,
) -> Vec<String> {
    if text.len() <= limit || found.length_of(text) <= limit {
        return Vec::new();
    }
    let mut truncated = Vec::new();
    let mut prefix = "/review".to_owned();
    let mut asked = Some(text::blanks(text.as_bytes(), 0));
    if let Some(envelope) = shape.envelope {
        asked = asked.and_then(|body| text::member(text, index, body, envelope));
        prefix = format!("{prefix}/{envelope}");
    }
    for (key, start, end) in asked
        .into_iter()
        .flat_map(|at| Members::new(text, Some(index), at))
    {
        if end - start > limit / PART && is_name(&key) {
            let pointer = format!("{prefix}/{key}");
            truncated.push(found.leave_out((start, end), "null", &pointer));
        }
    }
    if found.length_of(text) > limit {
        // Not the members that are known are large.
        truncated = vec![found.leave_out((0, text.len()), "{}", "/review")];
    }
    truncated
}

/// Whether a member of a review has a usual name: it needs no escapes in a pointer, and reveals nothing.
fn is_name(key: &str) -> bool {
    key.len() <= 64 && key.bytes().all(|b| b.is_ascii_alphanumeric())
}
