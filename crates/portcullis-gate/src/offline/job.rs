//! CI jobs as manifests: `ci.portcullis.dev/v1`, `Job`.

use portcullis_core::{CI_GROUP, CI_JOB, Kind};
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
