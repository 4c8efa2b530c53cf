//! The memory of a server that many people use again and again.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::asker::{self, Questions};
use super::document::TENANT;
use super::gate::{Gate, Issuer};
use crate::asker::{Asker, request};
use crate::cli::RoleEffort;
use crate::failure::{Context, Result};
use crate::load::runtime;
use crate::output;
use crate::proc;
use crate::statistics::median;
use crate::transport::Transport;

/// A server may grow by this much in a pass, on average, after the first: the allocator moves about.
const MOST_KIB: f64 = 256.0;

/// Memory over several passes.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Growth {
    pub(crate) what: String,
    /// Requests in one pass.
    pub(crate) requests: usize,
    /// Resident memory before the first pass, in KiB.
    pub(crate) before_kib: u64,
    /// After each pass.
    pub(crate) passes_kib: Vec<u64>,
    /// How much it grew with each pass after the first.
    pub(crate) per_pass_kib: f64,
}

impl Growth {
    fn new(what: String, requests: usize, before_kib: u64, passes_kib: Vec<u64>) -> Self {
        let per_pass_kib = per_pass(&passes_kib);
        Self {
            what,
            requests,
            before_kib,
            passes_kib,
            per_pass_kib,
        }
    }

    /// What is wrong with it.
    pub(super) fn complaint(&self) -> Option<String> {
        let Self {
            what, per_pass_kib, ..
        } = self;
        (*per_pass_kib > MOST_KIB).then(|| {
            format!(
                "{what}: the server grows by {per_pass_kib:.0} KiB with every pass: {:?} KiB",
                self.passes_kib
            )
        })
    }
}

/// The middle of the later half of the passes after the first, less that of the earlier half, for one
/// pass.
fn per_pass(passes: &[u64]) -> f64 {
    let after_first: Vec<f64> = passes.iter().skip(1).map(|kib| *kib as f64).collect();
    let half = after_first.len() / 2;
    if half == 0 {
        return 0.0;
    }
    let (early, late) = after_first.split_at(half);
    let apart = after_first.len() as f64 / 2.0;
    (median(late) - median(early)) / apart
}

/// Uses tokens and cookies over a few connections, then holds many connections.
pub(super) fn run(portcullis: &Path, dir: &Path, effort: &RoleEffort) -> Result<Vec<Growth>> {
    let gate = Gate::start(portcullis, dir, effort.held + 64)?;
    let sessions = effort.sessions as usize;
    let path = format!("/api/tenant/{TENANT}/projects");
    let read = |header: String| request("GET", &path, &header, "");
    let mut requests = Vec::with_capacity(2 * sessions);
    for number in 0..sessions {
        requests.push(read(gate.bearer(Issuer::Shared, number)?));
        requests.push(read(gate.cookie(number)?));
    }
    let questions = Arc::new(Questions::several(requests, 200));
    let resident = || proc::memory(gate.server.pid()).map(|memory| memory.resident_kib);
    let passes = usize::from(effort.passes);

    let before = resident()?;
    let mut after = Vec::new();
    for _ in 0..passes {
        asker::pass(&gate, &questions).context("many sessions")?;
        after.push(resident()?);
    }
    let what = format!("{sessions} tokens and {sessions} cookies, 64 connections");
    let used = Growth::new(what, questions.requests.len(), before, after);

    let held = effort.held as usize;
    output::tell(&format!("roles: {held} connections"));
    let before = resident()?;
    let after = runtime()?.block_on(async {
        let mut askers = Vec::with_capacity(held);
        // Each is used at once: a server ends connections that say nothing for long.
        for (number, request) in (0..held).zip(questions.requests.iter().cycle()) {
            let asker = Asker::connect(&gate.places, Transport::Tcp).await;
            let mut asker = asker.context(format!("connection {number}"))?;
            asker.ask(request, 200).await.context("many connections")?;
            asker.rest();
            askers.push(asker);
        }
        let mut after = Vec::new();
        for _ in 0..passes {
            for (asker, request) in askers.iter_mut().zip(questions.requests.iter().cycle()) {
                asker.ask(request, 200).await.context("many connections")?;
                asker.rest();
            }
            after.push(resident()?);
        }
        Ok(after)
    });
    let what = format!("{held} connections at once, a session each");
    let held = Growth::new(what, held, before, after?);
    gate.server.stop()?;
    Ok(vec![used, held])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_growth_after_the_first_pass_counts() {
        let level = [90_000, 90_400, 89_900, 90_300, 90_100];
        let growth = Growth::new("x".to_owned(), 1, 20_000, level.to_vec());
        assert_eq!(growth.complaint(), None);
        let leaking: Vec<u64> = (0..9).map(|pass| 90_000 + 1_000 * pass).collect();
        let growth = Growth::new("x".to_owned(), 1, 20_000, leaking);
        assert!((growth.per_pass_kib - 1_000.0).abs() < 1.0, "{growth:?}");
        assert!(growth.complaint().is_some());
        assert_eq!(per_pass(&[5]), 0.0);
    }
}
