//! `portcullis runner matrix`: which runners may take a job, requirement by requirement.

use clap::Args;
use serde_json::Value;

use crate::arguments::Server;
use crate::client::ClientError;
use crate::commands::listing::text;
use crate::commands::remote::Remote;
use crate::commands::text::columns::{self, Cell};
use crate::commands::text::data::{self, Output};
use crate::commands::text::plain::printable;
use crate::commands::text::terminal::Terminal;
use crate::commands::text::wrap::hanging;
use crate::output;

#[derive(Debug, Args)]
pub(super) struct RunnerMatrix {
    /// The id of the job.
    #[arg(long, value_name = "ID")]
    job: u64,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

/// Shows every runner that the caller may see.
pub(super) fn shown(matrix: &RunnerMatrix) -> Result<(), ClientError> {
    let mut server = Remote::open(&matrix.server)?;
    let found = server.get(&["v1", "jobs", &matrix.job.to_string(), "runners"])?;
    let runners = found.as_array().map_or(&[][..], Vec::as_slice);
    let terminal = Terminal::of_output();
    output::data(&data::write(&found, matrix.output, || {
        table(runners, terminal)
    }));
    if matrix.output == Output::Table && runners.is_empty() {
        output::hint("no runner is registered for this project");
    }
    Ok(())
}

/// A row for each runner, a column for each requirement, and below it why not.
fn table(runners: &[Value], terminal: Terminal) -> String {
    let Some(first) = runners.first() else {
        return String::new();
    };
    let names: Vec<String> = checks(first)
        .map(|check| text(check, "requirement").replace('_', " ").to_uppercase())
        .collect();
    let mut header = vec!["ID", "DESCRIPTION", "MAY TAKE IT"];
    header.extend(names.iter().map(String::as_str));
    let rows: Vec<Vec<Cell>> = runners.iter().map(row).collect();
    let mut all = columns::table(&header, &rows, terminal);
    for runner in runners {
        let reasons = runner.get("reasons").and_then(Value::as_array);
        let reasons: Vec<&str> = reasons
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if !reasons.is_empty() {
            let id = text(runner, "id");
            let line = format!("runner {id}: {}", reasons.join("; "));
            all.push_str(&hanging(&printable(&line), 2, terminal.width));
            all.push('\n');
        }
    }
    all
}

fn checks(runner: &Value) -> impl Iterator<Item = &Value> {
    let checks = runner.get("requirements").and_then(Value::as_array);
    checks.into_iter().flatten()
}

fn row(runner: &Value) -> Vec<Cell> {
    let word = |value: &Value, key: &str| match value.get(key).and_then(Value::as_bool) {
        Some(true) => Cell::state("yes"),
        _ => Cell::state("no"),
    };
    let mut cells = vec![
        text(runner, "id").into(),
        text(runner, "description").into(),
        word(runner, "eligible"),
    ];
    cells.extend(checks(runner).map(|check| word(check, "met")));
    cells
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_runner_has_every_requirement_and_why_not() {
        let check = |name: &str, met: bool| json!({"requirement": name, "met": met});
        let runners = [
            json!({"id": 1, "description": "big", "eligible": true, "reasons": [],
                "requirements": [check("tags", true), check("not_paused", true)]}),
            json!({"id": 2, "description": "old", "eligible": false,
                "reasons": ["it doesn't have the tag `gpu`", "it is paused"],
                "requirements": [check("tags", false), check("not_paused", false)]}),
        ];
        let shown = table(&runners, Terminal::default());
        let lines: Vec<Vec<&str>> = shown
            .lines()
            .map(|l| l.split_whitespace().collect())
            .collect();
        assert_eq!(
            lines[0].join(" "),
            "ID DESCRIPTION MAY TAKE IT TAGS NOT PAUSED"
        );
        assert_eq!(lines[1].join(" "), "1 big yes yes yes");
        assert_eq!(lines[2].join(" "), "2 old no no no");
        assert_eq!(
            lines[3].join(" "),
            "runner 2: it doesn't have the tag `gpu`; it is paused"
        );
    }
}
