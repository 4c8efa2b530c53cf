//! The turn to compute, which an evaluation gives back while it waits for something else.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use crate::host::{Host, NoHost};

/// Where an evaluation thread says that it waits, and asks to go on.
pub(crate) trait Turn: fmt::Debug {
    /// Others may compute from now on.
    fn leave(&self);

    /// Others may compute from now on, and it goes on without a turn.
    fn step_aside(&self);

    /// Waits for its turn to compute again, at most until the deadline.
    fn enter(&self, deadline: Option<Instant>);
}

/// Every thread may compute at any time.
#[derive(Debug)]
struct Unlimited;

impl Turn for Unlimited {
    fn leave(&self) {}

    fn step_aside(&self) {}

    fn enter(&self, _: Option<Instant>) {}
}

/// What a realm knows of the host.
#[derive(Debug, Clone)]
pub(crate) struct HostAccess {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) turn: Rc<dyn Turn>,
    /// Whether evaluations may be replays: time and random numbers are then replaced.
    pub(crate) replays: bool,
}

impl HostAccess {
    /// Nothing.
    pub(crate) fn none() -> Self {
        Self {
            host: Arc::new(NoHost),
            turn: Rc::new(Unlimited),
            replays: false,
        }
    }

    /// Does something that waits, while others compute.
    pub(crate) fn wait<R>(&self, deadline: Option<Instant>, act: impl FnOnce() -> R) -> R {
        self.turn.leave();
        let result = act();
        self.turn.enter(deadline);
        result
    }
}
