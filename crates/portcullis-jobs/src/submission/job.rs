//! The body of a call that submits one job, and the part of it that a pipeline's jobs have too.

use std::fmt;

use portcullis_document::{Duration, Fault, Seconds, path, read};
use schemars::JsonSchema;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::checks::Checks;
use crate::allow_failure::AllowFailure;
use crate::job::{JobDefinition, JobUser};
use crate::pipeline::{DEFAULT_STAGE, all_stages};
use crate::tags::without_repetitions;
use crate::variables::Variables;
use crate::work::{Artifacts, Cache, JobWork};

/// The source of a job that names none.
pub(super) const DEFAULT_SOURCE: &str = "api";

/// The body of a call that submits one job.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobBody {
    /// The path of its project.
    project: String,
    name: String,
    /// `test` by default.
    stage: Option<String>,
    /// The branch or tag it is for.
    #[serde(rename = "ref")]
    git_ref: String,
    /// Whether that is protected.
    #[serde(default)]
    ref_protected: bool,
    /// What caused it; `api` by default.
    source: Option<String>,
    user: JobUser,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    variables: Variables,
    #[serde(default)]
    script: Script,
    image: Option<String>,
    #[serde(default)]
    allow_failure: AllowFailure,
    timeout: Option<Seconds>,
    #[serde(default)]
    before_script: Script,
    /// Commands that run whether the script succeeded or not.
    #[serde(default)]
    after_script: Script,
    /// Images of services beside the job.
    #[serde(default)]
    services: Vec<String>,
    artifacts: Option<Artifacts>,
    cache: Option<Cache>,
    /// The jobs whose artifacts it gets; those of all earlier stages by default.
    dependencies: Option<Vec<String>>,
}

/// A job of a pipeline; the rest is said by the pipeline.
pub(super) struct JobPart {
    pub(super) name: String,
    pub(super) stage: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) variables: Variables,
    pub(super) script: Script,
    pub(super) image: Option<String>,
    pub(super) allow_failure: AllowFailure,
    pub(super) timeout: Option<Seconds>,
    pub(super) work: JobWork,
}

/// What a job has from its pipeline.
pub(super) struct Surroundings<'a> {
    pub(super) project: &'a str,
    pub(super) git_ref: &'a str,
    pub(super) ref_protected: bool,
    pub(super) source: &'a str,
    pub(super) user: &'a JobUser,
    pub(super) variables: &'a Variables,
    pub(super) stages: &'a [String],
}

impl JobPart {
    /// The definition of the job. Faults are below this path.
    pub(super) fn define(
        self,
        at: &str,
        around: &Surroundings<'_>,
        checks: &mut Checks,
    ) -> JobDefinition {
        let stage = self.stage.unwrap_or_else(|| DEFAULT_STAGE.to_owned());
        if !around.stages.contains(&stage) {
            let known = around.stages.join(", ");
            let message = format!("unknown stage `{stage}`: expected one of {known}");
            checks.add(&path::key(at, "stage"), message);
        }
        checks.tags(&path::key(at, "tags"), &self.tags);
        checks.variables(&path::key(at, "variables"), &self.variables);
        checks.script(&path::key(at, "script"), &self.script.0);
        if let Some(image) = &self.image {
            checks.text(&path::key(at, "image"), image);
        }
        checks.work(at, &self.work);
        let timeout = self.timeout.map(std::time::Duration::from);
        if let Some(timeout) = timeout {
            checks.timeout(&path::key(at, "timeout"), timeout);
        }
        let milliseconds =
            |t: std::time::Duration| u64::try_from(t.as_millis()).unwrap_or(u64::MAX);
        // The job's own variables win.
        let mut variables = around.variables.clone();
        variables.extend(self.variables);
        JobDefinition {
            project: around.project.to_owned(),
            project_id: None,
            name: self.name,
            stage,
            git_ref: around.git_ref.to_owned(),
            ref_protected: around.ref_protected,
            source: around.source.to_owned(),
            user: around.user.clone(),
            tags: without_repetitions(self.tags),
            variables,
            script: self.script.0,
            image: self.image,
            allow_failure: self.allow_failure,
            timeout: timeout.map(|t| Duration::from_millis(milliseconds(t))),
            work: self.work,
        }
    }
}

/// Reads and checks the body of a call that submits one job. A job on its own may have any stage.
///
/// # Errors
///
/// Everything that is wrong, each with the path of its field.
pub fn read_job(body: &Value) -> Result<JobDefinition, Vec<Fault>> {
    let body: JobBody = read::json(body)?;
    let mut checks = Checks::default();
    checks.project("project", &body.project);
    checks.text("name", &body.name);
    checks.git_ref("ref", &body.git_ref);
    checks.user("user", &body.user);
    let source = body.source.unwrap_or_else(|| DEFAULT_SOURCE.to_owned());
    checks.source("source", &source);
    if let Some(stage) = &body.stage {
        checks.text("stage", stage);
    }
    let stages = all_stages(body.stage.as_slice());
    let around = Surroundings {
        project: &body.project,
        git_ref: &body.git_ref,
        ref_protected: body.ref_protected,
        source: &source,
        user: &body.user,
        variables: &Variables::new(),
        stages: &stages,
    };
    let part = JobPart {
        name: body.name,
        stage: body.stage,
        tags: body.tags,
        variables: body.variables,
        script: body.script,
        image: body.image,
        allow_failure: body.allow_failure,
        timeout: body.timeout,
        work: JobWork {
            before_script: body.before_script.0,
            after_script: body.after_script.0,
            services: body.services,
            artifacts: body.artifacts,
            cache: body.cache,
            dependencies: body.dependencies,
        },
    };
    let definition = part.define("", &around, &mut checks);
    if checks.faults.is_empty() {
        Ok(definition)
    } else {
        Err(checks.faults)
    }
}

/// One command, or a list of them.
#[derive(Debug, Default)]
pub(crate) struct Script(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Script {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ScriptVisitor;

        impl<'de> Visitor<'de> for ScriptVisitor {
            type Value = Script;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a command or a list of commands")
            }

            fn visit_str<E: serde::de::Error>(self, line: &str) -> Result<Script, E> {
                Ok(Script(vec![line.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Script, A::Error> {
                let mut lines = Vec::new();
                while let Some(line) = items.next_element()? {
                    lines.push(line);
                }
                Ok(Script(lines))
            }
        }

        deserializer.deserialize_any(ScriptVisitor)
    }
}
