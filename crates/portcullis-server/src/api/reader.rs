//! The caller of a long answer, and whether the answer is still permitted.
//!
//! A token expires, its key is rotated, its authenticator or a role is removed: a new request would be
//! denied, so an answer that is still being written ends. Everything is checked again as for a new
//! request, from the same head, so that nothing can be forgotten here.

use std::time::{Duration, Instant};

use hyper::http::request::Parts;
use portcullis_core::clock;
use portcullis_roles::{AccessDecision, Parameters, Permission};
use tokio::sync::watch;

use super::action::Action;
use super::caller::Caller;
use super::refusal::sentence;
use crate::http::error::HttpError;
use crate::server::Server;
use crate::visitor::Visitor;
use portcullis_config::Service;

/// How often it is asked again.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// What long answers are served beside: scripts of pages follow them, too.
const SERVED_WITH: [Service; 2] = [Service::Api, Service::Web];

/// A caller of a long answer.
#[derive(Debug)]
pub(super) struct Reader {
    visitor: Visitor,
    head: Parts,
    permission: Permission,
    reloads: watch::Receiver<u64>,
    looks: tokio::time::Interval,
    looked_at: Instant,
    /// Something changed since then.
    is_due: bool,
}

impl Reader {
    /// The sender of this head, who needs the permission of an action at the root of the API.
    pub(super) fn new<A: Action>(visitor: &Visitor, head: &Parts) -> Self {
        let mut looks = tokio::time::interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        Self {
            reloads: visitor.server.reloads.subscribe(),
            visitor: visitor.clone(),
            head: head.clone(),
            permission: A::PERMISSION,
            looks,
            looked_at: clock::monotonic(),
            is_due: false,
        }
    }

    pub(super) fn server(&self) -> &Server {
        &self.visitor.server
    }

    /// Waits until a new request would be denied, and says why. May be dropped at any time.
    pub(super) async fn is_refused(&mut self) -> HttpError {
        loop {
            if !self.is_due {
                tokio::select! {
                    _ = self.looks.tick() => {}
                    changed = self.reloads.changed() => if changed.is_err() {
                        return HttpError::internal();
                    },
                }
                self.is_due = true;
            }
            if let Err(why) = self.look().await {
                return why;
            }
        }
    }

    /// Looks again, unless that was done just now.
    pub(super) async fn look_if_due(&mut self) -> Result<(), HttpError> {
        let since = clock::monotonic().saturating_duration_since(self.looked_at);
        match self.is_due || since >= LOOK_EVERY {
            true => self.look().await,
            false => Ok(()),
        }
    }

    /// Whether a new request would still be answered.
    async fn look(&mut self) -> Result<(), HttpError> {
        self.ask().await?;
        (self.looked_at, self.is_due) = (clock::monotonic(), false);
        Ok(())
    }

    async fn ask(&self) -> Result<(), HttpError> {
        let (lapsed, is_served) = {
            let setup = self.visitor.setup.load();
            let lapsed = self.visitor.standing.lapsed(setup.trust());
            let is_served = |service| setup.serves.contains(service);
            (lapsed, SERVED_WITH.iter().any(is_served))
        };
        if let Some(lapsed) = lapsed {
            let (code, message) = ("certificate_lapsed", lapsed.message());
            return Err(HttpError::unauthorized(code, message, "portcullis"));
        }
        if !is_served {
            return Err(HttpError::not_found("the API is no longer served here"));
        }
        let gate = self.visitor.server.gate.load_full();
        let caller = Caller::of(&self.visitor, &gate.access, &self.head).await;
        let root = gate.access.roles.root();
        match root.check(caller.identity(), self.permission, &Parameters::new()) {
            AccessDecision::Allowed(_) => Ok(()),
            AccessDecision::Refused(_) if caller.identity().is_none() => {
                Err(caller.challenge(&gate.access))
            }
            AccessDecision::Refused(refusal) => {
                Err(HttpError::forbidden("forbidden", sentence(&refusal)))
            }
        }
    }
}
