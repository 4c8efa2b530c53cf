//! What is known of one lane: its first places.

use std::collections::{BTreeSet, HashSet};

use portcullis_store::{LaneNeeds, QueuePlace};

use super::class::ClassId;

/// Places that are known of a lane, at most.
pub(super) const WINDOW: usize = 64;
/// With fewer left, more are read when a job is taken.
const LOW: usize = 16;

/// A lane.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) needs: LaneNeeds,
    /// Runners that may take its jobs, unless a list says otherwise.
    pub(super) classes: HashSet<ClassId>,
    /// The first places that nobody is assigned to.
    window: BTreeSet<QueuePlace>,
    /// Places that are about to be taken for somebody.
    reserved: BTreeSet<QueuePlace>,
    /// Waiters that are about to be served from here.
    in_flight: usize,
    /// Whether there are no others than those that are known.
    is_whole: bool,
    /// What comes next is not before this, as far as is known.
    bound: QueuePlace,
    /// When this server last put a job into it.
    pub(super) touched: u64,
}

/// What a lane has for one more waiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    /// A job, at this place or a later one.
    At(QueuePlace),
    /// It is known when those that are being served are.
    Later,
    /// Nothing.
    Empty,
}

/// What was found when jobs of a lane were taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Served {
    /// How many were asked for.
    pub(crate) asked: usize,
    /// Whether it failed, so that nothing is known.
    pub(crate) is_unknown: bool,
    /// The first places that were found free.
    pub(crate) seen: Vec<QueuePlace>,
    /// Those of them that were taken.
    pub(crate) taken: Vec<QueuePlace>,
    /// The places that follow, and whether these are all, if they were read.
    pub(crate) window: Option<(Vec<QueuePlace>, bool)>,
}

impl Lane {
    /// A lane of which the first place is known, and maybe that there are no others.
    pub(super) fn new(needs: LaneNeeds, first: QueuePlace, is_whole: bool, now: u64) -> Self {
        Self {
            needs,
            classes: HashSet::new(),
            window: BTreeSet::from([first]),
            reserved: BTreeSet::new(),
            in_flight: 0,
            is_whole,
            bound: first,
            touched: now,
        }
    }

    pub(super) fn head(&self) -> Head {
        match self.window.first() {
            Some(place) => Head::At(*place),
            None if self.is_whole => Head::Empty,
            None if self.in_flight > 0 => Head::Later,
            // Nothing is known but that there may be more.
            None => Head::At(self.bound),
        }
    }

    /// Whether it can be forgotten.
    pub(super) fn is_idle(&self) -> bool {
        self.window.is_empty() && self.is_whole && self.in_flight == 0
    }

    /// Whether places should be read when a job is taken.
    pub(super) fn is_low(&self) -> bool {
        !self.is_whole && self.window.len() < LOW
    }

    /// How many waiters are about to be served from here.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// The first place is for a waiter.
    pub(super) fn reserve(&mut self) {
        if let Some(place) = self.window.pop_first() {
            self.bound = place;
            self.reserved.insert(place);
        }
        self.in_flight += 1;
    }

    /// One who was to be served is not.
    pub(super) fn unreserve(&mut self) {
        if let Some(place) = self.reserved.pop_last() {
            self.window.insert(place);
        }
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// A job is in the queue now.
    pub(super) fn add(&mut self, place: QueuePlace, now: u64) {
        self.touched = now;
        let is_beyond = !self.is_whole && self.window.last().is_some_and(|last| place > *last);
        if !is_beyond {
            self.window.insert(place);
            self.shorten();
        }
    }

    /// A job has left the queue otherwise than to a runner.
    pub(super) fn remove(&mut self, place: QueuePlace) {
        self.window.remove(&place);
    }

    /// Jobs were taken, or not. `since` is when that began.
    pub(super) fn served(&mut self, served: &Served, since: u64) {
        self.in_flight = self.in_flight.saturating_sub(served.asked);
        let last = served.seen.iter().max().copied();
        let reserved = std::mem::take(&mut self.reserved);
        if self.in_flight > 0 {
            // Others are still being served: which places are theirs is not known any more, and doesn't matter.
            self.reserved = reserved
                .iter()
                .filter(|place| last.is_none_or(|last| **place > last))
                .copied()
                .collect();
        } else {
            self.window.extend(reserved);
        }
        // What was passed over is somebody else's.
        if let Some(last) = last {
            self.window.retain(|place| *place > last);
            let left = served.seen.iter().filter(|p| !served.taken.contains(p));
            self.window.extend(left);
            self.bound = self.bound.max(last);
        }
        let was_touched = self.touched > since;
        if was_touched {
            // What was put into it meanwhile may be among what was passed over.
            self.is_whole = false;
        }
        if served.seen.len() < served.asked && !was_touched && !served.is_unknown {
            self.window.clear();
            self.is_whole = true;
        }
        if let Some((places, is_all)) = &served.window {
            if !was_touched {
                self.window.clear();
            }
            let reserved = &self.reserved;
            let free = places.iter().filter(|place| !reserved.contains(place));
            self.window.extend(free);
            // What was put into it meanwhile may come after them.
            self.is_whole = *is_all && !was_touched;
            self.shorten();
        }
    }

    /// The database had this as the first place at some time after `since`.
    pub(super) fn seen(&mut self, first: QueuePlace, since: u64) {
        let is_known = self.window.contains(&first) || self.reserved.contains(&first);
        if self.touched <= since {
            self.window.retain(|place| *place >= first);
        }
        if !is_known {
            // Others may be between this one and those that are known.
            self.window = BTreeSet::from([first]);
            self.is_whole = false;
        }
    }

    /// The database had no job of it at some time after `since`.
    pub(super) fn not_seen(&mut self, since: u64) {
        if self.touched <= since {
            self.window.clear();
            self.is_whole = true;
        }
    }

    fn shorten(&mut self) {
        while self.window.len() > WINDOW {
            self.window.pop_last();
            self.is_whole = false;
        }
    }
}
