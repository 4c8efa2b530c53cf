//! Decisions as rows of a table.

use portcullis_core::Door;
use portcullis_record::{Answer, Summary};

use crate::commands::text::plain::{fitted, printable, width};
use crate::commands::text::terminal::Terminal;

/// A column: its name, the least width, the most it may grow to on a terminal, and when it is left out
/// where there is no room for all: the lowest first, `KEPT` never.
struct Column {
    name: &'static str,
    least: usize,
    most: usize,
    rank: u8,
}

const KEPT: u8 = u8::MAX;

const COLUMNS: [Column; 8] = [
    column("ID", 26, 26, KEPT),
    column("TIME", 20, 20, 2),
    column("DOOR", 10, 13, 1),
    column("USER", 8, 30, 4),
    column("ACTION", 16, 44, KEPT),
    column("VERDICT", 7, 7, KEPT),
    column("BY", 8, 28, 3),
    column("MESSAGE", 12, usize::MAX, 5),
];

const fn column(name: &'static str, least: usize, most: usize, rank: u8) -> Column {
    Column {
        name,
        least,
        most,
        rank,
    }
}

/// Between two columns.
const GAP: usize = 2;

/// A table that grows by rows.
#[derive(Debug)]
pub(super) struct Table {
    terminal: Terminal,
    /// None for a column that is left out.
    widths: [Option<usize>; 8],
    has_header: bool,
}

impl Table {
    pub(super) fn new(terminal: Terminal, has_header: bool) -> Self {
        let mut table = Self {
            terminal,
            widths: COLUMNS.map(|column| Some(column.least)),
            has_header,
        };
        while terminal.width.is_some_and(|width| table.used() > width) && table.leave_one_out() {}
        table
    }

    /// The width of a row.
    fn used(&self) -> usize {
        let shown = self.widths.iter().flatten();
        let all: usize = shown.map(|width| width + GAP).sum();
        all.saturating_sub(GAP)
    }

    /// Leaves out the column that is missed least; false if all that are left must stay.
    fn leave_one_out(&mut self) -> bool {
        let all = self.widths.iter_mut().zip(&COLUMNS);
        let shown = all.filter(|(width, column)| width.is_some() && column.rank < KEPT);
        match shown.min_by_key(|(_, column)| column.rank) {
            Some((width, _)) => {
                *width = None;
                true
            }
            None => false,
        }
    }

    /// Rows for these; above the first ones, the names of the columns.
    pub(super) fn rows(&mut self, items: &[Summary]) -> String {
        let rows: Vec<[String; 8]> = items.iter().map(cells).collect();
        self.grow(&rows);
        let mut text = String::new();
        if !items.is_empty() && std::mem::take(&mut self.has_header) {
            let names = COLUMNS.map(|column| column.name.to_owned());
            self.line(&mut text, &names, None);
        }
        for (item, row) in items.iter().zip(&rows) {
            self.line(&mut text, row, Some(item.verdict));
        }
        text
    }

    /// Makes columns as wide as their cells need, as far as there is room. The last one gets the rest.
    fn grow(&mut self, rows: &[[String; 8]]) {
        let used = self.used();
        let mut room = self
            .terminal
            .width
            .map_or(usize::MAX, |width| width.saturating_sub(used));
        for (place, (shown, column)) in self.widths.iter_mut().zip(&COLUMNS).enumerate() {
            let Some(shown) = shown else {
                continue;
            };
            let is_last = place + 1 == COLUMNS.len();
            let cells = rows.iter().filter_map(|row| row.get(place));
            let most = match self.terminal.width {
                // It is cut to what is left, in each row.
                _ if is_last => 0,
                Some(_) => column.most,
                None => usize::MAX,
            };
            let wanted = cells.map(|cell| width(cell).min(most)).max();
            let more = wanted.unwrap_or(0).saturating_sub(*shown).min(room);
            *shown += more;
            room -= more;
        }
    }

    fn line(&self, text: &mut String, cells: &[String; 8], answer: Option<Answer>) {
        let mut line = String::new();
        let mut used = 0;
        for ((cell, width), column) in cells.iter().zip(self.widths).zip(&COLUMNS) {
            let Some(width) = width else {
                continue;
            };
            let is_last = column.most == usize::MAX;
            let width = match (is_last, self.terminal.width) {
                (true, Some(all)) => all.saturating_sub(used),
                (true, None) => usize::MAX,
                (false, _) => width,
            };
            let (shown, padding) = fitted(cell, width);
            match answer {
                Some(answer) if column.name == "VERDICT" => {
                    line.push_str(&self.terminal.answer(&shown, answer == Answer::Allow));
                }
                _ => line.push_str(&shown),
            }
            if !is_last {
                line.extend(std::iter::repeat_n(' ', padding + GAP));
            }
            used = used.saturating_add(width).saturating_add(GAP);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

fn cells(item: &Summary) -> [String; 8] {
    [
        item.id.clone(),
        seconds(&item.time),
        item.door.to_string(),
        match item.user.as_str() {
            "" => "-".to_owned(),
            user => user.to_owned(),
        },
        action(item),
        item.verdict.as_str().to_owned(),
        by(item),
        remark(item),
    ]
    .map(|cell| printable(&cell).into_owned())
}

/// `CREATE Pod dev/fine`: what was asked for.
pub(in crate::commands) fn action(item: &Summary) -> String {
    let what = match (item.namespace.as_str(), item.name.as_str()) {
        ("", "") => String::new(),
        ("", name) => format!(" {name}"),
        (tenant, "") if item.door == Door::Api => format!(" {tenant}"),
        (namespace, "") => format!(" {namespace}/"),
        (namespace, name) => format!(" {namespace}/{name}"),
    };
    format!("{} {}{what}", item.operation, item.kind)
}

/// `policy no-curse`, `role releaser`, `PodSecurity`, `-`: who decided.
fn by(item: &Summary) -> String {
    match (&item.policy, &item.plugin) {
        (Some(role), _) if item.door == Door::Api => format!("role {role}"),
        (Some(policy), _) => format!("policy {policy}"),
        (None, Some(plugin)) => plugin.clone(),
        (None, None) => "-".to_owned(),
    }
}

/// The message, or else what else is worth a remark.
fn remark(item: &Summary) -> String {
    match item.warnings.as_slice() {
        _ if !item.message.is_empty() => message(item).to_owned(),
        [warning] => format!("warning: {warning}"),
        [warning, more @ ..] => format!("warning (+{} more): {warning}", more.len()),
        [] if item.mutated => "(changed)".to_owned(),
        [] => String::new(),
    }
}

/// The message without the name of the policy, which is shown beside it.
pub(in crate::commands) fn message(item: &Summary) -> &str {
    let text = item.message.as_str();
    let policy = item
        .policy
        .as_deref()
        .filter(|_| item.door != Door::Authorization);
    let shorter = policy.and_then(|policy| text.strip_prefix(policy)?.strip_prefix(": "));
    shorter.unwrap_or(text)
}

/// A time to the second.
fn seconds(time: &str) -> String {
    match time.split_once('.') {
        Some((whole, rest)) if rest.ends_with('Z') => format!("{whole}Z"),
        _ => time.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::explain::sample;

    fn items() -> Vec<Summary> {
        let mut plain = sample::decision("refusal").summary;
        let mut odd = sample::decision("policy").summary;
        odd.user = "eve\u{1b}[2J\u{202e}".to_owned();
        plain.message = "m".repeat(300);
        vec![plain, odd]
    }

    #[test]
    fn nothing_is_cut_where_nobody_looks() {
        let text = Table::new(Terminal::default(), true).rows(&items());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(
            lines[0].starts_with("ID                          TIME"),
            "{text}"
        );
        assert!(lines[1].ends_with(&"m".repeat(300)), "{text}");
        assert!(lines[2].contains("eve\\u{1b}[2J\\u{202e}"), "{text}");
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn rows_fit_every_terminal() {
        for width in [40, 60, 80, 100, 120, 138, 160, 190] {
            let terminal = Terminal {
                width: Some(width),
                ..Terminal::default()
            };
            let mut table = Table::new(terminal, true);
            let text = table.rows(&items());
            for line in text.lines() {
                let least = 26 + GAP + 16 + GAP + 7;
                assert!(super::width(line) <= width.max(least), "{width}: {line}");
            }
            // What is needed to go on is always there.
            for name in ["ID", "ACTION", "VERDICT"] {
                assert!(text.lines().next().unwrap().contains(name), "{text}");
            }
            assert!(text.contains(&items()[0].id), "{text}");
            assert_eq!(text.contains("MESSAGE"), width >= 80, "{text}");
            assert_eq!(table.rows(&[]), "");
        }
    }

    #[test]
    fn an_empty_user_and_further_warnings_are_seen() {
        let mut item = sample::decision("changed").summary;
        item.user = String::new();
        item.warnings = vec!["one".to_owned(), "two".to_owned(), "three".to_owned()];
        let cells = cells(&item);
        assert_eq!(cells[3], "-");
        assert_eq!(cells[7], "warning (+2 more): one");
    }
}
