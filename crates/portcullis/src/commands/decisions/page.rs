//! A list as it is printed, page by page.

use portcullis_record::Summary;
use serde_json::Value;

use super::table::Table;
use crate::commands::text::data::Output;
use crate::commands::text::terminal::Terminal;
use crate::commands::text::{json, yaml};
use crate::output;

/// Prints pages of a list.
#[derive(Debug)]
pub(super) struct Printer {
    output: Output,
    /// Whether it goes on for ever, so that every decision is a document of its own.
    is_endless: bool,
    table: Table,
    is_empty: bool,
}

impl Printer {
    /// For a list that ends.
    pub(super) fn new(output: Output, with_headers: bool) -> Self {
        Self {
            output,
            is_endless: false,
            table: Table::new(Terminal::of_output(), with_headers),
            is_empty: true,
        }
    }

    /// For one that goes on.
    pub(super) fn following(output: Output, with_headers: bool) -> Self {
        Self {
            is_endless: true,
            ..Self::new(output, with_headers)
        }
    }

    /// Prints some; false when the output is closed.
    pub(super) fn print(&mut self, items: &[Summary]) -> bool {
        let mut text = String::new();
        if self.output == Output::Table {
            text = self.table.rows(items);
        } else {
            for item in items {
                self.item(&mut text, item);
                self.is_empty = false;
            }
        }
        text.is_empty() || output::piece(&text)
    }

    fn item(&self, text: &mut String, item: &Summary) {
        match (self.output, self.is_endless) {
            (Output::Table, _) => {}
            (Output::Json, true) => {
                text.push_str(&json::compact(item));
                text.push('\n');
            }
            (Output::Json, false) => {
                text.push_str(if self.is_empty && text.is_empty() {
                    "{\n  \"items\": [\n    "
                } else {
                    ",\n    "
                });
                // Line ends are those of the layout only: in texts they are escaped.
                let item = serde_json::to_string_pretty(item).unwrap_or_default();
                text.push_str(&json::escaped(&item).replace('\n', "\n    "));
            }
            (Output::Yaml, true) => {
                text.push_str("---\n");
                text.push_str(&yaml::write(&value(item)));
            }
            (Output::Yaml, false) => {
                if self.is_empty && text.is_empty() {
                    text.push_str("items:\n");
                }
                for line in yaml::write(&Value::Array(vec![value(item)])).lines() {
                    text.push_str(&format!("  {line}\n"));
                }
            }
        }
    }

    /// Prints what stands below the items.
    pub(super) fn end(&self, next: Option<&str>) {
        let next = next.map_or(Value::Null, Value::from);
        output::data(&match (self.output, self.is_empty) {
            (Output::Table, _) => return,
            (Output::Json, false) => format!("\n  ],\n  \"next\": {next}\n}}\n"),
            (Output::Json, true) => format!("{{\n  \"items\": [],\n  \"next\": {next}\n}}\n"),
            (Output::Yaml, is_empty) => {
                let items = if is_empty { "items: []\n" } else { "" };
                format!("{items}next: {}", yaml::write(&next))
            }
        });
    }
}

fn value(item: &Summary) -> Value {
    serde_json::to_value(item).unwrap_or_default()
}
