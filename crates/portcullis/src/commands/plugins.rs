//! `portcullis plugins`.

use std::fmt::Write;

use clap::Args;
use portcullis_core::Operation;
use portcullis_kube::Descriptor;
use serde_json::{Value, json};

use super::text::columns::{self, Cell};
use super::text::data::{self, Output};
use super::text::terminal::Terminal;
use super::text::wrap::wrapped;
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct Plugins {
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// Lists every plug-in.
pub(super) fn run(plugins: &Plugins) -> Exit {
    let registry = portcullis_gate::registry();
    let all: Vec<Value> = registry.iter().map(value).collect();
    let all = Value::from(all);
    output::data(&data::write(&all, plugins.output, || {
        table(registry.iter(), Terminal::of_output())
    }));
    if plugins.output == Output::Table {
        output::hint("the schema of each configuration: portcullis plugins -o json");
    }
    Exit::Yes
}

/// A row for each plug-in, and below it what it does.
fn table<'a>(plugins: impl Iterator<Item = &'a Descriptor>, terminal: Terminal) -> String {
    let plugins: Vec<&Descriptor> = plugins.collect();
    let row = |plugin: &&Descriptor| {
        let phases = plugin.phases.to_string();
        vec![
            Cell::id(plugin.name),
            phases.into(),
            operations(plugin).join(", ").into(),
            keys(plugin).into(),
        ]
    };
    let rows: Vec<Vec<Cell>> = plugins.iter().map(row).collect();
    let header = ["NAME", "PHASES", "OPERATIONS", "CONFIGURATION"];
    let table = columns::table(&header, &rows, terminal);
    let mut lines = table.lines();
    let mut text = format!("{}\n", lines.next().unwrap_or_default());
    for (plugin, line) in plugins.iter().zip(lines) {
        let summary = wrapped(plugin.summary, 4, terminal.width);
        let _ = writeln!(text, "{line}\n    {summary}");
    }
    text
}

fn value(plugin: &Descriptor) -> Value {
    json!({
        "name": plugin.name,
        "summary": plugin.summary,
        "phases": {"admit": plugin.phases.admit, "validate": plugin.phases.validate},
        "operations": operations(plugin),
        "configuration": plugin.schema,
    })
}

fn operations(plugin: &Descriptor) -> Vec<&'static str> {
    plugin.operations.iter().map(Operation::as_str).collect()
}

/// The outermost keys of a plug-in's configuration.
fn keys(plugin: &Descriptor) -> String {
    let properties = plugin
        .schema
        .as_ref()
        .and_then(|s| s.get("properties")?.as_object());
    match properties {
        None => "none".into(),
        Some(all) => {
            let own = all
                .keys()
                .filter(|k| !matches!(k.as_str(), "apiVersion" | "kind"));
            own.cloned().collect::<Vec<_>>().join(", ")
        }
    }
}
