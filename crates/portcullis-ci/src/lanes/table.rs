//! What this server knows of each controller it calls: how much is under way, how fast, and how well it goes.

use std::collections::HashMap;
use std::sync::Arc;

use portcullis_core::sync::Mutex;
use portcullis_jobs::{
    Breaker, BreakerState, ControllerDefinition, ControllerId, Permission, Timestamp, TokenBucket,
};

use super::guard::client;
use super::outlet::Outlet;
use crate::details::BreakerDetails;
use crate::settings::WebhookSettings;

/// All lanes.
#[derive(Debug, Default)]
pub(crate) struct Lanes(Mutex<HashMap<ControllerId, Lane>>);

#[derive(Debug)]
struct Lane {
    in_flight: usize,
    /// The most that may be under way.
    most: usize,
    rate: u32,
    bucket: TokenBucket,
    breaker: Breaker,
    /// The project that had the last turn.
    last: String,
    outlet: Option<(String, Arc<Outlet>)>,
}

/// Whether calls may begin now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// So many; whose turn was the last.
    For(usize, String),
    /// Not before this time, because there were too many of late.
    Later(Timestamp),
    /// Not before this time, because too many failed.
    Broken(Timestamp),
    /// Not before one that is under way ends.
    Full,
}

impl Lane {
    fn new(rate: u32, now: Timestamp) -> Self {
        Self {
            in_flight: 0,
            most: usize::MAX,
            rate,
            bucket: TokenBucket::full(rate, now),
            breaker: Breaker::default(),
            last: String::new(),
            outlet: None,
        }
    }

    /// Whether more than half of what may be under way is.
    fn is_busy(&self) -> bool {
        self.in_flight > self.most / 2
    }
}

/// What the end of a call changes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Ended {
    /// The state of the breaker, if it is another one.
    pub(crate) breaker: Option<BreakerState>,
    /// Half of the lane is free now.
    pub(crate) is_half_free: bool,
}

impl Lanes {
    /// Whether more than half of what may be under way is, for any controller.
    pub(crate) fn are_busy(&self) -> bool {
        self.0.lock().values().any(Lane::is_busy)
    }

    /// Whether calls may begin now.
    pub(crate) fn room(
        &self,
        id: ControllerId,
        definition: &ControllerDefinition,
        now: Timestamp,
    ) -> Room {
        let mut lanes = self.0.lock();
        let lane = lanes
            .entry(id)
            .or_insert_with(|| Lane::new(definition.rate, now));
        if lane.rate != definition.rate {
            lane.rate = definition.rate;
            lane.bucket = TokenBucket::full(definition.rate, now);
        }
        let most = usize::try_from(definition.concurrency).unwrap_or(usize::MAX);
        lane.most = most;
        let mut room = most.saturating_sub(lane.in_flight);
        if room == 0 {
            return Room::Full;
        }
        // Copies are asked, since less may be claimed than there is room for.
        if lane.breaker.state() != BreakerState::Closed {
            match lane.breaker.clone().permit(now) {
                Permission::Granted => room = 1,
                Permission::NotBefore(at) => return Room::Broken(at),
            }
        }
        let mut bucket = lane.bucket.clone();
        let mut calls = 0;
        while calls < room {
            match bucket.take(now) {
                Ok(()) => calls += 1,
                Err(at) if calls == 0 => return Room::Later(at),
                Err(_) => break,
            }
        }
        Room::For(calls, lane.last.clone())
    }

    /// A call begins, for a job of this project.
    pub(crate) fn begin(&self, id: ControllerId, project: &str, now: Timestamp) {
        let mut lanes = self.0.lock();
        if let Some(lane) = lanes.get_mut(&id) {
            lane.in_flight += 1;
            // There was room when it was asked for.
            let _ = lane.bucket.take(now);
            let _ = lane.breaker.permit(now);
            project.clone_into(&mut lane.last);
        }
    }

    /// A call ended.
    pub(crate) fn end(&self, id: ControllerId, is_success: Option<bool>, now: Timestamp) -> Ended {
        let mut lanes = self.0.lock();
        let Some(lane) = lanes.get_mut(&id) else {
            return Ended::default();
        };
        lane.in_flight = lane.in_flight.saturating_sub(1);
        let before = lane.breaker.state();
        if let Some(is_success) = is_success {
            lane.breaker.record(is_success, now);
        }
        Ended {
            breaker: Some(lane.breaker.state()).filter(|after| *after != before),
            is_half_free: !lane.is_busy(),
        }
    }

    /// The way to a controller's URL.
    pub(crate) fn outlet(
        &self,
        id: ControllerId,
        url: &str,
        settings: &WebhookSettings,
    ) -> Result<Arc<Outlet>, String> {
        let mut lanes = self.0.lock();
        let known = lanes.get(&id).and_then(|lane| lane.outlet.as_ref());
        if let Some((_, outlet)) = known.filter(|(known, _)| known == url) {
            return Ok(Arc::clone(outlet));
        }
        let outlet = Arc::new(Outlet::new(client(url, settings)?));
        if let Some(lane) = lanes.get_mut(&id) {
            lane.outlet = Some((url.to_owned(), Arc::clone(&outlet)));
        }
        Ok(outlet)
    }

    /// How calling a controller goes.
    pub(crate) fn details(&self, id: ControllerId) -> Option<BreakerDetails> {
        let lanes = self.0.lock();
        lanes.get(&id).map(|lane| BreakerDetails {
            state: lane.breaker.state(),
            in_flight: lane.in_flight,
        })
    }

    /// A controller was changed: its breaker and connections begin anew.
    pub(crate) fn forget(&self, id: ControllerId) {
        if let Some(lane) = self.0.lock().get_mut(&id) {
            lane.breaker = Breaker::default();
            lane.outlet = None;
        }
    }

    /// What may be called was changed.
    pub(crate) fn forget_clients(&self) {
        for lane in self.0.lock().values_mut() {
            lane.outlet = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_busy_while_more_than_half_of_it_is_under_way() {
        let (lanes, id, now) = (Lanes::default(), 1, Timestamp::from_millis(0));
        let definition = |concurrency: u32| {
            let keys = serde_json::json!({
                "name": "a", "level": "instance", "kind": "validating", "pull": true,
                "concurrency": concurrency,
            });
            serde_json::from_value::<ControllerDefinition>(keys).unwrap()
        };
        assert!(matches!(
            lanes.room(id, &definition(4), now),
            Room::For(4, _)
        ));
        lanes.begin(id, "x", now);
        lanes.begin(id, "x", now);
        assert!(!lanes.are_busy());
        lanes.begin(id, "x", now);
        assert!(lanes.are_busy());
        assert!(lanes.end(id, Some(true), now).is_half_free);
        assert!(!lanes.are_busy());
        // One that takes a single call at a time is free again when that ends.
        lanes.room(id, &definition(1), now);
        assert!(!lanes.end(id, Some(true), now).is_half_free);
        assert!(lanes.end(id, Some(true), now).is_half_free);
    }
}
