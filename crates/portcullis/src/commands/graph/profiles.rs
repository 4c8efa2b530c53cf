//! `portcullis graph check` and `graph list`: profiles, without any objects.

use clap::{Args, ValueHint};
use portcullis_config::{ConfigSource, Listening};
use portcullis_gate::offline_graphs;
use portcullis_graph::{KindId, Profile, built_in};
use serde_json::{Value, json};

use crate::arguments::{Admission, Configuration, load_options};
use crate::commands::failure::Failure;
use crate::commands::text::data::Output;
use crate::commands::text::plain::{counted, printable};
use crate::commands::text::terminal::Terminal;
use crate::commands::text::{columns, data};
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(super) struct GraphCheck {
    /// The profile: a file, or the name of a built-in one.
    #[arg(value_name = "FILE|NAME", value_hint = ValueHint::FilePath)]
    profile: String,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

#[derive(Debug, Args)]
pub(super) struct GraphList {
    #[command(flatten)]
    configuration: Configuration,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// Validates a profile, and says what it is about.
pub(super) fn check(asked: &GraphCheck) -> Result<Exit, Failure> {
    let read = offline_graphs::read_profile(&asked.profile);
    let profile = read.map_err(|faults| Failure::faults(&faults))?;
    output::data(&data::write(&value(&profile), asked.output, || {
        format!(
            "{} is valid\n\n{}",
            printable(&asked.profile),
            text(&profile, Terminal::of_output())
        )
    }));
    Ok(Exit::Yes)
}

/// The names of kinds.
fn names(profile: &Profile, kinds: impl IntoIterator<Item = KindId>) -> Vec<&str> {
    let kinds = kinds.into_iter();
    kinds.map(|kind| profile.kinds.name(kind)).collect()
}

fn value(profile: &Profile) -> Value {
    let summary = &profile.summary;
    let graphs = profile.targets.iter().map(|target| {
        let cycle = profile.sources.cycle(*target);
        json!({
            "target": profile.kinds.name(*target),
            "answers": if cycle.is_some() { "search" } else { "sets" },
            "cycle": cycle.map(|kinds| names(profile, kinds)),
        })
    });
    let kinds = profile.kinds.iter().map(|(_, kind)| {
        json!({
            "kind": kind.name, "apiVersion": kind.api_version(), "resource": kind.resource,
            "namespaced": kind.namespaced,
        })
    });
    let subjects = summary.subjects.iter();
    let subjects =
        subjects.map(|one| json!({"id": one.id, "user": one.user, "target": one.target}));
    json!({
        "description": profile.description,
        "graphs": graphs.collect::<Vec<_>>(),
        "kinds": kinds.collect::<Vec<_>>(),
        "watched": names(profile, profile.sources.iter().map(|(_, kind)| kind)),
        "subjects": subjects.collect::<Vec<_>>(),
        "rules": summary.rules,
        "resources": summary.resources,
        "staticRules": summary.static_rules,
        "admissionRules": summary.admission_rules,
        "denies": summary.denies,
    })
}

fn text(profile: &Profile, terminal: Terminal) -> String {
    let summary = &profile.summary;
    let list = |all: Vec<&str>| format!("{} ({})", all.len(), all.join(", "));
    let mut fields = Vec::new();
    if let Some(description) = &profile.description {
        fields.push(("description", description.trim().to_owned()));
    }
    for target in &profile.targets {
        let target_name = profile.kinds.name(*target);
        let how = match profile.sources.cycle(*target) {
            None => "indexed".to_owned(),
            Some(cycle) => format!(
                "not indexed (every answer is a search), because these kinds can form a cycle: {}",
                names(profile, cycle).join(" -> ")
            ),
        };
        fields.push(("graph", format!("to {target_name}: {how}")));
    }
    let kinds = profile.kinds.iter().map(|(_, kind)| kind.name.as_str());
    fields.push(("kinds", list(kinds.collect())));
    let watched = profile.sources.iter().map(|(_, kind)| kind);
    fields.push(("watched", list(names(profile, watched))));
    for subject in &summary.subjects {
        let (id, user, target) = (&subject.id, &subject.user, &subject.target);
        fields.push(("subject", format!("{id}: {user} stands for a {target}")));
    }
    let rules = counted(summary.rules, "rule", "rules");
    let resources = counted(summary.resources.len(), "resource", "resources");
    let fixed = counted(summary.static_rules, "static rule", "static rules");
    fields.push(("rules", format!("{rules} about {resources}, {fixed}")));
    let miss = match summary.denies {
        true => "denied by some rules",
        false => "left to others (no opinion)",
    };
    fields.push(("otherwise", miss.to_owned()));
    let admission = counted(summary.admission_rules, "rule", "rules");
    fields.push(("admission", admission));
    columns::fields(&fields, terminal)
}

/// Lists the profiles of the configuration, and then the built-in ones.
pub(super) fn list(asked: &GraphList) -> Result<Exit, Failure> {
    let mut listed = Listed::default();
    if let Some(file) = asked.configuration.found() {
        let registry = portcullis_gate::registry();
        let (known, flags) = (registry.names(), Admission::default());
        let mut options = load_options(ConfigSource::File(&file), &flags, &known);
        options.listeners = Listening::Ignored;
        let loaded = portcullis_config::load(&options);
        for one in loaded.map_err(|faults| Failure::faults(&faults))?.graphs {
            listed.add(&one.name, "configuration", &one.profile);
        }
    }
    for &(name, _) in built_in::ALL {
        let read = offline_graphs::read_profile(name);
        let profile = read.map_err(|faults| Failure::faults(&faults))?;
        listed.add(name, "built-in", &profile);
    }
    output::data(&data::write(&listed.values.into(), asked.output, || {
        let header = ["NAME", "FROM", "TARGETS", "KINDS", "DESCRIPTION"];
        columns::table(&header, &listed.rows, Terminal::of_output())
    }));
    Ok(Exit::Yes)
}

/// Profiles as they are printed.
#[derive(Debug, Default)]
struct Listed {
    values: Vec<Value>,
    rows: Vec<Vec<String>>,
}

impl Listed {
    fn add(&mut self, name: &str, from: &str, profile: &Profile) {
        let targets = names(profile, profile.targets.iter().copied());
        let kinds = names(profile, profile.kinds.iter().map(|(id, _)| id));
        let description = profile.description.as_deref().unwrap_or_default().trim();
        self.rows.push(vec![
            printable(name).into_owned(),
            from.to_owned(),
            targets.join(", "),
            kinds.len().to_string(),
            description.to_owned(),
        ]);
        self.values.push(json!({
            "name": name, "from": from, "description": description, "targets": targets, "kinds": kinds,
        }));
    }
}
