//! Bars beside names: how much of a whole has this name.

/// A row with its bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) name: String,
    /// The number, as it is shown.
    pub(crate) number: String,
    /// Where the things that were counted are listed; empty if nowhere.
    pub(crate) path: String,
    /// How long the bar is, in percent of the longest one.
    pub(crate) percent: u64,
    /// The class of the bar.
    pub(crate) class: &'static str,
}

/// Rows with bars, of name, count, whether there may be more, where they are listed, and the class of the bar.
pub(crate) fn shares(all: Vec<(String, u64, bool, String, &'static str)>) -> Vec<Share> {
    let largest = all
        .iter()
        .map(|(_, count, ..)| *count)
        .max()
        .unwrap_or(0)
        .max(1);
    let rows = all.into_iter();
    rows.map(|(name, count, is_at_least, path, class)| Share {
        name,
        number: counted(count, is_at_least),
        path,
        percent: percent(count, largest),
        class,
    })
    .collect()
}

/// A count, with a sign where there may be more.
pub(crate) fn counted(count: u64, is_at_least: bool) -> String {
    match is_at_least {
        true => format!("{count}+"),
        false => count.to_string(),
    }
}

/// What is not nothing is seen.
fn percent(count: u64, largest: u64) -> u64 {
    let share = u128::from(count) * 100 / u128::from(largest);
    let share = u64::try_from(share).unwrap_or(100);
    share.max(u64::from(count > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_shares_of_the_longest_and_little_is_seen() {
        let row = |name: &str, count| (name.to_owned(), count, false, String::new(), "good");
        let rows = shares(vec![
            row("a", 0),
            row("b", 1),
            row("c", 1000),
            row("d", 500),
        ]);
        let percents: Vec<u64> = rows.iter().map(|row| row.percent).collect();
        assert_eq!(percents, [0, 1, 100, 50]);
        assert_eq!(shares(vec![row("a", 0)])[0].percent, 0);
        assert_eq!(counted(1000, true), "1000+");
    }
}
