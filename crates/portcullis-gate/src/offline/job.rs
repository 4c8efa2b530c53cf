//! CI jobs as documents: objects of `ci.portcullis.dev/v1`, `Job`, and the bodies of calls that submit jobs and
//! pipelines, which become such objects by the readers of the server.

use portcullis_core::{CI_GROUP, CI_JOB, Kind, UserInfo};
use portcullis_document::Fault;
use portcullis_jobs::{
    JobDefinition, JobView, PipelineId, RunnerFilter, policy_object, read_job, read_pipeline,
};
use portcullis_kube::manifest::Manifest;
use serde_json::Value;

/// Whether this is the type of CI jobs.
pub fn is_job(kind: &Kind) -> bool {
    kind.is(CI_GROUP, CI_JOB)
}

/// The project of a CI job, which is its namespace; nothing for other objects.
pub(super) fn project(object: &Value) -> Option<&str> {
    let text = |key: &str| object.get(key).and_then(Value::as_str);
    let (group, _) = text("apiVersion")?.split_once('/')?;
    let is_job = group == CI_GROUP && text("kind") == Some(CI_JOB);
    text("project").filter(|project| is_job && !project.is_empty())
}

/// The user a CI job runs for, as the server says it to policies, in these groups; nothing for other objects.
pub fn user_of_job(manifest: &Manifest, groups: &[String]) -> Option<UserInfo> {
    let user = manifest
        .object
        .get("user")
        .filter(|_| is_job(&manifest.kind))?;
    Some(UserInfo {
        username: user.get("username")?.as_str()?.to_owned(),
        uid: user.get("id").map(ToString::to_string).unwrap_or_default(),
        groups: groups.to_vec(),
        ..UserInfo::default()
    })
}

/// A document about CI jobs that is not a Kubernetes object.
#[derive(Debug)]
pub(super) enum Submission {
    /// The body of a call that submits a job: the job as policies see it.
    Job(Value),
    /// The body of a call that submits a pipeline: its jobs.
    Pipeline(Vec<Value>),
    /// A file like `.gitlab-ci.yml`, which does not say what it is for.
    CiFile,
}

/// What is wrong with a submission.
#[derive(Debug)]
pub(super) struct Unsubmittable {
    /// What it was taken for.
    pub(super) what: &'static str,
    pub(super) faults: Vec<Fault>,
}

impl Submission {
    /// Reads a document that is not a Kubernetes object, if it is one about CI jobs.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, as the server would say.
    pub(super) fn read(document: &Value) -> Result<Option<Self>, Unsubmittable> {
        let Some(map) = document.as_object() else {
            return Ok(None);
        };
        let has = |key: &str| map.contains_key(key);
        let is_script = |value: &Value| value.get("script").is_some();
        if has("apiVersion") || has("kind") || has("metadata") {
            Ok(None)
        } else if has("project") && has("jobs") {
            let wrong = unsubmittable("pipeline");
            let pipeline = read_pipeline(document).map_err(wrong)?;
            let jobs = pipeline.jobs.iter().enumerate();
            let jobs = jobs.map(|(index, job)| object(job, index, Some(1)));
            Ok(Some(Self::Pipeline(jobs.collect())))
        } else if has("project") && (has("ref") || has("user") || has("script")) {
            let job = read_job(document).map_err(unsubmittable("CI job"))?;
            Ok(Some(Self::Job(object(&job, 0, None))))
        } else if map.values().any(is_script) {
            Ok(Some(Self::CiFile))
        } else {
            Ok(None)
        }
    }
}

fn unsubmittable(what: &'static str) -> impl FnOnce(Vec<Fault>) -> Unsubmittable {
    move |faults| Unsubmittable { what, faults }
}

/// A job as policies see it before anything was decided. Numbers are given by the server; these are from 1.
fn object(definition: &JobDefinition, index: usize, pipeline: Option<PipelineId>) -> Value {
    policy_object(&JobView {
        id: u64::try_from(index).unwrap_or_default() + 1,
        pipeline,
        attempt: 1,
        definition,
        tags: &definition.tags,
        filter: &RunnerFilter::every_runner(),
    })
}
