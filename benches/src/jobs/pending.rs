//! Whether jobs are pending: by the server's count while it works, and by its lists afterwards.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::case::Admission;
use super::gate::Gate;
use super::requests::added_tag;
use crate::clock;
use crate::failure::{Context, Failure, Result};
use crate::metrics;

/// Changes of the status of jobs.
const CHANGES: &str = "portcullis_ci_jobs_total";
/// How long the last jobs may take to be admitted.
const PATIENCE: Duration = Duration::from_secs(600);
/// How often the server is asked meanwhile: seldom, since it answers on the same processors.
const PAUSE: Duration = Duration::from_millis(10);

/// How many jobs have become pending in the life of this server.
pub(super) fn count(address: SocketAddr) -> Result<u64> {
    let is_pending = |labels: &str| labels.contains("status=\"pending\"");
    Ok(metrics::sum(&metrics::page(address)?, CHANGES, is_pending))
}

/// Waits until so many have; says when it was first seen to be so.
pub(super) fn settle(address: SocketAddr, expected: u64) -> Result<Instant> {
    let began = clock::now();
    loop {
        // Before it is asked: if it is so now, it was so at this moment, give or take the pause.
        let at = clock::now();
        let found = count(address)?;
        if found >= expected {
            return Ok(at);
        }
        if at.saturating_duration_since(began) > PATIENCE {
            return Err(Failure::new(format!(
                "of {expected} jobs only {found} have become pending"
            )));
        }
        std::thread::sleep(PAUSE);
    }
}

/// Looks whether each of these jobs is pending and has its tags.
pub(super) fn check(gate: &Gate, admission: Admission, ids: &BTreeSet<u64>) -> Result<()> {
    let Some(first) = ids.first() else {
        return Err(Failure::new("no job was submitted"));
    };
    let mut missing = ids.clone();
    let mut next = None;
    loop {
        let after = next.map_or_else(String::new, |id: u64| format!("&page={id}"));
        let path = format!("/api/v1/jobs?status=pending&limit=500{after}");
        let page = gate.call("GET", &path, None)?;
        let items = page.get("items").and_then(Value::as_array);
        let items = items.context("a list without items")?;
        for job in items {
            let id = job
                .get("id")
                .and_then(Value::as_u64)
                .context("a job without an id")?;
            if missing.remove(&id) {
                check_job(job, admission)?;
            }
        }
        next = page.get("next").and_then(Value::as_u64);
        if next.is_none_or(|next| next <= *first) {
            break;
        }
    }
    match missing.first() {
        None => Ok(()),
        Some(id) => Err(Failure::new(format!(
            "{} of {} jobs that were submitted are not pending, the first of them {id}: {}",
            missing.len(),
            ids.len(),
            gate.call("GET", &format!("/api/v1/jobs/{id}"), None)?,
        ))),
    }
}

fn check_job(job: &Value, admission: Admission) -> Result<()> {
    let tags = job.get("tags").and_then(Value::as_array);
    let git_ref = job.get("ref").and_then(Value::as_str).unwrap_or_default();
    let has_tag = tags.is_some_and(|tags| tags.contains(&added_tag(git_ref).into()));
    match has_tag == admission.decides()
        && job.get("status").and_then(Value::as_str) == Some("pending")
    {
        true => Ok(()),
        false => Err(Failure::new(format!(
            "not as its controllers left it: {job}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_job_without_the_tag_of_its_controller_was_not_admitted() {
        let job = |tag: &str| json!({"status": "pending", "ref": "main", "tags": ["linux", tag]});
        assert!(check_job(&job("protected"), Admission::Webhook).is_ok());
        assert!(check_job(&job("shared"), Admission::Webhook).is_err());
        assert!(check_job(&job("other"), Admission::None).is_ok());
        assert!(check_job(&job("protected"), Admission::None).is_err());
    }
}
