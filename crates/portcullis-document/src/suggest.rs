//! What was probably meant.

/// The known word nearest to what was written, if one is near.
///
/// Case, `-` and `_` don't count, so `config_file` finds `configFile`.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let written = plain(written);
    let reach = (written.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| {
            let other = plain(candidate);
            let alike = strsim::jaro_winkler(&written, &other);
            (
                strsim::damerau_levenshtein(&written, &other),
                alike,
                candidate,
            )
        })
        .filter(|(distance, alike, _)| *distance <= reach || *alike >= 0.82)
        .min_by(|left, right| {
            // Of equally near words, one of the same length: `listenerz` is `listeners`.
            let other_length = |candidate: &str| plain(candidate).len() != written.len();
            let by_length = other_length(left.2).cmp(&other_length(right.2));
            let by_likeness = right.1.total_cmp(&left.1);
            left.0.cmp(&right.0).then(by_length).then(by_likeness)
        })
        .map(|(_, _, candidate)| candidate.to_owned())
}

/// `a, b, c`, sorted.
pub(crate) fn list<'a>(known: impl IntoIterator<Item = &'a str>) -> String {
    let mut known: Vec<_> = known.into_iter().collect();
    known.sort_unstable();
    known.join(", ")
}

fn plain(word: &str) -> String {
    word.chars()
        .filter(|character| !matches!(character, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
        .take(128)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_suggested_and_far_ones_are_not() {
        let keys = ["order", "configFile", "plugins"];
        assert_eq!(nearest("ordre", keys).as_deref(), Some("order"));
        assert_eq!(nearest("config_file", keys).as_deref(), Some("configFile"));
        assert_eq!(nearest("PLUGIN", keys).as_deref(), Some("plugins"));
        let both = ["listener", "listeners"];
        assert_eq!(nearest("listenerz", both).as_deref(), Some("listeners"));
        assert_eq!(nearest("banana", keys), None);
        assert_eq!(nearest("", keys), None);
        assert_eq!(nearest("sometimes", ["open", "closed"]), None);
    }
}
