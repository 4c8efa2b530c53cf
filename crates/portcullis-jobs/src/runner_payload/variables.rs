//! The variables of a job, as its runner gets them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::taken_by::TakenBy;
use crate::job::JobView;
use crate::payload::predefined_variables;
use crate::record::Job;
use crate::runners::RunnerFilter;

#[derive(Debug, Serialize)]
pub(super) struct RunnerVariable<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) value: Cow<'a, str>,
    /// Whether it may be shown.
    pub(super) public: bool,
    pub(super) masked: bool,
    pub(super) file: bool,
    /// Whether `$` in it means nothing.
    pub(super) raw: bool,
}

/// What the server knows, which can't be replaced, then what was submitted; protected ones on protected refs only.
pub(super) fn variables<'a>(
    job: &'a Job,
    by: &TakenBy<'a>,
    timeout: u64,
) -> Vec<RunnerVariable<'a>> {
    let definition = &job.definition;
    let known = known(job, by, timeout);
    let submitted = definition.variables.iter().filter(|(name, variable)| {
        let is_hidden = variable.protected && !definition.ref_protected;
        let is_known = known.contains_key(name.as_str()) || *name == TOKEN;
        !is_hidden && !is_known
    });
    let submitted: Vec<RunnerVariable<'a>> = submitted
        .map(|(name, variable)| RunnerVariable {
            key: name.into(),
            value: (&variable.value).into(),
            public: !variable.masked && !variable.protected,
            masked: variable.masked,
            file: variable.file,
            raw: false,
        })
        .collect();
    let token = RunnerVariable {
        key: TOKEN.into(),
        value: by.token.into(),
        public: false,
        masked: true,
        file: false,
        raw: true,
    };
    let known = known.into_iter().map(|(key, value)| RunnerVariable {
        key: key.into(),
        value: value.into(),
        public: true,
        masked: false,
        file: false,
        // Names of refs and the like are not for the shell to expand.
        raw: true,
    });
    known.chain([token]).chain(submitted).collect()
}

/// The variable with the token of the job.
const TOKEN: &str = "CI_JOB_TOKEN";

fn known(job: &Job, by: &TakenBy<'_>, timeout: u64) -> BTreeMap<String, String> {
    let definition = &job.definition;
    let everyone = RunnerFilter::every_runner();
    let view = JobView {
        id: job.id,
        pipeline: job.pipeline,
        attempt: job.state.attempt,
        definition,
        tags: job.tags(),
        filter: &everyone,
    };
    let predefined = predefined_variables(&view).into_iter();
    let mut all: BTreeMap<String, String> = predefined
        .map(|(name, value)| match value {
            Value::String(text) => (name, text),
            other => (name, other.to_string()),
        })
        .collect();
    let mut set = |name: &str, value: String| {
        all.insert(name.to_owned(), value);
    };
    set("GITLAB_CI", "true".to_owned());
    set("CI_SERVER", "yes".to_owned());
    set("CI_SERVER_NAME", "Portcullis".to_owned());
    set("CI_SERVER_URL", by.server_url.to_owned());
    set("CI_API_V4_URL", format!("{}/api/v4", by.server_url));
    set(
        "CI_JOB_URL",
        format!("{}/api/v1/jobs/{}", by.server_url, job.id),
    );
    set("CI_JOB_TIMEOUT", timeout.to_string());
    set("CI_RUNNER_ID", by.runner.id.to_string());
    set("CI_RUNNER_DESCRIPTION", by.runner.description.clone());
    let tags = serde_json::to_string(&by.runner.tags);
    set("CI_RUNNER_TAGS", tags.unwrap_or_default());
    if let Some(started_at) = job.state.started_at {
        set("CI_JOB_STARTED_AT", started_at.to_string());
    }
    if !definition.variables.contains_key("CI_COMMIT_TAG") {
        set("CI_COMMIT_BRANCH", definition.git_ref.clone());
    }
    all
}
