//! What was probably meant.

use portcullis_document::nearest;

/// `Write `containers`.`, or the list of what there is if none is near and the list is short.
pub(super) fn instead_of(written: &str, known: &[&str]) -> String {
    match nearest(written, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => String::new(),
        None if known.len() <= 12 => format!("there is {}", list(known)),
        None => String::new(),
    }
}

/// `a, b and c`.
pub(super) fn list(all: &[&str]) -> String {
    match all {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(|one| format!("`{one}`")).collect();
            format!("{} and `{last}`", first.join(", "))
        }
    }
}
