//! The table.

use super::event::{Effect, Event, EventKind};
use super::state::JobState;
use crate::failure::FailureReason;
use crate::status::JobStatus;
use crate::timestamp::Timestamp;

/// What becomes of a job, and what has to be done then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// The state after the event.
    pub state: JobState,
    /// What has to be done, in this order.
    pub effects: Vec<Effect>,
}

/// Something that can't happen to a job in its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IllegalTransition {
    /// Not in this state.
    #[error("{} can't be {event}", describe(*status))]
    NotNow {
        /// Where the job is.
        status: JobStatus,
        /// What should have happened.
        event: EventKind,
    },
    /// Too late: it had to happen before the deadline.
    #[error("the deadline of the admission passed at {0}")]
    TooLate(Timestamp),
    /// Too early: the deadline has not passed.
    #[error("the deadline of the admission is at {0}")]
    TooEarly(Timestamp),
    /// The runner has already reported.
    #[error("a job that its runner acknowledged can't be requeued")]
    Acknowledged,
    /// There were too many attempts.
    #[error("the job can't be retried any more: it had {0} attempts")]
    TooManyAttempts(u32),
}

fn describe(status: JobStatus) -> String {
    match status {
        JobStatus::Success | JobStatus::Failed => "a finished job".to_owned(),
        other => format!("a {other} job"),
    }
}

impl JobState {
    /// What becomes of the job when this happens.
    ///
    /// # Errors
    ///
    /// When it can't happen to a job in this state.
    pub fn apply(&self, event: &Event, now: Timestamp) -> Result<Transition, IllegalTransition> {
        use Effect::{
            AskController, CancelDeliveries, CheckPipeline, EnterQueue, LeaveQueue, StartLease,
            StopRunner,
        };
        use JobStatus::{Canceled, Created, Failed, Pending, Preparing, Running, Skipped, Success};

        let illegal = IllegalTransition::NotNow {
            status: self.status,
            event: event.kind(),
        };
        self.check_deadline(event, now)?;
        let mut next = self.clone();
        let effects: &[Effect] = match (self.status, event) {
            (Created, Event::Prepare { deadline }) => {
                next.status = Preparing;
                next.deadline = Some(*deadline);
                &[AskController]
            }
            (Created, Event::Enqueue) => {
                next.enter_queue(now);
                &[EnterQueue]
            }
            (Created, Event::Skip) => {
                next.finish(Skipped, now);
                &[CheckPipeline]
            }
            (Preparing, Event::AskNext) => &[AskController],
            (Preparing, Event::Accept) => {
                next.enter_queue(now);
                &[CancelDeliveries, EnterQueue]
            }
            (Preparing, Event::Deny | Event::LeaveNoRunner | Event::TimeOut) => {
                next.finish(Failed, now);
                next.failure_reason = Some(match event {
                    Event::Deny => FailureReason::AdmissionDenied,
                    Event::TimeOut => FailureReason::AdmissionTimeout,
                    _ => FailureReason::AdmissionNoRunner,
                });
                &[CancelDeliveries, CheckPipeline]
            }
            (Pending, Event::Take { runner }) => {
                next.status = Running;
                next.runner_id = Some(*runner);
                next.acknowledged = false;
                next.started_at = Some(now);
                next.contacted_at = Some(now);
                &[LeaveQueue, StartLease]
            }
            (Pending, Event::GetStuck) => {
                next.finish(Failed, now);
                next.failure_reason = Some(FailureReason::StuckOrTimeoutFailure);
                &[LeaveQueue, CheckPipeline]
            }
            (Running, Event::KeepAlive) => {
                next.contacted_at = Some(now);
                &[]
            }
            (Running, Event::Acknowledge) => {
                next.acknowledged = true;
                next.contacted_at = Some(now);
                &[]
            }
            (Running, Event::Requeue) => {
                if self.acknowledged {
                    return Err(IllegalTransition::Acknowledged);
                }
                let queued_at = self.queued_at;
                next.enter_queue(now);
                next.queued_at = queued_at.or(next.queued_at);
                next.runner_id = None;
                next.started_at = None;
                next.contacted_at = None;
                &[EnterQueue]
            }
            (Running, Event::LoseRunner) => {
                next.finish(Failed, now);
                next.failure_reason = Some(FailureReason::StuckOrTimeoutFailure);
                &[StopRunner, CheckPipeline]
            }
            (Running, Event::Succeed) => {
                next.finish(Success, now);
                &[CheckPipeline]
            }
            (Running, Event::Fail { reason, exit_code }) => {
                next.finish(Failed, now);
                next.failure_reason = Some(*reason);
                next.exit_code = *exit_code;
                &[CheckPipeline]
            }
            (Created | Preparing | Pending | Running, Event::Cancel) => {
                next.finish(Canceled, now);
                match self.status {
                    Preparing => &[CancelDeliveries, CheckPipeline],
                    Pending => &[LeaveQueue, CheckPipeline],
                    Running => &[StopRunner, CheckPipeline],
                    _ => &[CheckPipeline],
                }
            }
            (Skipped, Event::Revive) => {
                next = Self::of_attempt(self.attempt);
                &[CheckPipeline]
            }
            (Success | Failed | Canceled, Event::Retry) => {
                let attempt = self.attempt.checked_add(1);
                let attempt = attempt.ok_or(IllegalTransition::TooManyAttempts(self.attempt))?;
                next = Self::of_attempt(attempt);
                &[CheckPipeline]
            }
            _ => return Err(illegal),
        };
        Ok(Transition {
            state: next,
            effects: effects.to_vec(),
        })
    }

    /// Verdicts count before the deadline only, and it can't pass before its time.
    fn check_deadline(&self, event: &Event, now: Timestamp) -> Result<(), IllegalTransition> {
        let (JobStatus::Preparing, Some(deadline)) = (self.status, self.deadline) else {
            return Ok(());
        };
        match event {
            Event::AskNext | Event::Accept | Event::Deny | Event::LeaveNoRunner
                if now >= deadline =>
            {
                Err(IllegalTransition::TooLate(deadline))
            }
            Event::TimeOut if now < deadline => Err(IllegalTransition::TooEarly(deadline)),
            _ => Ok(()),
        }
    }

    fn enter_queue(&mut self, now: Timestamp) {
        self.status = JobStatus::Pending;
        self.deadline = None;
        self.queued_at = Some(now);
    }

    fn finish(&mut self, status: JobStatus, now: Timestamp) {
        self.status = status;
        self.deadline = None;
        self.finished_at = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    /// A job to which these things happened.
    fn after(events: &[Event]) -> JobState {
        events.iter().fold(JobState::new(), |state, event| {
            state.apply(event, at(1)).unwrap().state
        })
    }

    const PREPARE: Event = Event::Prepare {
        deadline: Timestamp::from_millis(3_600_000),
    };
    const TAKE: Event = Event::Take { runner: 2 };

    #[test]
    fn a_job_without_controllers_is_queued_at_once() {
        // Case 1.
        let queued = JobState::new().apply(&Event::Enqueue, at(1)).unwrap();
        assert_eq!(queued.state.status, JobStatus::Pending);
        assert_eq!(queued.effects, [Effect::EnterQueue]);
    }

    #[test]
    fn admission_leads_to_the_queue_or_to_failure() {
        use FailureReason::{AdmissionDenied, AdmissionNoRunner, AdmissionTimeout};
        let preparing = after(&[PREPARE, Event::AskNext]);
        assert_eq!(preparing.status, JobStatus::Preparing);
        let accepted = preparing.apply(&Event::Accept, at(5)).unwrap();
        assert_eq!(accepted.state.status, JobStatus::Pending);
        assert_eq!(accepted.state.queued_at, Some(at(5)));
        for (event, now, reason) in [
            (Event::Deny, 5, AdmissionDenied),            // case 3
            (Event::LeaveNoRunner, 5, AdmissionNoRunner), // case 16
            (Event::TimeOut, 3600, AdmissionTimeout),     // case 27
        ] {
            let failed = preparing.apply(&event, at(now)).unwrap();
            assert_eq!(failed.state.status, JobStatus::Failed);
            assert_eq!(failed.state.failure_reason, Some(reason));
            let wanted = [Effect::CancelDeliveries, Effect::CheckPipeline];
            assert_eq!(failed.effects, wanted);
        }
    }

    #[test]
    fn nothing_is_accepted_after_the_deadline_and_nothing_times_out_before_it() {
        // Cases 28 and 46.
        let preparing = after(&[PREPARE]);
        for event in [Event::Accept, Event::Deny, Event::AskNext] {
            assert!(preparing.apply(&event, at(3599)).is_ok());
            let late = preparing.apply(&event, at(3600)).unwrap_err();
            assert!(matches!(late, IllegalTransition::TooLate(_)));
        }
        let early = preparing.apply(&Event::TimeOut, at(3599)).unwrap_err();
        assert!(matches!(early, IllegalTransition::TooEarly(_)));
    }

    #[test]
    fn every_live_job_can_be_canceled_and_no_finished_one() {
        // Case 33.
        let live = [
            after(&[]),
            after(&[PREPARE]),
            after(&[Event::Enqueue]),
            after(&[Event::Enqueue, TAKE]),
        ];
        for state in live {
            let canceled = state.apply(&Event::Cancel, at(5)).unwrap();
            assert_eq!(canceled.state.status, JobStatus::Canceled);
            let late = canceled.state.apply(&Event::Accept, at(6)).unwrap_err();
            assert_eq!(late.to_string(), "a canceled job can't be accepted");
        }
        let finished = after(&[Event::Enqueue, TAKE, Event::Succeed]);
        let error = finished.apply(&Event::Cancel, at(5)).unwrap_err();
        assert_eq!(error.to_string(), "a finished job can't be canceled");
    }

    #[test]
    fn a_retry_begins_the_next_attempt() {
        // Case 38.
        let denied = after(&[PREPARE, Event::Deny]);
        let retried = denied.apply(&Event::Retry, at(9)).unwrap();
        assert_eq!(retried.state, JobState::of_attempt(2));
        assert_eq!(retried.effects, [Effect::CheckPipeline]);
        for state in [after(&[]), after(&[PREPARE]), after(&[Event::Skip])] {
            assert!(state.apply(&Event::Retry, at(9)).is_err(), "{state:?}");
        }
        let last = JobState {
            attempt: u32::MAX,
            ..denied
        };
        assert!(last.apply(&Event::Retry, at(9)).is_err());
    }

    #[test]
    fn a_job_returns_to_the_queue_unless_its_runner_acknowledged() {
        let taken = after(&[Event::Enqueue, TAKE]);
        let requeued = taken.apply(&Event::Requeue, at(20)).unwrap().state;
        assert_eq!(requeued.status, JobStatus::Pending);
        assert_eq!(
            (requeued.runner_id, requeued.queued_at),
            (None, Some(at(1)))
        );
        let acknowledged = taken.apply(&Event::Acknowledge, at(2)).unwrap().state;
        let error = acknowledged.apply(&Event::Requeue, at(20)).unwrap_err();
        assert_eq!(error, IllegalTransition::Acknowledged);
    }

    #[test]
    fn stuck_and_lost_jobs_fail() {
        for state in [after(&[Event::Enqueue]), after(&[Event::Enqueue, TAKE])] {
            let event = match state.status {
                JobStatus::Pending => Event::GetStuck,
                _ => Event::LoseRunner,
            };
            let failed = state.apply(&event, at(9)).unwrap().state;
            let reason = Some(FailureReason::StuckOrTimeoutFailure);
            assert_eq!(failed.failure_reason, reason);
        }
    }
}
