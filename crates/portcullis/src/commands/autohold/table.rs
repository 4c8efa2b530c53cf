//! Holds as a table.

use serde_json::Value;

use crate::commands::text::columns::{self, Cell};
use crate::commands::text::plain::span;
use crate::commands::text::terminal::Terminal;
use crate::commands::text::time;

/// One hold a row.
pub(super) fn list(items: &[Value], terminal: Terminal) -> String {
    let rows: Vec<Vec<Cell>> = items
        .iter()
        .map(|hold| {
            vec![
                text(hold, "id").into(),
                text(hold, "project").into(),
                text(hold, "job").into(),
                text(hold, "ref_filter").into(),
                count(hold).into(),
                kept(hold).into(),
                Cell::state(state(hold)),
                text(hold, "reason").into(),
            ]
        })
        .collect();
    let header = [
        "ID", "PROJECT", "JOB", "REF", "HELD", "DURATION", "STATE", "REASON",
    ];
    columns::table(&header, &rows, terminal)
}

/// Everything about one hold.
pub(super) fn one(hold: &Value, terminal: Terminal) -> String {
    let nodes = hold.get("nodes").and_then(Value::as_array);
    let nodes: Vec<String> = nodes.into_iter().flatten().map(plain).collect();
    let moment = |key: &str| {
        let seconds = hold.get(key).and_then(Value::as_u64);
        seconds.map_or_else(|| "-".to_owned(), time::of_seconds)
    };
    let known = [
        ("id", text(hold, "id")),
        ("tenant", text(hold, "tenant")),
        ("project", text(hold, "project")),
        ("job", text(hold, "job")),
        ("ref", text(hold, "ref_filter")),
        ("held", count(hold)),
        ("held for", kept(hold)),
        ("state", state(hold).to_owned()),
        ("reason", text(hold, "reason")),
        ("placed by", text(hold, "placed_by")),
        ("placed at", moment("placed_at")),
        ("until", moment("expires_at")),
        (
            "nodes",
            if nodes.is_empty() {
                "-".to_owned()
            } else {
                nodes.join(", ")
            },
        ),
    ];
    columns::fields(&known, terminal)
}

fn state(hold: &Value) -> &'static str {
    match hold.get("expired") {
        None | Some(Value::Null | Value::Bool(false)) => "waiting",
        Some(_) => "expired",
    }
}

fn count(hold: &Value) -> String {
    let number = |key: &str| hold.get(key).and_then(Value::as_u64).unwrap_or(0);
    format!("{} of {}", number("current_count"), number("max_count"))
}

fn kept(hold: &Value) -> String {
    let seconds = hold.get("node_expiration").and_then(Value::as_u64);
    match seconds {
        None | Some(0) => "-".to_owned(),
        Some(seconds) => span(seconds),
    }
}

fn text(hold: &Value, key: &str) -> String {
    hold.get(key).map(plain).unwrap_or_default()
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hold() -> Value {
        json!({
            "id": 7, "tenant": "t1", "project": "org/p", "job": "unit",
            "ref_filter": ".*", "max_count": 2, "current_count": 1, "reason": "bob looks",
            "node_expiration": 86_400, "expired": null, "nodes": ["m1", "m2"],
            "placed_by": "bob", "placed_at": 0, "expires_at": null,
        })
    }

    #[test]
    fn holds_are_rows() {
        let mut other = hold();
        other["expired"] = json!(true);
        other["node_expiration"] = Value::Null;
        assert_eq!(
            list(&[hold(), other, json!({})], Terminal::default()),
            "ID  PROJECT  JOB   REF  HELD    DURATION  STATE    REASON\n\
             7   org/p    unit  .*   1 of 2  1d        waiting  bob looks\n\
             7   org/p    unit  .*   1 of 2  -         expired  bob looks\n\
             \u{20}                       0 of 0  -         waiting\n"
        );
    }

    #[test]
    fn one_hold_is_told_whole() {
        let text = one(&hold(), Terminal::default());
        for line in [
            "id         7",
            "held       1 of 2",
            "placed at  1970-01-01T00:00:00Z",
            "until      -",
            "nodes      m1, m2",
        ] {
            assert!(text.lines().any(|l| l == line), "{text}");
        }
    }
}
