//! Loading for many operations at once what each of them begins with.
//!
//! Operations that are written together say in advance which jobs and deliveries they will change. These are loaded and
//! locked with one statement for each table, in the order of their numbers, instead of several for each operation.

use std::collections::HashMap;

use portcullis_jobs::JobId;

use super::by_ids::rows_by_ids;
use super::record::{Delivery, DeliveryId, JobRecord, SELECT};
use crate::database::Database;
use crate::error::Failure;

/// What an operation will load in order to change it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WillChange {
    jobs: Vec<JobId>,
    deliveries: Vec<DeliveryId>,
}

impl WillChange {
    /// A job.
    pub fn job(id: JobId) -> Self {
        Self {
            jobs: vec![id],
            deliveries: Vec::new(),
        }
    }

    /// A delivery and its job.
    pub fn delivery(delivery: &Delivery) -> Self {
        Self {
            jobs: vec![delivery.job],
            deliveries: vec![delivery.id],
        }
    }
}

/// What was loaded and locked in advance, and is as it is in the database. Each is given out once: afterwards the
/// transaction may have changed it.
#[derive(Debug, Default)]
pub(super) struct LoadedAhead {
    jobs: HashMap<JobId, JobRecord>,
    deliveries: HashMap<DeliveryId, Delivery>,
}

impl LoadedAhead {
    /// Loads and locks everything that these operations will change, if they are several.
    pub(super) fn load<'a>(
        database: &mut dyn Database,
        all: impl Iterator<Item = &'a WillChange>,
    ) -> Result<Self, Failure> {
        let (mut jobs, mut ids) = (Vec::new(), Vec::new());
        for one in all {
            jobs.extend(&one.jobs);
            ids.extend(&one.deliveries);
        }
        if jobs.len() < 2 {
            return Ok(Self::default());
        }
        for ids in [&mut jobs, &mut ids] {
            ids.sort_unstable();
            ids.dedup();
        }
        let lock = database.dialect().for_update;
        let end = format!(" ORDER BY id{lock}");
        if !lock.is_empty() {
            // Pipelines before their jobs, as everywhere.
            let select = "SELECT id FROM pipelines WHERE id IN (SELECT pipeline FROM jobs";
            rows_by_ids(database, select, &[], &jobs, &format!("){end}"))?;
        }
        let jobs = rows_by_ids(database, SELECT, &[], &jobs, &end)?.into_iter();
        let jobs = jobs.map(JobRecord::read).collect::<Result<Vec<_>, _>>()?;
        let deliveries = rows_by_ids(database, Delivery::SELECT, &[], &ids, &end)?.into_iter();
        let deliveries = deliveries
            .map(Delivery::read)
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            jobs: jobs.into_iter().map(|job| (job.id, job)).collect(),
            deliveries: deliveries.into_iter().map(|one| (one.id, one)).collect(),
        })
    }

    /// A job, once.
    pub(super) fn job(&mut self, id: JobId) -> Option<JobRecord> {
        self.jobs.remove(&id)
    }

    /// A delivery, once.
    pub(super) fn delivery(&mut self, id: DeliveryId) -> Option<Delivery> {
        self.deliveries.remove(&id)
    }

    /// A job is changed.
    pub(super) fn forget_job(&mut self, id: JobId) {
        self.jobs.remove(&id);
    }

    /// The deliveries of a job are changed.
    pub(super) fn forget_deliveries_of(&mut self, job: JobId) {
        self.deliveries.retain(|_, delivery| delivery.job != job);
    }

    /// A delivery is changed.
    pub(super) fn forget_delivery(&mut self, id: DeliveryId) {
        self.deliveries.remove(&id);
    }

    /// What was loaded later is added.
    pub(super) fn extend(&mut self, other: Self) {
        self.jobs.extend(other.jobs);
        self.deliveries.extend(other.deliveries);
    }
}
