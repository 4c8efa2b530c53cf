//! Runners take jobs.

use std::sync::Arc;

use portcullis_core::sync::Mutex;
use portcullis_jobs::{Event, Job, Runner, RunnerType};
use portcullis_store::{JobRecord, Taker};

use super::turn::Turn;
use crate::error::CiError;
use crate::queue::{LaneOrder, Served, Verified};

/// Places of a lane that are read at once.
const PLACES: usize = 64;

/// What became of those who were to be served from one lane.
#[derive(Debug, Default)]
pub(crate) struct LaneResult {
    pub(crate) served: Served,
    /// For each in the order of the assignments.
    pub(crate) given: Vec<Given>,
}

/// What one of them is given.
#[derive(Debug)]
pub(crate) enum Given {
    /// A job, as the runner is now.
    Job(Box<(Job, Runner)>),
    /// Nothing is left in the lane.
    Nothing,
    /// It may not take what it was to take: the runner was changed, or its manager is held.
    Unfit,
}

impl Turn<'_, '_> {
    /// Takes the first jobs of lanes for those who are to be served from them.
    pub(crate) fn take_jobs(
        &mut self,
        orders: &[LaneOrder],
        verified: &Arc<Mutex<Verified>>,
    ) -> Result<Vec<LaneResult>, CiError> {
        let runners = orders.iter().flat_map(|order| &order.assignments);
        let known = Verified::load(verified, self.store, runners, self.now)?;
        let shares = orders
            .iter()
            .map(|order| (order.lane, order.assignments.len()));
        let lists = self.store.pending_for_taking(&shares.collect::<Vec<_>>())?;
        let mut results = Vec::with_capacity(orders.len());
        for (order, jobs) in orders.iter().zip(lists) {
            let mut result = LaneResult::default();
            result.served.asked = order.assignments.len();
            result.served.seen = jobs.iter().map(JobRecord::queue_place).collect();
            let mut jobs = jobs.into_iter().peekable();
            for assignment in &order.assignments {
                let given = match (jobs.peek(), known.runner(assignment, self.now)) {
                    (None, _) => Given::Nothing,
                    // Also the jobs of a lane are looked at: two lanes could have the same number.
                    (Some(job), Some(runner)) if job.needs().is_met_by(runner) => {
                        let taken = jobs
                            .next()
                            .map(|job| self.take(job, runner, assignment.manager.clone()));
                        match taken.transpose()? {
                            Some(job) => {
                                result.served.taken.push(job.queue_place());
                                Given::Job(Box::new((job.job, runner.clone())))
                            }
                            None => Given::Nothing,
                        }
                    }
                    _ => Given::Unfit,
                };
                result.given.push(given);
            }
            if order.is_low {
                result.served.window = Some(self.next_places(order, &result.served)?);
            }
            results.push(result);
        }
        Ok(results)
    }

    fn take(
        &mut self,
        mut job: JobRecord,
        runner: &Runner,
        manager: String,
    ) -> Result<JobRecord, CiError> {
        self.apply(&mut job, &Event::Take { runner: runner.id })?;
        job.taker = Some(Taker {
            manager,
            is_shared: runner.kind == RunnerType::Instance,
        });
        job.deadline = Some(self.now.after(self.world.settings.runners.lease.get()));
        self.save(&mut job)?;
        Ok(job)
    }

    /// The places that follow those that were taken, and whether these are all.
    fn next_places(
        &mut self,
        order: &LaneOrder,
        served: &Served,
    ) -> Result<(Vec<portcullis_store::QueuePlace>, bool), CiError> {
        let limit = PLACES + served.seen.len();
        let mut places = self.store.lane_places(order.lane, limit)?;
        let is_all = places.len() < limit;
        places.retain(|place| !served.taken.contains(place));
        Ok((places, is_all))
    }
}
