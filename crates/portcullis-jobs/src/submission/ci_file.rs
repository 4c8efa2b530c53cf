//! A file like `.gitlab-ci.yml`: stages, variables, defaults and jobs.
//!
//! What GitLab has beyond that is reported, not ignored, so that no job runs without a part of its definition.

use std::sync::Arc;

use portcullis_document::{
    Document, Fault, Faults, Node, Seconds, Source, Value, path, read, yaml,
};
use serde::Deserialize;

use super::checks::Checks;
use super::job::{JobPart, Script};
use super::pipeline::{PipelineDefinition, PipelineOrigin, define};
use crate::allow_failure::AllowFailure;
use crate::variables::Variables;
use crate::work::{Artifacts, Cache, JobWork};

/// Keys at the top that can't be the name of a job, and have no meaning here.
const UNSUPPORTED: &[&str] = &[
    "after_script",
    "before_script",
    "cache",
    "image",
    "include",
    "services",
    "spec",
    "types",
    "workflow",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileJob {
    stage: Option<String>,
    tags: Option<Vec<String>>,
    #[serde(default)]
    variables: Variables,
    script: Script,
    image: Option<String>,
    #[serde(default)]
    allow_failure: AllowFailure,
    timeout: Option<Seconds>,
    before_script: Option<Script>,
    after_script: Option<Script>,
    services: Option<Vec<String>>,
    artifacts: Option<Artifacts>,
    cache: Option<Cache>,
    dependencies: Option<Vec<String>>,
}

/// What jobs have that don't say otherwise.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Defaults {
    tags: Option<Vec<String>>,
    image: Option<String>,
    timeout: Option<Seconds>,
    before_script: Option<Script>,
    after_script: Option<Script>,
    services: Option<Vec<String>>,
    artifacts: Option<Artifacts>,
    cache: Option<Cache>,
}

/// Reads and checks a CI file. Keys that begin with a dot are hidden jobs, and ignored.
///
/// # Errors
///
/// Everything that is wrong, each with its line and column.
pub fn read_ci_file(
    source: &Arc<Source>,
    origin: PipelineOrigin,
) -> Result<PipelineDefinition, Faults> {
    let document = yaml::parse_map(source)?;
    let mut checks = Checks::default();
    let stages: Vec<String> = part(&document, "stages", &mut checks).unwrap_or_default();
    let variables = part(&document, "variables", &mut checks).unwrap_or_default();
    let defaults = part(&document, "default", &mut checks).unwrap_or_default();
    let mut jobs = Vec::new();
    for (name, node) in jobs_of(&document) {
        let at = path::key("", name);
        if UNSUPPORTED.contains(&name) {
            checks.add(&at, "this key isn't supported");
        } else if let Some(job) = read_part(&document, node, &at, &mut checks) {
            jobs.push((at.clone(), at, with_defaults(name, job, &defaults)));
        }
    }
    // Without its faulty jobs, the file would be blamed for having none.
    let defined = match jobs.is_empty() && !checks.faults.is_empty() {
        true => None,
        false => Some(define(origin, variables, &stages, jobs, &mut checks)),
    };
    let mut faults: Vec<Fault> = checks.faults;
    for fault in &mut faults {
        if fault.position.is_none() {
            *fault = document.locate(fault.clone());
        }
    }
    faults.sort_by_key(|fault| fault.position.map(|at| (at.line, at.column)));
    match (defined, Faults::from_list(faults)) {
        (Some(defined), None) => Ok(defined),
        (_, Some(faults)) => Err(faults),
        (None, None) => Err(document.fault("", "it can't be read").into()),
    }
}

/// The keys at the top that name jobs, or should not be there.
fn jobs_of(document: &Document) -> impl Iterator<Item = (&str, &Node)> {
    let entries: &[_] = match &document.root.value {
        Value::Map(entries) => entries,
        _ => &[],
    };
    let is_job = |name: &str| !matches!(name, "stages" | "variables" | "default");
    let is_hidden = |name: &str| name.starts_with('.');
    entries
        .iter()
        .map(|(name, node)| (name.value.as_str(), node))
        .filter(move |(name, _)| is_job(name) && !is_hidden(name))
}

/// The part of the document under a key at the top.
fn part<T: for<'de> Deserialize<'de>>(
    document: &Document,
    key: &str,
    checks: &mut Checks,
) -> Option<T> {
    let node = document.root.get(key)?;
    read_part(document, node, key, checks)
}

fn read_part<T: for<'de> Deserialize<'de>>(
    document: &Document,
    node: &Node,
    at: &str,
    checks: &mut Checks,
) -> Option<T> {
    let (value, faults) = read::partly(&document.source, node, at);
    checks.faults.extend(faults);
    value
}

fn with_defaults(name: &str, job: FileJob, defaults: &Defaults) -> JobPart {
    JobPart {
        name: name.to_owned(),
        stage: job.stage,
        tags: job
            .tags
            .or_else(|| defaults.tags.clone())
            .unwrap_or_default(),
        variables: job.variables,
        script: job.script,
        image: job.image.or_else(|| defaults.image.clone()),
        allow_failure: job.allow_failure,
        timeout: job.timeout.or(defaults.timeout),
        work: JobWork {
            before_script: script(job.before_script, &defaults.before_script),
            after_script: script(job.after_script, &defaults.after_script),
            services: job
                .services
                .or_else(|| defaults.services.clone())
                .unwrap_or_default(),
            artifacts: job.artifacts.or_else(|| defaults.artifacts.clone()),
            cache: job.cache.or_else(|| defaults.cache.clone()),
            dependencies: job.dependencies,
        },
    }
}

fn script(own: Option<Script>, default: &Option<Script>) -> Vec<String> {
    let default = || default.as_ref().map(|script| script.0.clone());
    own.map(|script| script.0)
        .or_else(default)
        .unwrap_or_default()
}
