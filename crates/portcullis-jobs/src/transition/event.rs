//! What happens to jobs, and what has to be done then.

use portcullis_core::vocabulary;

use crate::failure::FailureReason;
use crate::runners::RunnerId;
use crate::timestamp::Timestamp;

/// Something that happens to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// Its stage has come, and it needs admission until this deadline.
    Prepare {
        /// When admission times out.
        deadline: Timestamp,
    },
    /// Its stage has come, and no controller or policy applies.
    Enqueue,
    /// A controller accepted, and another one is to be asked.
    AskNext,
    /// Every controller accepted.
    Accept,
    /// A controller denied.
    Deny,
    /// The runner lists leave no runner.
    LeaveNoRunner,
    /// The deadline of admission passed.
    TimeOut,
    /// A runner takes it.
    Take {
        /// The runner.
        runner: RunnerId,
    },
    /// The runner that took it is still there, and has not begun.
    KeepAlive,
    /// The runner reported that it has begun, or goes on.
    Acknowledge,
    /// The runner that took it never reported.
    Requeue,
    /// No runner took it in time.
    GetStuck,
    /// Its runner stopped reporting.
    LoseRunner,
    /// It ran well.
    Succeed,
    /// It failed at the runner.
    Fail {
        /// Why.
        reason: FailureReason,
        /// What its script exited with.
        exit_code: Option<i32>,
    },
    /// A user stops it.
    Cancel,
    /// An earlier stage failed.
    Skip,
    /// The failed job of an earlier stage is retried.
    Revive,
    /// A user retries it.
    Retry,
}

vocabulary! {
    /// The kinds of events, as messages and logs name them.
    pub enum EventKind {
        /// See [`Event::Prepare`].
        Prepare = "prepared",
        /// See [`Event::Enqueue`].
        Enqueue = "enqueued",
        /// See [`Event::AskNext`].
        AskNext = "passed to another controller",
        /// See [`Event::Accept`].
        Accept = "accepted",
        /// See [`Event::Deny`].
        Deny = "denied",
        /// See [`Event::LeaveNoRunner`].
        LeaveNoRunner = "left without runners",
        /// See [`Event::TimeOut`].
        TimeOut = "timed out",
        /// See [`Event::Take`].
        Take = "taken by a runner",
        /// See [`Event::KeepAlive`].
        KeepAlive = "kept alive",
        /// See [`Event::Acknowledge`].
        Acknowledge = "acknowledged",
        /// See [`Event::Requeue`].
        Requeue = "requeued",
        /// See [`Event::GetStuck`].
        GetStuck = "stuck",
        /// See [`Event::LoseRunner`].
        LoseRunner = "lost by its runner",
        /// See [`Event::Succeed`].
        Succeed = "finished",
        /// See [`Event::Fail`].
        Fail = "failed",
        /// See [`Event::Cancel`].
        Cancel = "canceled",
        /// See [`Event::Skip`].
        Skip = "skipped",
        /// See [`Event::Revive`].
        Revive = "revived",
        /// See [`Event::Retry`].
        Retry = "retried",
    }
}

impl Event {
    /// Which kind it is.
    pub fn kind(&self) -> EventKind {
        match self {
            Self::Prepare { .. } => EventKind::Prepare,
            Self::Enqueue => EventKind::Enqueue,
            Self::AskNext => EventKind::AskNext,
            Self::Accept => EventKind::Accept,
            Self::Deny => EventKind::Deny,
            Self::LeaveNoRunner => EventKind::LeaveNoRunner,
            Self::TimeOut => EventKind::TimeOut,
            Self::Take { .. } => EventKind::Take,
            Self::KeepAlive => EventKind::KeepAlive,
            Self::Acknowledge => EventKind::Acknowledge,
            Self::Requeue => EventKind::Requeue,
            Self::GetStuck => EventKind::GetStuck,
            Self::LoseRunner => EventKind::LoseRunner,
            Self::Succeed => EventKind::Succeed,
            Self::Fail { .. } => EventKind::Fail,
            Self::Cancel => EventKind::Cancel,
            Self::Skip => EventKind::Skip,
            Self::Revive => EventKind::Revive,
            Self::Retry => EventKind::Retry,
        }
    }
}

vocabulary! {
    /// What has to be done together with a transition.
    pub enum Effect {
        /// Ask the controller that is next.
        AskController = "ask_controller",
        /// Cancel what is yet to be delivered for this attempt, and its callback tokens.
        CancelDeliveries = "cancel_deliveries",
        /// Put the job into the queue.
        EnterQueue = "enter_queue",
        /// Take the job out of the queue.
        LeaveQueue = "leave_queue",
        /// Wait for the runner to report that it has begun.
        StartLease = "start_lease",
        /// Tell the runner to stop.
        StopRunner = "stop_runner",
        /// Ask the pipeline what may start, what is skipped or revived, and whether it is finished.
        CheckPipeline = "check_pipeline",
    }
}
