//! What is there in the end, as the API shows it: the other side that the checker compares.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::client::Client;

/// The statuses that jobs are listed by.
const STATUSES: &[&str] = &[
    "created",
    "preparing",
    "pending",
    "running",
    "success",
    "failed",
    "canceled",
    "skipped",
];

/// What one controller said in one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) controller: String,
    pub(crate) attempt: u64,
    pub(crate) verdict: String,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) project: String,
    pub(crate) pipeline: Option<u64>,
    pub(crate) status: String,
    pub(crate) failure_reason: Option<String>,
    pub(crate) attempt: u64,
    pub(crate) tags: Vec<String>,
    pub(crate) finished_at: Option<String>,
    pub(crate) decisions: Vec<Decision>,
}

/// A pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pipeline {
    pub(crate) status: String,
    /// Its jobs with their statuses.
    pub(crate) jobs: BTreeMap<u64, String>,
}

/// Everything that is there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    /// The list of all jobs, as it comes.
    pub(crate) jobs: Vec<Job>,
    /// The lists of jobs with one status.
    pub(crate) by_status: BTreeMap<String, BTreeSet<u64>>,
    pub(crate) pipelines: BTreeMap<u64, Pipeline>,
    /// How many decision records there are for jobs of each name.
    pub(crate) records: BTreeMap<String, u64>,
}

impl Snapshot {
    /// Reads everything.
    pub(crate) fn read(client: &mut Client) -> Self {
        let jobs: Vec<Job> = pages(client, "/api/v1/jobs?limit=500", "page")
            .iter()
            .map(job)
            .collect();
        let mut by_status = BTreeMap::new();
        for status in STATUSES {
            let path = format!("/api/v1/jobs?limit=500&status={status}");
            let ids = pages(client, &path, "page");
            let ids = ids.iter().map(|job| number(&job["id"]).unwrap());
            by_status.insert((*status).to_owned(), ids.collect());
        }
        let mut pipelines = BTreeMap::new();
        let numbers: BTreeSet<u64> = jobs.iter().filter_map(|job| job.pipeline).collect();
        for id in numbers {
            let found = client.read(&format!("/api/v1/pipelines/{id}"));
            let jobs = found["jobs"].as_array().unwrap().iter();
            let jobs = jobs.map(|job| (number(&job["id"]).unwrap(), text(&job["status"])));
            let pipeline = Pipeline {
                status: text(&found["status"]),
                jobs: jobs.collect(),
            };
            pipelines.insert(id, pipeline);
        }
        let mut records = BTreeMap::new();
        for record in pages(client, "/api/v1/decisions?door=ci&limit=1000", "after") {
            *records.entry(text(&record["name"])).or_default() += 1;
        }
        Self {
            jobs,
            by_status,
            pipelines,
            records,
        }
    }
}

/// All items of a list.
fn pages(client: &mut Client, path: &str, key: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut next = String::new();
    loop {
        let mut page = client.read(&format!("{path}{next}"));
        all.append(page["items"].as_array_mut().unwrap());
        next = match &page["next"] {
            Value::Null => return all,
            Value::String(text) => format!("&{key}={text}"),
            other => format!("&{key}={other}"),
        };
    }
}

fn job(job: &Value) -> Job {
    let decisions = job["admission"]["decisions"].as_array();
    let decisions = decisions.into_iter().flatten().map(|one| Decision {
        controller: text(&one["controller"]),
        attempt: number(&one["attempt"]).unwrap(),
        verdict: text(&one["verdict"]),
    });
    let tags = job["tags"].as_array().unwrap().iter();
    Job {
        id: number(&job["id"]).unwrap(),
        name: text(&job["name"]),
        project: text(&job["project"]),
        pipeline: number(&job["pipeline"]),
        status: text(&job["status"]),
        failure_reason: job["failure_reason"].as_str().map(str::to_owned),
        attempt: number(&job["attempt"]).unwrap(),
        tags: tags.map(text).collect(),
        finished_at: job["finished_at"].as_str().map(str::to_owned),
        decisions: decisions.collect(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64()
}
