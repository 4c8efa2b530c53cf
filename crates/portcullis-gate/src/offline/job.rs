//! CI jobs as manifests: `ci.portcullis.dev/v1`, `Job`.

use portcullis_core::Kind;
use serde_json::Value;

const GROUP: &str = "ci.portcullis.dev";
const KIND: &str = "Job";

/// Whether this is the type of CI jobs.
pub fn is_job(kind: &Kind) -> bool {
    kind.is(GROUP, KIND)
}

/// The project of a CI job, which is its namespace; nothing for other objects.
pub(super) fn project(object: &Value) -> Option<&str> {
    let text = |key: &str| object.get(key).and_then(Value::as_str);
    let (group, _) = text("apiVersion")?.split_once('/')?;
    let is_job = group == GROUP && text("kind") == Some(KIND);
    text("project").filter(|project| is_job && !project.is_empty())
}
