//! Rows of text in columns, and lists of fields.

use super::plain::{fitted, printable, width};
use super::terminal::{Terminal, Tone};
use super::wrap::wrapped;

/// Between two columns.
const GAP: usize = 2;
/// A column keeps so much of its text while others have more; then less.
const LEAST: [usize; 3] = [16, 8, 3];
/// The name of the column of ids, which are never cut: they are what other commands are given.
const ID: &str = "ID";

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) struct Cell {
    text: String,
    tone: Option<Tone>,
    /// Whether it is never cut.
    is_whole: bool,
}

impl Cell {
    /// A verdict or a state, in its colour. It is never cut.
    pub(in crate::commands) fn state(text: impl Into<String>) -> Self {
        let text = text.into();
        let tone = Tone::of_state(&text);
        Self {
            text,
            tone,
            is_whole: tone.is_some(),
        }
    }

    /// What other commands or files are given. It is never cut.
    pub(in crate::commands) fn id(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            tone: None,
            is_whole: true,
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self {
            text,
            tone: None,
            is_whole: false,
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// Rows below the names of their columns. Columns are as wide as they need to be; on a terminal that is too
/// narrow, the widest become narrower, but neither ids nor states.
pub(in crate::commands) fn table<C: Into<Cell> + Clone>(
    header: &[&str],
    rows: &[Vec<C>],
    terminal: Terminal,
) -> String {
    let clean = |row: &Vec<C>| -> Vec<Cell> {
        let cells = row.iter().cloned().map(Into::into);
        let printable = |cell: Cell| Cell {
            text: printable(&cell.text).into_owned(),
            ..cell
        };
        cells.map(printable).collect()
    };
    let header: Vec<Cell> = header.iter().map(|name| Cell::from(*name)).collect();
    let rows: Vec<Vec<Cell>> = rows.iter().map(clean).collect();
    let all: Vec<&Vec<Cell>> = std::iter::once(&header).chain(&rows).collect();
    let count = all.iter().map(|row| row.len()).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..count)
        .map(|column| {
            let cells = all.iter().filter_map(|row| row.get(column));
            cells.map(|cell| width(&cell.text)).max().unwrap_or(0)
        })
        .collect();
    let is_kept = |column: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(column));
        cells.any(|cell| cell.is_whole) || header.get(column).is_some_and(|name| name.text == ID)
    };
    let kept: Vec<bool> = (0..count).map(is_kept).collect();
    if let Some(room) = terminal.width {
        narrow(&mut widths, &kept, room);
    }
    let mut text = String::new();
    for row in all {
        let mut line = String::new();
        for (number, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let gap = if number + 1 == count { 0 } else { GAP };
            let (shown, padding) = fitted(&cell.text, *width);
            match cell.tone {
                Some(tone) => line.push_str(&terminal.word(&shown, tone)),
                None => line.push_str(&shown),
            }
            if gap > 0 {
                line.extend(std::iter::repeat_n(' ', padding + gap));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Makes columns narrower until they fit beside each other: always the widest, or the last of several.
fn narrow(widths: &mut [usize], kept: &[bool], room: usize) {
    let gaps = widths.len().saturating_sub(1) * GAP;
    for (width, is_kept) in widths.iter_mut().zip(kept) {
        if !is_kept {
            *width = (*width).min(room);
        }
    }
    for least in LEAST {
        while widths.iter().sum::<usize>() + gaps > room {
            let some = widths.iter_mut().zip(kept);
            let some = some.filter(|(width, is_kept)| !**is_kept && **width > least);
            match some.max_by_key(|(width, _)| **width) {
                Some((width, _)) => *width -= 1,
                None => break,
            }
        }
    }
}

/// Names and values, one pair a line. On a terminal long values are wrapped, below their beginning.
pub(in crate::commands) fn fields(all: &[(&str, String)], terminal: Terminal) -> String {
    let widest = all.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let line = |(name, value): &(&str, String)| {
        let (name, value) = (printable(name), printable(value));
        let state = Tone::of_state(&value).filter(|_| is_state(&name));
        let value = match state {
            Some(tone) => terminal.word(&value, tone),
            None => wrapped(&value, widest + GAP, terminal.width),
        };
        let padding = widest.saturating_sub(width(&name));
        let line = format!("{name}{:padding$}  {value}", "");
        format!("{}\n", line.trim_end())
    };
    all.iter().map(line).collect()
}

/// Whether a field of this name holds a state.
fn is_state(name: &str) -> bool {
    matches!(
        name,
        "status" | "state" | "verdict" | "new pipelines" | "results"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(width: Option<usize>) -> Terminal {
        Terminal {
            width,
            has_colours: false,
        }
    }

    #[test]
    fn columns_stand_below_each_other() {
        let rows = [vec!["a", "long one", "x\u{1b}"], vec!["bcd", "", ""]];
        assert_eq!(
            table(&["ID", "NAME", "WHY"], &rows, plain(None)),
            "ID   NAME      WHY\na    long one  x\\u{1b}\nbcd\n"
        );
        assert_eq!(table::<&str>(&["ID"], &[], plain(None)), "ID\n");
    }

    #[test]
    fn characters_count_as_wide_as_terminals_show_them() {
        let rows = [vec!["字字", "a"], vec!["e\u{301}", "b"], vec!["abcd", "c"]];
        assert_eq!(
            table(&["A", "B"], &rows, plain(None)),
            "A     B\n字字  a\ne\u{301}     b\nabcd  c\n"
        );
        let cut = table(
            &["A", "B"],
            &[vec!["字".repeat(40), "b".repeat(60)]],
            plain(Some(40)),
        );
        assert!(cut.lines().all(|line| width(line) <= 40), "{cut}");
        assert!(cut.contains("字…"), "{cut}");
    }

    #[test]
    fn the_widest_columns_become_narrower_but_never_ids_or_states() {
        let id = "01JD8QZ1V3M5T7X9Y2B4C6D8F0";
        let row = [
            Cell::from(id),
            "p".repeat(70).into(),
            "short".into(),
            Cell::state("preparing"),
            "w".repeat(40).into(),
        ];
        for room in [60, 80, 100, 160] {
            let text = table(
                &["ID", "PROJECT", "NAME", "STATUS", "WHY"],
                &[row.to_vec()],
                plain(Some(room)),
            );
            for line in text.lines() {
                assert!(width(line) <= room, "{room}: {line}");
            }
            assert!(text.contains(id) && text.contains("preparing"), "{text}");
            assert_eq!(text.contains('…'), room < 160, "{text}");
            assert!(room < 80 || text.contains("short"), "{text}");
        }
        // What can't fit is too long, rather than useless.
        let text = table(
            &["ID", "STATUS"],
            &[vec![Cell::from(id), Cell::state("pending")]],
            plain(Some(10)),
        );
        assert!(text.contains(id) && text.contains("pending"), "{text}");
    }

    #[test]
    fn states_have_colours_and_columns_stay_straight() {
        let terminal = Terminal {
            width: None,
            has_colours: true,
        };
        let rows = [
            vec![Cell::state("failed"), "a".into()],
            vec![Cell::state("success"), "b".into()],
        ];
        assert_eq!(
            table(&["STATE", "X"], &rows, terminal),
            "STATE    X\n\u{1b}[1;31mfailed\u{1b}[0m   a\n\u{1b}[32msuccess\u{1b}[0m  b\n"
        );
    }

    #[test]
    fn fields_stand_below_each_other() {
        let all = [("id", "1".to_owned()), ("reason", "a\nb".to_owned())];
        assert_eq!(fields(&all, plain(None)), "id      1\nreason  a\\nb\n");
        let long = [
            ("id", "1".to_owned()),
            ("reason", "one two three four five six".to_owned()),
        ];
        assert_eq!(
            fields(&long, plain(Some(30))),
            "id      1\nreason  one two three four\n        five six\n"
        );
    }
}
