//! The circuit breaker of one controller: after many failures it isn't called for a while.
//!
//! It never gives up for good: jobs wait, and their deadlines keep running.

use std::collections::VecDeque;
use std::time::Duration;

use portcullis_core::vocabulary;
use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// Failures in a row that open it.
const STRAIGHT: u32 = 5;
/// How many calls are remembered; more than half of so many failed ones open it too.
const WINDOW: usize = 20;
const FIRST_PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

vocabulary! {
    /// What a breaker lets through.
    pub enum BreakerState {
        /// Every call.
        Closed = "closed",
        /// No call.
        Open = "open",
        /// One call, to see whether the controller is back.
        Probing = "probing",
    }
}

/// Whether a controller may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Yes; the result must be recorded.
    Granted,
    /// Not before this time.
    NotBefore(Timestamp),
}

/// The breaker of one controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breaker {
    state: BreakerState,
    /// Failures in a row.
    straight: u32,
    /// The last calls, the oldest first; whether they failed.
    recent: VecDeque<bool>,
    /// When it lets a probe through, or another one if that doesn't return.
    until: Option<Timestamp>,
    /// How long it is open.
    pause_ms: u64,
}

impl Default for Breaker {
    fn default() -> Self {
        Self {
            state: BreakerState::Closed,
            straight: 0,
            recent: VecDeque::new(),
            until: None,
            pause_ms: 0,
        }
    }
}

impl Breaker {
    /// What it lets through.
    pub fn state(&self) -> BreakerState {
        self.state
    }

    /// Asks for permission to call the controller.
    pub fn permit(&mut self, now: Timestamp) -> Permission {
        match (self.state, self.until) {
            (BreakerState::Closed, _) | (_, None) => Permission::Granted,
            (_, Some(until)) if now < until => Permission::NotBefore(until),
            (BreakerState::Open | BreakerState::Probing, Some(_)) => {
                self.state = BreakerState::Probing;
                self.until = Some(now.after(self.pause()));
                Permission::Granted
            }
        }
    }

    /// Records how a call ended.
    pub fn record(&mut self, is_success: bool, now: Timestamp) {
        match (self.state, is_success) {
            (BreakerState::Closed, _) => {
                self.straight = if is_success { 0 } else { self.straight + 1 };
                self.recent.push_back(!is_success);
                if self.recent.len() > WINDOW {
                    self.recent.pop_front();
                }
                let failed = self.recent.iter().filter(|failed| **failed).count();
                let is_mostly_failed = self.recent.len() == WINDOW && failed * 2 > WINDOW;
                if self.straight >= STRAIGHT || is_mostly_failed {
                    self.open(FIRST_PAUSE, now);
                }
            }
            (BreakerState::Probing, true) => *self = Self::default(),
            (BreakerState::Probing, false) => {
                self.open((self.pause() * 2).min(LONGEST_PAUSE), now);
            }
            // Calls that began before it opened say nothing new.
            (BreakerState::Open, _) => {}
        }
    }

    fn pause(&self) -> Duration {
        Duration::from_millis(self.pause_ms)
    }

    fn open(&mut self, pause: Duration, now: Timestamp) {
        self.state = BreakerState::Open;
        self.pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        self.until = Some(now.after(pause));
        self.straight = 0;
        self.recent.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn after(results: impl IntoIterator<Item = bool>) -> Breaker {
        let mut breaker = Breaker::default();
        for is_success in results {
            assert_eq!(breaker.permit(at(0)), Permission::Granted);
            breaker.record(is_success, at(0));
        }
        breaker
    }

    #[test]
    fn five_straight_failures_open_it() {
        assert_eq!(after([false; 4]).state(), BreakerState::Closed);
        let mut open = after([false; 5]);
        assert_eq!(open.state(), BreakerState::Open);
        assert_eq!(open.permit(at(29)), Permission::NotBefore(at(30)));
        let broken = after([false, false, false, false, true, false, false, false, false]);
        assert_eq!(broken.state(), BreakerState::Closed);
    }

    #[test]
    fn more_than_half_of_twenty_failures_open_it() {
        let half = (0..20).map(|i| i % 2 == 0);
        assert_eq!(after(half).state(), BreakerState::Closed);
        let more = (0..20).map(|i| i % 2 == 0 && i != 10);
        assert_eq!(after(more).state(), BreakerState::Open);
        let few = (0..18).map(|i| i % 3 == 0);
        assert_eq!(after(few).state(), BreakerState::Closed);
    }

    #[test]
    fn one_probe_closes_it_or_doubles_the_pause() {
        let mut breaker = after([false; 5]);
        let mut now = 30;
        for pause in [60, 120, 240, 480, 600, 600] {
            assert_eq!(breaker.permit(at(now)), Permission::Granted);
            assert_eq!(breaker.state(), BreakerState::Probing);
            assert!(matches!(breaker.permit(at(now)), Permission::NotBefore(_)));
            breaker.record(false, at(now));
            let until = at(now + pause);
            assert_eq!(
                breaker.permit(at(now + pause - 1)),
                Permission::NotBefore(until)
            );
            now += pause;
        }
        assert_eq!(breaker.permit(at(now)), Permission::Granted);
        breaker.record(true, at(now));
        assert_eq!(breaker, Breaker::default());
    }

    #[test]
    fn a_probe_that_never_returns_is_followed_by_another() {
        let mut breaker = after([false; 5]);
        assert_eq!(breaker.permit(at(30)), Permission::Granted);
        assert_eq!(breaker.permit(at(59)), Permission::NotBefore(at(60)));
        assert_eq!(breaker.permit(at(60)), Permission::Granted);
    }

    #[test]
    fn late_results_do_not_change_an_open_breaker() {
        let mut breaker = after([false; 5]);
        let before = breaker.clone();
        breaker.record(false, at(1));
        breaker.record(true, at(1));
        assert_eq!(breaker, before);
    }
}
