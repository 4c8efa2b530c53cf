//! Decisions listed, followed, explained and exported, out of a store and from a server.

mod actions;
mod api;
mod documentation;
mod explained;
mod formats;
mod server;
mod store;
mod watched;

use portcullis_record::{Decision, Summary};
use portcullis_store::{Entry, Location, Mode, Store};
use serde_json::Value;

use crate::harness::{Folder, repository};

/// The samples that the program's own tests have, oldest first.
const SAMPLES: [&str; 4] = ["refusal", "policy", "changed", "access"];

fn sample_file(name: &str) -> String {
    let folder = repository().join("crates/portcullis/src/commands/explain/samples");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// A sample as one line.
fn sample(name: &str) -> String {
    sample_file(&format!("{name}.json")).trim_end().to_owned()
}

/// All samples, oldest first.
pub(crate) fn samples() -> Vec<String> {
    SAMPLES.map(sample).to_vec()
}

/// So many decisions of one kind, oldest first.
fn many(count: usize) -> Vec<String> {
    let like: Value = serde_json::from_str(&sample("refusal")).unwrap();
    let one = |number: usize| {
        let mut one = like.clone();
        one["id"] = format!("01K9ZW{number:020}").into();
        one["name"] = format!("pod-{number}").into();
        one.to_string()
    };
    (0..count).map(one).collect()
}

fn summary(line: &str) -> Summary {
    Decision::from_line(line).unwrap().summary
}

pub(crate) fn ids(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| summary(line).id).collect()
}

/// The names of listed decisions.
fn listed(json: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(json).unwrap_or_else(|e| panic!("{e}: {json}"));
    let items = value["items"].as_array().unwrap().iter();
    items
        .map(|item| item["id"].as_str().unwrap().to_owned())
        .collect()
}

/// Puts decisions into the store of a data directory.
pub(crate) fn fill(folder: &Folder, dir: &str, lines: &[String]) {
    let dir = folder.path(dir);
    std::fs::create_dir_all(&dir).unwrap();
    let mut store = Store::open(&Location::in_directory(&dir), Mode::ReadWrite).unwrap();
    let summaries: Vec<Summary> = lines.iter().map(|line| summary(line)).collect();
    let entries: Vec<Entry<'_>> = summaries
        .iter()
        .zip(lines)
        .map(|(summary, line)| Entry { summary, line })
        .collect();
    store.append(&entries).unwrap();
}

/// A data directory `data` with all samples.
fn filled() -> Folder {
    let folder = Folder::new();
    fill(&folder, "data", &samples());
    folder
}
