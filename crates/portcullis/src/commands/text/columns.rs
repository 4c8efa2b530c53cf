//! Rows of text in columns, and lists of fields.

use super::plain::{printable, shortened};

/// The last column has at least so many characters, however narrow the terminal is.
const LEAST_LAST: usize = 20;

/// Rows below the names of their columns. Columns are as wide as they need to be; where there is a
/// width, the last one is cut to what is left of it.
pub(in crate::commands) fn table(
    header: &[&str],
    rows: &[Vec<String>],
    width: Option<usize>,
) -> String {
    let header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
    let clean = |row: &Vec<String>| -> Vec<String> {
        let cells = row.iter().map(|cell| printable(cell).into_owned());
        cells.collect()
    };
    let all: Vec<Vec<String>> = std::iter::once(header)
        .chain(rows.iter().map(clean))
        .collect();
    let count = all.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count)
        .map(|column| {
            let cells = all.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let before: usize = widths.iter().rev().skip(1).map(|width| width + 2).sum();
    let last = width.map_or(usize::MAX, |all| all.saturating_sub(before).max(LEAST_LAST));
    let mut text = String::new();
    for row in &all {
        let mut line = String::new();
        for (number, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if number + 1 == count {
                line.push_str(&shortened(cell, last));
            } else {
                line.push_str(&format!("{cell:<width$}  "));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Names and values, one pair a line.
pub(in crate::commands) fn fields(all: &[(&str, String)]) -> String {
    let width = all.iter().map(|(name, _)| name.chars().count()).max();
    let width = width.unwrap_or(0);
    let line = |(name, value): &(&str, String)| {
        let (name, value) = (printable(name), printable(value));
        let line = format!("{name:<width$}  {value}");
        format!("{}\n", line.trim_end())
    };
    all.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let rows = [
            vec!["a".into(), "long one".into(), "x\u{1b}".into()],
            vec!["bcd".into(), String::new(), String::new()],
        ];
        assert_eq!(
            table(&["ID", "NAME", "WHY"], &rows, None),
            "ID   NAME      WHY\na    long one  x\\u{1b}\nbcd\n"
        );
        assert_eq!(table(&["ID"], &[], None), "ID\n");
    }

    #[test]
    fn only_the_last_column_is_cut() {
        let rows = [vec!["a".repeat(30), "b".repeat(60)]];
        let text = table(&["ID", "WHY"], &rows, Some(60));
        let line = text.lines().last().unwrap();
        assert_eq!(line.chars().count(), 60);
        assert!(
            line.starts_with(&"a".repeat(30)) && line.ends_with("b…"),
            "{line}"
        );
    }

    #[test]
    fn fields_stand_below_each_other() {
        let all = [("id", "1".to_owned()), ("reason", "a\nb".to_owned())];
        assert_eq!(fields(&all), "id      1\nreason  a\\nb\n");
    }
}
