//! Decisions as rows for people.

use portcullis_core::Door;
use portcullis_record::{Answer, Summary};

use crate::cli::door_name;
use crate::commands::text::plain::{cut, printable};
use crate::commands::text::terminal::Terminal;

/// Names of the columns, with the least width of each and the most it may grow to on a terminal.
const COLUMNS: [(&str, usize, usize); 8] = [
    ("ID", 26, 26),
    ("TIME", 20, 20),
    ("DOOR", 10, 13),
    ("USER", 8, 30),
    ("ACTION", 16, 44),
    ("VERDICT", 7, 7),
    ("BY", 8, 28),
    ("MESSAGE", 0, 0),
];
/// The last column has at least so many characters, however narrow the terminal is.
const LEAST_MESSAGE: usize = 20;

/// A table that grows by rows.
#[derive(Debug)]
pub(super) struct Table {
    terminal: Terminal,
    widths: [usize; 8],
    has_header: bool,
}

impl Table {
    pub(super) fn new(terminal: Terminal, has_header: bool) -> Self {
        Self {
            terminal,
            widths: COLUMNS.map(|(_, least, _)| least),
            has_header,
        }
    }

    /// Rows for these; above the first ones, the names of the columns.
    pub(super) fn rows(&mut self, items: &[Summary]) -> String {
        let rows: Vec<[String; 8]> = items.iter().map(cells).collect();
        for row in &rows {
            let all = self.widths.iter_mut().zip(COLUMNS).zip(row);
            for ((width, (_, _, most)), cell) in all {
                let most = self.terminal.width.map_or(usize::MAX, |_| most);
                *width = (*width).max(cell.chars().count().min(most));
            }
        }
        let mut text = String::new();
        if !items.is_empty() && std::mem::take(&mut self.has_header) {
            self.line(
                &mut text,
                &COLUMNS.map(|(name, _, _)| name.to_owned()),
                None,
            );
        }
        for (item, row) in items.iter().zip(&rows) {
            self.line(&mut text, row, Some(item.verdict));
        }
        text
    }

    fn line(&self, text: &mut String, cells: &[String; 8], answer: Option<Answer>) {
        let mut line = String::new();
        let mut used = 0;
        for (number, (cell, width)) in cells.iter().zip(self.widths).enumerate() {
            let is_last = number + 1 == cells.len();
            let width = match (is_last, self.terminal.width) {
                (false, Some(_)) => width,
                (true, Some(all)) => all.saturating_sub(used).max(LEAST_MESSAGE),
                (_, None) => width.max(cell.chars().count()),
            };
            let shown = cut(cell, width);
            let padding = width.saturating_sub(shown.chars().count());
            match answer {
                Some(answer) if COLUMNS.get(number).is_some_and(|c| c.0 == "VERDICT") => {
                    line.push_str(&self.terminal.answer(&shown, answer == Answer::Allow));
                }
                _ => line.push_str(&shown),
            }
            if !is_last {
                line.extend(std::iter::repeat_n(' ', padding + 2));
            }
            used += width + 2;
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

fn cells(item: &Summary) -> [String; 8] {
    [
        item.id.clone(),
        seconds(&item.time),
        door_name(item.door).to_owned(),
        item.user.clone(),
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
    match item.warnings.first() {
        _ if !item.message.is_empty() => message(item).to_owned(),
        Some(warning) => format!("warning: {warning}"),
        None if item.mutated => "(changed)".to_owned(),
        None => String::new(),
    }
}

/// The message without the name of the policy, which is told beside it.
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
    fn rows_fit_a_terminal() {
        let terminal = Terminal {
            width: Some(190),
            ..Terminal::default()
        };
        let mut table = Table::new(terminal, false);
        for line in table.rows(&items()).lines() {
            assert!(line.chars().count() <= 190, "{line}");
        }
        assert_eq!(table.rows(&[]), "");
    }
}
