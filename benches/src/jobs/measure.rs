//! One measurement: submissions for a while, then the wait until all of them are pending and recorded.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;

use super::case::{Case, DecisionLog};
use super::gate::Gate;
use super::hook::Hook;
use super::sender::{Senders, Sent};
use super::usage::{Measured, Usage};
use super::{pending, requests};
use crate::clock;
use crate::failure::{Failure, Result};
use crate::ledger::{Counts, Ledger};
use crate::load::runtime;
use crate::proc;

/// What one measurement found.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sample {
    /// Jobs that were acknowledged, all of which became pending.
    pub(crate) jobs: u64,
    /// From the first submission until the last of them was pending, in seconds.
    pub(crate) seconds: f64,
    /// The part of that after the last answer.
    pub(crate) after_seconds: f64,
    /// Jobs that became pending in a second.
    pub(crate) jobs_per_second: f64,
    /// Jobs that were acknowledged in a second.
    pub(crate) acknowledged_per_second: f64,
    /// Latencies of submissions, in microseconds.
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) p999_us: f64,
    pub(crate) max_us: f64,
    /// Processor time for a job, in microseconds, its record included: of the server, of the database's processes,
    /// and of this program with its webhook.
    pub(crate) cpu_us: f64,
    pub(crate) database_cpu_us: f64,
    pub(crate) own_cpu_us: f64,
    /// Bytes that server and database wrote to disk for a job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) written_bytes: Option<f64>,
    /// Calls of the webhook for a job.
    pub(crate) calls: f64,
    /// What became of the decisions, where they are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kept: Option<Counts>,
    /// Processors that others kept busy meanwhile.
    pub(crate) others: f64,
    /// The most memory of the server that was resident meanwhile, in KiB.
    pub(crate) peak_kib: u64,
}

/// Measures one case on this server for so long, after a fifth of that to warm up.
pub(super) fn measure(
    gate: &Gate,
    case: &Case,
    (hook, measured): (&Hook, Measured),
    seconds: f64,
) -> Result<Sample> {
    let requests = requests::submissions(case.submission, &gate.header);
    let metrics = gate.metrics();
    let (sample, ids) = runtime()?.block_on(async {
        let (count, submission) = (case.connections, case.submission);
        let mut senders = Senders::connect(&gate.places, count, submission, requests).await?;
        let pending_before = pending::count(metrics)?;
        let records = Records::begin(gate, case)?;
        let warm_up = senders.send(seconds / 5.0).await?;
        let warmed_up = warm_up.ids.len() as u64;
        pending::settle(metrics, pending_before + warmed_up)?;
        records.settle(warmed_up)?;

        let records = Records::begin(gate, case)?;
        proc::forget_peak(gate.pid());
        let calls_before = hook.calls();
        let before = Usage::now(measured)?;
        let sent = senders.send(seconds).await?;
        let answered_at = clock::now();
        let jobs = sent.ids.len() as u64;
        if jobs == 0 {
            return Err(Failure::new("no submission was answered in the time given"));
        }
        let pending_at = pending::settle(metrics, pending_before + warmed_up + jobs)?;
        let kept = records.settle(jobs)?;
        let used = Usage::now(measured)?.since(&before);
        let whole = pending_at
            .saturating_duration_since(before.at)
            .as_secs_f64();
        let sending = answered_at
            .saturating_duration_since(before.at)
            .as_secs_f64();
        let per_job = |seconds: f64| seconds * 1e6 / jobs as f64;
        let latency = |share| micros(sent.latencies.quantile(share));
        let sample = Sample {
            jobs,
            seconds: whole,
            after_seconds: (whole - sending).max(0.0),
            jobs_per_second: jobs as f64 / whole,
            acknowledged_per_second: jobs as f64 / sending,
            p50_us: latency(0.5),
            p99_us: latency(0.99),
            p999_us: latency(0.999),
            max_us: micros(sent.latencies.max()),
            cpu_us: per_job(used.server),
            database_cpu_us: per_job(used.database),
            own_cpu_us: per_job(used.own),
            written_bytes: used.written.map(|bytes| bytes as f64 / jobs as f64),
            calls: hook.calls().saturating_sub(calls_before) as f64 / jobs as f64,
            kept,
            others: used.others(),
            peak_kib: proc::memory(gate.pid())?.peak_kib,
        };
        Ok((sample, all_ids(warm_up, sent)?))
    })?;
    pending::check(gate, case.admission, &ids)?;
    Ok(sample)
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// The ids of both; no two jobs have the same.
fn all_ids(warm_up: Sent, sent: Sent) -> Result<BTreeSet<u64>> {
    let count = warm_up.ids.len() + sent.ids.len();
    let ids: BTreeSet<u64> = warm_up.ids.into_iter().chain(sent.ids).collect();
    match ids.len() == count {
        true => Ok(ids),
        false => Err(Failure::new("two jobs have the same id")),
    }
}

/// The decisions that are kept from now on, where they are.
struct Records(Option<Ledger>);

impl Records {
    fn begin(gate: &Gate, case: &Case) -> Result<Self> {
        let is_kept = case.log == DecisionLog::On && case.admission.decides();
        let ledger = is_kept.then(|| Ledger::begin(gate.metrics()));
        Ok(Self(ledger.transpose()?))
    }

    /// Waits until those of so many jobs are accounted for.
    fn settle(&self, jobs: u64) -> Result<Option<Counts>> {
        let settled = self.0.as_ref().map(|ledger| ledger.settle(jobs));
        Ok(settled.transpose()?.map(|(counts, _)| counts))
    }
}
