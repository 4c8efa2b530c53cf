//! `portcullis graph list`.

use portcullis_gate::offline_graphs;
use portcullis_graph::built_in;
use serde_json::{Value, json};

use super::super::access::Failure;
use super::check::names;
use crate::cli::GraphList;
use crate::commands::text::terminal::Terminal;
use crate::commands::text::{columns, data};
use crate::exit::Exit;
use crate::output;

/// Lists the built-in profiles.
pub(super) fn run(asked: &GraphList) -> Result<Exit, Failure> {
    let mut values = Vec::new();
    let mut rows = Vec::new();
    for &(name, _) in built_in::ALL {
        let read = offline_graphs::read_profile(name);
        let profile = read.map_err(|faults| Failure::faults(&faults))?;
        let targets = names(&profile, profile.targets.iter().copied());
        let kinds = names(&profile, profile.kinds.iter().map(|(id, _)| id));
        let description = profile.description.as_deref().unwrap_or_default().trim();
        rows.push(vec![
            name.to_owned(),
            targets.join(", "),
            kinds.len().to_string(),
            description.to_owned(),
        ]);
        values.push(json!({
            "name": name, "description": description, "targets": targets, "kinds": kinds,
        }));
    }
    output::data(&data::write(&Value::from(values), asked.output, || {
        let width = Terminal::of_output().width;
        columns::table(&["NAME", "TARGETS", "KINDS", "DESCRIPTION"], &rows, width)
    }));
    Ok(Exit::Yes)
}
