//! A job as the object of a policy, and the mutation that a policy made of it.

use portcullis_core::{CI_GROUP, CI_JOB};
use serde_json::{Map, Value, json};

use super::predefined::{Values, predefined_variables, value_of};
use crate::job::JobView;
use crate::runners::{RunnerLists, read_id};
use crate::tags::{TagChange, without_repetitions};
use crate::verdict::{Verdict, VerdictFault, wrong_type};

/// The job as the object that policies judge: with every variable but the masked ones.
pub fn policy_object(job: &JobView<'_>) -> Value {
    let definition = job.definition;
    let submitted = definition.variables.iter();
    let mut variables: Values = submitted
        .filter(|(_, variable)| !variable.masked)
        .map(|(name, variable)| (name.clone(), value_of(name, &variable.value)))
        .collect();
    variables.extend(predefined_variables(job));
    json!({
        "apiVersion": format!("{CI_GROUP}/v1"),
        "kind": CI_JOB,
        "metadata": {"name": definition.name, "namespace": definition.project},
        "id": job.id,
        "attempt": job.attempt,
        "variables": variables,
        "tags": job.tags,
        "original_tags": definition.tags,
        "project": definition.project,
        "ref": definition.git_ref,
        "ref_protected": definition.ref_protected,
        "source": definition.source,
        "user": definition.user,
        "runners": RunnerLists::default(),
    })
}

/// The acceptance with the changes that a policy made to the tags and runners of an object. Other changes are
/// ignored.
///
/// # Errors
///
/// When the tags or runners no longer have their form.
pub fn mutation_of_object(job: &JobView<'_>, changed: &Value) -> Result<Verdict, VerdictFault> {
    let Value::Object(changed) = changed else {
        return Err(wrong_type("object", "an object", changed));
    };
    let tags = match changed.get("tags") {
        None | Some(Value::Null) => Vec::new(),
        Some(tags) => read_tags(tags)?,
    };
    let runners = match changed.get("runners") {
        None | Some(Value::Null) => RunnerLists::default(),
        Some(Value::Object(lists)) => RunnerLists {
            accepted_ids: read_ids(lists, "accepted_ids")?,
            rejected_ids: read_ids(lists, "rejected_ids")?,
        },
        Some(other) => return Err(wrong_type("runners", "an object", other)),
    };
    Ok(Verdict {
        tags: TagChange::between(job.tags, &tags),
        runners: (!runners.is_empty()).then_some(runners),
        ..Verdict::accepted(job.id)
    })
}

fn read_tags(tags: &Value) -> Result<Vec<String>, VerdictFault> {
    let Value::Array(tags) = tags else {
        return Err(wrong_type("tags", "a list", tags));
    };
    let tag = |(index, tag): (usize, &Value)| match tag {
        Value::String(tag) => Ok(tag.clone()),
        other => Err(wrong_type(&format!("tags[{index}]"), "a string", other)),
    };
    let tags: Result<Vec<String>, VerdictFault> = tags.iter().enumerate().map(tag).collect();
    tags.map(without_repetitions)
}

fn read_ids(lists: &Map<String, Value>, key: &str) -> Result<Vec<u64>, VerdictFault> {
    let path = format!("runners.{key}");
    let ids = match lists.get(key) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(ids)) => ids,
        Some(other) => return Err(wrong_type(&path, "a list", other)),
    };
    let id = |(index, value): (usize, &Value)| {
        let fault = || wrong_type(&format!("{path}[{index}]"), "a runner id", value);
        read_id(value).ok_or_else(fault)
    };
    ids.iter().enumerate().map(id).collect()
}
