//! Tenants and their states as a table.

use serde_json::Value;

use crate::commands::text::columns::{self, Cell};
use crate::commands::text::terminal::Terminal;
use crate::commands::text::time;

/// One tenant per row, with the figures that the server returns.
pub(super) fn list(items: &[Value], terminal: Terminal) -> String {
    let figure = |item: &Value, key: &str| item.get(key).and_then(Value::as_u64);
    let figures = [("PROJECTS", "projects"), ("QUEUE", "queue")];
    let told = |(_, key): &&(&str, &str)| items.iter().any(|item| figure(item, key).is_some());
    let figures: Vec<&(&str, &str)> = figures.iter().filter(told).collect();
    let has_states = items.iter().any(|item| item.get("state").is_some());
    let rows: Vec<Vec<Cell>> = items
        .iter()
        .map(|item| {
            let name = item.get("name").and_then(Value::as_str);
            let mut row = vec![Cell::from(name.unwrap_or_default())];
            row.extend(figures.iter().map(|(_, key)| {
                let figure = figure(item, key);
                figure
                    .map_or_else(|| "-".to_owned(), |figure| figure.to_string())
                    .into()
            }));
            row.extend(has_states.then(|| Cell::state(word(item.get("state")))));
            row
        })
        .collect();
    let header: Vec<&str> = std::iter::once("NAME")
        .chain(figures.iter().map(|(name, _)| *name))
        .chain(has_states.then_some("STATE"))
        .collect();
    columns::table(&header, &rows, terminal)
}

/// Whether a tenant goes on, in a word.
fn word(state: Option<&Value>) -> String {
    let is = |key: &str| state.and_then(|state| state.get(key)?.as_bool()) == Some(true);
    let words = [
        ("trigger_queue_discarding", "discarding"),
        ("trigger_queue_paused", "paused"),
        ("result_queue_paused", "results paused"),
    ];
    let words: Vec<&str> = words
        .into_iter()
        .filter_map(|(key, word)| is(key).then_some(word))
        .collect();
    match words.is_empty() {
        true => "normal".to_owned(),
        false => words.join(", "),
    }
}

/// Whether a tenant goes on, in words.
pub(super) fn state(tenant: &str, state: &Value, terminal: Terminal) -> String {
    let is = |key: &str| state.get(key).and_then(Value::as_bool) == Some(true);
    let pipelines = match (is("trigger_queue_discarding"), is("trigger_queue_paused")) {
        (true, _) => "discarded",
        (false, true) => "paused",
        (false, false) => "normal",
    };
    let results = match is("result_queue_paused") {
        true => "paused",
        false => "normal",
    };
    let mut all = vec![
        ("tenant", tenant.to_owned()),
        ("new pipelines", pipelines.to_owned()),
        ("results", results.to_owned()),
    ];
    let text = |key: &str| state.get(key)?.as_str().map(str::to_owned);
    let moment = |key: &str| state.get(key)?.as_u64().map(time::of_seconds);
    let more = [
        ("reason", text("reason")),
        ("set by", text("set_by")),
        ("set at", moment("set_at")),
        ("until", moment("expires_at")),
    ];
    all.extend(
        more.into_iter()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    columns::fields(&all, terminal)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tenants_are_rows_with_the_figures_there_are() {
        assert_eq!(
            list(&[json!({"name": "t1"})], Terminal::default()),
            "NAME\nt1\n"
        );
        assert_eq!(
            list(
                &[json!({"name": "t1", "projects": 3}), json!({"name": "two"})],
                Terminal::default()
            ),
            "NAME  PROJECTS\nt1    3\ntwo   -\n"
        );
        let paused = json!({"trigger_queue_paused": true, "result_queue_paused": true});
        assert_eq!(
            list(
                &[
                    json!({"name": "t1", "state": paused}),
                    json!({"name": "two", "state": {}})
                ],
                Terminal::default()
            ),
            "NAME  STATE\nt1    paused, results paused\ntwo   normal\n"
        );
    }

    #[test]
    fn states_are_told_in_words() {
        let told = |value: Value| state("t1", &value, Terminal::default());
        assert_eq!(
            told(json!({})),
            "tenant         t1\nnew pipelines  normal\nresults        normal\n"
        );
        let text = told(json!({
            "trigger_queue_paused": true, "trigger_queue_discarding": true,
            "result_queue_paused": true, "reason": "fire", "set_by": "root", "set_at": 60,
            "expires_at": null,
        }));
        for line in [
            "new pipelines  discarded",
            "results        paused",
            "reason         fire",
            "set by         root",
            "set at         1970-01-01T00:01:00Z",
        ] {
            assert!(text.lines().any(|l| l == line), "{text}");
        }
        assert!(!text.contains("until"), "{text}");
    }
}
