//! `portcullis plugins`.

use std::fmt::Write;

use clap::Args;
use portcullis_core::Operation;
use portcullis_kube::Descriptor;
use serde_json::{Value, json};

use super::text::data;
use super::text::data::Output;
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
        table(registry.iter())
    }));
    Exit::Yes
}

fn table<'a>(plugins: impl Iterator<Item = &'a Descriptor>) -> String {
    let mut text = format!(
        "{:<34}{:<18}{:<32}CONFIGURATION\n",
        "NAME", "PHASES", "OPERATIONS"
    );
    for plugin in plugins {
        let phases = plugin.phases.to_string();
        let _ = writeln!(
            text,
            "{:<34}{:<18}{:<32}{}\n    {}",
            plugin.name,
            phases,
            operations(plugin).join(", "),
            keys(plugin),
            plugin.summary,
        );
    }
    text.push_str("\nThe schema of each configuration: portcullis plugins -o json\n");
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
