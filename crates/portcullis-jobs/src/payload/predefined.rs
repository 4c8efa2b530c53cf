//! GitLab's predefined variables, as far as a job gives them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::job::JobView;
use crate::paths::{groups_of, last_name};

/// Variables as controllers see them: strings, and numbers for ids.
pub(super) type Values = BTreeMap<String, Value>;

/// Whether a name is one of those that GitLab defines.
pub fn is_predefined_name(name: &str) -> bool {
    name == "CI" || name.starts_with("CI_") || name.starts_with("GITLAB_USER_")
}

/// The predefined variables of a job. Ids are numbers.
pub fn predefined_variables(job: &JobView<'_>) -> BTreeMap<String, Value> {
    let definition = job.definition;
    let project = &definition.project;
    let mut all = Values::new();
    let mut set = |name: &str, value: Value| {
        all.insert(name.to_owned(), value);
    };
    set("CI", "true".into());
    set("CI_JOB_ID", job.id.into());
    set("CI_JOB_NAME", definition.name.as_str().into());
    set("CI_JOB_STAGE", definition.stage.as_str().into());
    set("CI_PIPELINE_SOURCE", definition.source.as_str().into());
    set("CI_PROJECT_PATH", project.as_str().into());
    set("CI_PROJECT_NAME", last_name(project).into());
    set("CI_COMMIT_REF_NAME", definition.git_ref.as_str().into());
    set("CI_COMMIT_REF_SLUG", slug(&definition.git_ref).into());
    let is_protected = definition.ref_protected.to_string();
    set("CI_COMMIT_REF_PROTECTED", is_protected.into());
    set("GITLAB_USER_ID", definition.user.id.into());
    set(
        "GITLAB_USER_LOGIN",
        definition.user.username.as_str().into(),
    );
    if let Some(id) = definition.project_id {
        set("CI_PROJECT_ID", id.into());
    }
    if let Some(pipeline) = job.pipeline {
        set("CI_PIPELINE_ID", pipeline.into());
    }
    if let Some(image) = &definition.image {
        set("CI_JOB_IMAGE", image.as_str().into());
    }
    if let Some(group) = groups_of(project).next() {
        set("CI_PROJECT_NAMESPACE", group.into());
    }
    if let Some(root) = groups_of(project).last() {
        set("CI_PROJECT_ROOT_NAMESPACE", root.into());
    }
    all
}

/// The value of a variable: a number for the ids among the predefined ones.
pub(super) fn value_of(name: &str, text: &str) -> Value {
    let is_id = is_predefined_name(name) && name.ends_with("_ID");
    let number = text.parse::<u64>().ok().filter(|_| is_id);
    number.map_or_else(|| Value::from(text), Value::from)
}

/// Lower case, at most 63 characters, everything but letters and digits is a dash, no dash at either end.
fn slug(text: &str) -> String {
    let plain = |c: char| match c.to_ascii_lowercase() {
        c @ ('a'..='z' | '0'..='9') => c,
        _ => '-',
    };
    let slug: String = text.chars().map(plain).take(63).collect();
    slug.trim_matches('-').to_owned()
}
