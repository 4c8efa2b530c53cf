//! Rows of CI jobs that are written together: one statement for all new rows of a table, however many operations they
//! come from.
//!
//! A statement is a round trip to PostgreSQL; on SQLite it is prepared once. Rows are owned, so that they can be made
//! where the processor is idle, and not by the one thread that writes.

mod tables;

use portcullis_jobs::{JobId, JobStatus, RunnerFilter, RunnerId};
use portcullis_record::Written;

use self::tables::{
    CANCELED_DELIVERIES, DECISIONS, DELIVERIES, EXEMPTION_USES, JOBS, LEFT_QUEUE, QUEUE, RUNNING,
    SAVED_DELIVERIES, SAVED_JOBS, STOPPED_RUNNING,
};
use super::column;
use super::lane::{lane_of, sorted_tags};
use super::record::{DecisionRecord, Delivery, DeliveryId, DeliveryState, JobRecord, Stored};
use crate::database::{Change, Database, Table, Value, number, storable};
use crate::error::{Failure, Kind};

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    Null,
    Number(i64),
    Text(String),
}

impl From<Value<'_>> for Cell {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Number(number) => Self::Number(number),
            Value::Text(text) => Self::Text(text.to_owned()),
            // No table here has blobs.
            Value::Null | Value::Blob(_) => Self::Null,
        }
    }
}

impl Cell {
    fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    fn optional_text(text: Option<String>) -> Self {
        text.map_or(Self::Null, Self::Text)
    }

    fn as_value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Number(number) => Value::Number(*number),
            Self::Text(text) => Value::Text(text),
        }
    }
}

/// The place of the job in a row of [`DELIVERIES`], and of the delivery in one of [`SAVED_DELIVERIES`].
const JOB_OF_DELIVERY: usize = 3;
const SAVED_DELIVERY: usize = 1;

/// Rows to be written, and records of decisions that belong to them.
#[derive(Debug, Default)]
pub(super) struct Rows {
    jobs: Vec<Cell>,
    saved_jobs: Vec<Cell>,
    left_queue: Vec<Cell>,
    queue: Vec<Cell>,
    running: Vec<Cell>,
    stopped_running: Vec<Cell>,
    decisions: Vec<Cell>,
    exemption_uses: Vec<Cell>,
    saved_deliveries: Vec<Cell>,
    canceled_deliveries: Vec<Cell>,
    deliveries: Vec<Cell>,
    pub(super) records: Vec<Written>,
}

impl Rows {
    /// A job that isn't there yet.
    pub(super) fn insert_job(&mut self, job: &JobRecord) -> Result<(), Failure> {
        let definition = &job.definition;
        self.jobs.extend([
            Cell::text(job.root()),
            column::id(job.id).into(),
            Cell::text(&*definition.project),
            column::optional_id(job.pipeline).into(),
            Cell::text(storable(&definition.stage)),
            Cell::text(storable(&definition.name)),
            column::time(job.created_at).into(),
            Cell::Text(column::json(definition)?),
        ]);
        self.jobs.extend(changing(job)?);
        self.enter_queue(job)?;
        self.begin_running(job);
        Ok(())
    }

    /// A job that is in the database like this; its place in the queue, or among those that run, follows its status.
    pub(super) fn save_job(&mut self, job: &JobRecord, stored: Stored) -> Result<(), Failure> {
        let key = || [Cell::text(job.root()), column::id(job.id).into()];
        self.saved_jobs.extend(key());
        self.saved_jobs.push(column::id(stored.version).into());
        self.saved_jobs.extend(changing(job)?);
        if stored.status == JobStatus::Pending {
            self.left_queue.extend(key());
        }
        match (stored.status, job.state.status) {
            (JobStatus::Running, JobStatus::Running) => {}
            (JobStatus::Running, _) => self.stopped_running.extend(key()),
            _ => self.begin_running(job),
        }
        self.enter_queue(job)
    }

    fn begin_running(&mut self, job: &JobRecord) {
        if job.state.status != JobStatus::Running {
            return;
        }
        let taker = job.taker.as_ref();
        self.running.extend([
            Cell::text(job.root()),
            column::id(job.id).into(),
            Cell::text(&*job.definition.project),
            column::id(job.state.runner_id.unwrap_or(0)).into(),
            Cell::text(taker.map_or("".into(), |taker| storable(&taker.manager))),
            column::flag(taker.is_some_and(|taker| taker.is_shared)).into(),
        ]);
    }

    fn enter_queue(&mut self, job: &JobRecord) -> Result<(), Failure> {
        if job.state.status != JobStatus::Pending {
            return Ok(());
        }
        let tags = sorted_tags(job.tags());
        let filter = job.admission.as_ref().map(|admission| &admission.filter);
        let accepted = filter.and_then(RunnerFilter::accepted);
        let rejected = filter.map(RunnerFilter::rejected);
        let rejected = rejected.filter(|ids| !ids.is_empty());
        self.queue.extend([
            Cell::text(job.root()),
            column::id(job.id).into(),
            Cell::text(&*job.definition.project),
            column::flag(job.promoted).into(),
            column::flag(job.definition.ref_protected).into(),
            Cell::Text(column::json(&tags)?),
            Cell::optional_text(accepted.map(|ids| id_list(ids.iter().copied()))),
            Cell::optional_text(rejected.map(|ids| id_list(ids.iter().copied()))),
            column::time(job.state.queued_at.unwrap_or(job.created_at)).into(),
            Cell::Number(lane_of(&job.needs())),
        ]);
        Ok(())
    }

    /// What a controller did with a job.
    pub(super) fn append_decision(
        &mut self,
        job: &JobRecord,
        record: &DecisionRecord,
    ) -> Result<(), Failure> {
        let decision = &record.decision;
        self.decisions.extend([
            Cell::text(job.root()),
            column::id(job.id).into(),
            Cell::Number(decision.attempt.into()),
            Cell::Number(number(record.position)),
            column::optional_id(record.controller).into(),
            Cell::text(decision.verdict.as_str()),
            column::time(decision.at).into(),
            Cell::Text(column::json(decision)?),
        ]);
        if let Some(exemption) = decision.exempted_by {
            self.exemption_uses.extend([
                Cell::text(job.root()),
                column::id(exemption).into(),
                column::time(decision.at).into(),
            ]);
        }
        Ok(())
    }

    /// A new delivery.
    pub(super) fn insert_delivery(&mut self, delivery: &Delivery) -> Result<(), Failure> {
        self.deliveries.extend([
            Cell::text(column::root(&delivery.project)),
            column::id(delivery.id).into(),
            Cell::text(&*delivery.project),
            column::id(delivery.job).into(),
            Cell::Number(delivery.attempt.into()),
            column::id(delivery.controller).into(),
            Cell::text(delivery.state.as_str()),
            Cell::text(&*delivery.webhook_id),
            Cell::text(&*delivery.token_hash),
            column::time(delivery.created_at).into(),
            column::time(delivery.next_at).into(),
            column::optional_time(delivery.leased_until).into(),
            Cell::optional_text(delivery.leased_by.clone()),
            column::time(delivery.deadline).into(),
            Cell::Text(column::json(&delivery.tries)?),
            Cell::optional_text(delivery.answer.clone()),
        ]);
        Ok(())
    }

    /// A delivery that is in the database.
    pub(super) fn save_delivery(&mut self, delivery: &Delivery) -> Result<(), Failure> {
        self.saved_deliveries.extend([
            Cell::text(column::root(&delivery.project)),
            column::id(delivery.id).into(),
            Cell::text(delivery.state.as_str()),
            column::time(delivery.next_at).into(),
            column::optional_time(delivery.leased_until).into(),
            Cell::optional_text(delivery.leased_by.clone()),
            Cell::Text(column::json(&delivery.tries)?),
            Cell::optional_text(delivery.answer.clone()),
        ]);
        Ok(())
    }

    /// All deliveries of a job in the database whose answers are still awaited fail.
    pub(super) fn cancel_deliveries(&mut self, job: &JobRecord) {
        self.canceled_deliveries.extend([
            Cell::text(job.root()),
            column::id(job.id).into(),
            Cell::text(DeliveryState::Failed.as_str()),
            Cell::Null,
            Cell::Null,
        ]);
    }

    pub(super) fn is_empty(&self) -> bool {
        let tables = [
            &self.jobs,
            &self.saved_jobs,
            &self.left_queue,
            &self.queue,
            &self.running,
            &self.stopped_running,
            &self.decisions,
            &self.exemption_uses,
            &self.saved_deliveries,
            &self.canceled_deliveries,
            &self.deliveries,
        ];
        tables.iter().all(|cells| cells.is_empty()) && self.records.is_empty()
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.jobs.extend(other.jobs);
        self.saved_jobs.extend(other.saved_jobs);
        self.left_queue.extend(other.left_queue);
        self.queue.extend(other.queue);
        self.running.extend(other.running);
        self.stopped_running.extend(other.stopped_running);
        self.decisions.extend(other.decisions);
        self.exemption_uses.extend(other.exemption_uses);
        self.saved_deliveries.extend(other.saved_deliveries);
        self.canceled_deliveries.extend(other.canceled_deliveries);
        self.deliveries.extend(other.deliveries);
        self.records.extend(other.records);
    }

    /// Whether there is a new delivery for a job.
    pub(super) fn has_delivery_of(&self, job: JobId) -> bool {
        let width = DELIVERIES.columns.len();
        has(&self.deliveries, width, JOB_OF_DELIVERY, column::id(job))
    }

    /// Whether a delivery is to be saved.
    pub(super) fn saves_delivery(&self, id: DeliveryId) -> bool {
        let width = SAVED_DELIVERIES.width();
        has(
            &self.saved_deliveries,
            width,
            SAVED_DELIVERY,
            column::id(id),
        )
    }

    /// Writes the rows of all of these; not their records.
    pub(super) fn write(all: &[&Self], database: &mut dyn Database) -> Result<(), Failure> {
        change(database, &LEFT_QUEUE, &values(all, |rows| &rows.left_queue))?;
        let stopped = values(all, |rows| &rows.stopped_running);
        change(database, &STOPPED_RUNNING, &stopped)?;
        insert(database, &JOBS, &values(all, |rows| &rows.jobs))?;
        change(database, &SAVED_JOBS, &values(all, |rows| &rows.saved_jobs))?;
        insert(database, &QUEUE, &values(all, |rows| &rows.queue))?;
        insert(database, &RUNNING, &values(all, |rows| &rows.running))?;
        insert(database, &DECISIONS, &values(all, |rows| &rows.decisions))?;
        let used = values(all, |rows| &rows.exemption_uses);
        insert(database, &EXEMPTION_USES, &used)?;
        let saved = values(all, |rows| &rows.saved_deliveries);
        change(database, &SAVED_DELIVERIES, &saved)?;
        // After those that may still be awaited, and before new ones of the same jobs.
        let canceled = values(all, |rows| &rows.canceled_deliveries);
        if !canceled.is_empty() {
            database.change(&CANCELED_DELIVERIES, &canceled)?;
        }
        insert(database, &DELIVERIES, &values(all, |rows| &rows.deliveries))
    }
}

/// Whether a row has this value in this place.
fn has(cells: &[Cell], width: usize, place: usize, value: Value<'_>) -> bool {
    let value = Cell::from(value);
    let mut rows = cells.chunks(width);
    rows.any(|row| row.get(place) == Some(&value))
}

fn values<'r>(all: &[&'r Rows], of: impl Fn(&'r Rows) -> &'r Vec<Cell>) -> Vec<Value<'r>> {
    let cells = all.iter().flat_map(|rows| of(rows).iter());
    cells.map(Cell::as_value).collect()
}

fn insert(database: &mut dyn Database, table: &Table, values: &[Value<'_>]) -> Result<(), Failure> {
    if values.is_empty() {
        return Ok(());
    }
    let rows = values.len() / table.columns.len();
    match database.insert(table, values)? == rows as u64 {
        true => Ok(()),
        false => Err(Failure::new(
            Kind::Other,
            format!("duplicate key in {}", table.name),
        )),
    }
}

fn change(
    database: &mut dyn Database,
    change: &Change,
    values: &[Value<'_>],
) -> Result<(), Failure> {
    if values.is_empty() {
        return Ok(());
    }
    let rows = values.len() / change.width();
    match database.change(change, values)? == rows as u64 {
        true => Ok(()),
        // What was loaded is locked: this is an error of the one who calls.
        false => Err(Failure::new(
            Kind::Other,
            format!("a row of {} was changed meanwhile", change.name),
        )),
    }
}

/// The values that change, in the order of both statements.
fn changing(job: &JobRecord) -> Result<[Cell; 13], Failure> {
    let live = !job.state.status.is_finished();
    // Whatever is finished is deleted some day.
    let finished_at = job.state.finished_at.unwrap_or(job.created_at);
    let admission = job.admission.as_ref().map(column::json).transpose()?;
    Ok([
        Cell::text(job.state.status.as_str()),
        column::flag(live).into(),
        Cell::Number(job.state.attempt.into()),
        column::optional_time(job.state.queued_at).into(),
        column::optional_time(job.state.started_at).into(),
        column::optional_time((!live).then_some(finished_at)).into(),
        column::optional_time(job.deadline).into(),
        column::optional_id(job.state.runner_id).into(),
        column::flag(job.in_pipeline().allowed_to_fail).into(),
        column::flag(job.promoted).into(),
        Cell::Text(column::json(&job.state)?),
        Cell::optional_text(admission),
        column::id(job.version).into(),
    ])
}

/// Ids as `,1,2,`.
fn id_list(ids: impl Iterator<Item = RunnerId>) -> String {
    ids.fold(String::from(","), |text, id| {
        format!("{text}{},", number(id))
    })
}
