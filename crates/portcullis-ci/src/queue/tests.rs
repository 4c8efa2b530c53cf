//! Every interleaving of what happens to the queue: a model of the database with two servers, of which one has the index.
//!
//! Whatever happened before, once the index has been refreshed, every pending job is given to somebody who asks and may
//! take it, exactly once, and nobody waits for whom there is a job.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_jobs::{AccessLevel, JobId, Runner, RunnerFilter, RunnerLists, RunnerType};
use portcullis_store::{LaneId, LaneNeeds, QueuePlace};
use proptest::collection::vec;
use proptest::prelude::*;

use super::index::{Index, LaneOrder, QueueChange};
use super::lane::Served;

/// Tags of the lanes, which are 0 to 3; the last one accepts only runner 2, and rejects it in no case.
const TAGS: [&[&str]; 4] = [&["a"], &["b"], &["a", "b"], &["a"]];
/// Tags of the runners, which are 1 to 3.
const OFFERS: [&[&str]; 3] = [&["a"], &["a", "b"], &["b", "c"]];

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn needs(lane: usize) -> LaneNeeds {
    let lists = RunnerLists {
        accepted_ids: if lane == 3 { vec![2] } else { vec![] },
        rejected_ids: vec![],
    };
    LaneNeeds {
        project: format!("g/p{}", lane % 2),
        tags: words(TAGS[lane]),
        ref_protected: false,
        filter: RunnerFilter::of(&[lists]),
    }
}

fn runner(number: usize) -> Runner {
    Runner {
        id: number as u64 + 1,
        kind: if number == 1 {
            RunnerType::Group
        } else {
            RunnerType::Instance
        },
        path: (number == 1).then(|| "g".to_owned()),
        description: String::new(),
        tags: words(OFFERS[number]),
        run_untagged: false,
        access_level: AccessLevel::NotProtected,
        paused: false,
        locked: false,
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    /// A job enters the queue; whether by the server with the index, and whether that is known there at once.
    Enqueue(usize, bool, bool),
    /// The server is told what it did itself and didn't know yet.
    Tell,
    /// A pending job is canceled, by this server or the other.
    Cancel(usize, bool),
    /// A pending job is promoted, by this server or the other.
    Promote(usize, bool),
    /// A job that was given goes back, by this server or the other.
    Requeue(usize, bool),
    /// The other server takes the first job of a lane.
    Steal(usize),
    Arrive(usize),
    Hurry(usize),
    Vanish(usize),
    /// Those who are assigned are served: the transaction, and then what follows from it.
    Order(usize),
    Commit(usize),
    Finish(usize, bool),
    /// A refresh reads the database, and then is applied.
    Read,
    Refresh,
}

fn step() -> impl Strategy<Value = Step> {
    let lane = 0_usize..4;
    let which = 0_usize..8;
    prop_oneof![
        4 => (lane.clone(), any::<bool>(), any::<bool>())
            .prop_map(|(lane, own, told)| Step::Enqueue(lane, own, told)),
        2 => Just(Step::Tell),
        1 => (which.clone(), any::<bool>()).prop_map(|(n, own)| Step::Cancel(n, own)),
        1 => (which.clone(), any::<bool>()).prop_map(|(n, own)| Step::Promote(n, own)),
        2 => (which.clone(), any::<bool>()).prop_map(|(n, own)| Step::Requeue(n, own)),
        1 => lane.prop_map(Step::Steal),
        4 => (0_usize..3).prop_map(Step::Arrive),
        1 => which.clone().prop_map(Step::Hurry),
        1 => which.clone().prop_map(Step::Vanish),
        3 => (1_usize..4).prop_map(Step::Order),
        3 => (0_usize..2).prop_map(Step::Commit),
        3 => (0_usize..2, any::<bool>()).prop_map(|(n, low)| Step::Finish(n, low)),
        1 => Just(Step::Read),
        2 => Just(Step::Refresh),
    ]
}

/// A number for each time a job is taken: one that goes back may be taken again before the first taker hears of it,
/// whose token is good for nothing then.
type Taking = u64;

/// What a refresh read, and when it began.
type Read = (Vec<(LaneId, QueuePlace, Option<LaneNeeds>)>, u64);

/// Orders that are under way: when they began, and what came of them once they are committed.
struct Serving {
    orders: Vec<LaneOrder>,
    since: u64,
    results: Option<Vec<(Served, Vec<Option<Taking>>)>>,
}

#[derive(Default)]
struct Model {
    index: Index<usize>,
    /// The database: places of lanes.
    lanes: BTreeMap<LaneId, BTreeSet<QueuePlace>>,
    /// Jobs that somebody has, with their lanes and places.
    running: Vec<(LaneId, QueuePlace, Taking)>,
    takings: Taking,
    jobs: JobId,
    /// What the server did and doesn't know yet.
    untold: Vec<QueueChange>,
    waiters: Vec<u64>,
    serving: Vec<Serving>,
    read: Option<Read>,
    /// Who got a job, or was told that there is none.
    given: Vec<(usize, JobId)>,
    told_nothing: usize,
}

impl Model {
    fn entered(lane: LaneId, place: QueuePlace) -> QueueChange {
        let needs = Box::new(needs(usize::try_from(lane).unwrap()));
        QueueChange::Entered(lane, needs, place)
    }

    fn put(&mut self, lane: LaneId, place: QueuePlace, is_own: bool, is_told: bool) {
        assert!(self.lanes.entry(lane).or_default().insert(place));
        let entered = Self::entered(lane, place);
        match (is_own, is_told) {
            (true, true) => self.index.change(entered),
            (true, false) => self.untold.push(entered),
            _ => {}
        }
    }

    /// Some pending job.
    fn pending(&self, number: usize) -> Option<(LaneId, QueuePlace)> {
        let all = self.lanes.iter();
        let mut all = all.flat_map(|(lane, places)| places.iter().map(|place| (*lane, *place)));
        all.nth(number)
    }

    fn remove(&mut self, lane: LaneId, place: QueuePlace, is_own: bool) {
        assert!(self.lanes.entry(lane).or_default().remove(&place));
        if is_own {
            self.index.change(QueueChange::Left(lane, place));
        }
    }

    fn go(&mut self, step: Step) {
        match step {
            Step::Enqueue(lane, is_own, is_told) => {
                self.jobs += 1;
                let place = QueuePlace {
                    promoted: false,
                    job: self.jobs,
                };
                self.put(lane as LaneId, place, is_own, is_told);
            }
            Step::Tell => {
                let untold = std::mem::take(&mut self.untold);
                untold
                    .into_iter()
                    .for_each(|change| self.index.change(change));
            }
            Step::Cancel(number, is_own) => {
                if let Some((lane, place)) = self.pending(number) {
                    self.remove(lane, place, is_own);
                }
            }
            Step::Promote(number, is_own) => {
                if let Some((lane, place)) = self.pending(number).filter(|(_, p)| !p.promoted) {
                    self.remove(lane, place, is_own);
                    let promoted = QueuePlace {
                        promoted: true,
                        ..place
                    };
                    self.put(lane, promoted, is_own, true);
                }
            }
            Step::Requeue(number, is_own) => {
                if number < self.running.len() {
                    let (lane, place, _) = self.running.remove(number);
                    self.given.retain(|(_, job)| *job != place.job);
                    self.put(lane, place, is_own, true);
                }
            }
            Step::Steal(lane) => {
                let lane = lane as LaneId;
                if let Some(place) = self.lanes.entry(lane).or_default().pop_first() {
                    self.takings += 1;
                    self.running.push((lane, place, self.takings));
                }
            }
            Step::Arrive(number) => {
                let id = self.index.arrive(runner(number), String::new(), number);
                self.waiters.push(id);
            }
            Step::Hurry(number) => {
                if let Some(id) = self.waiters.get(number) {
                    self.told_nothing += usize::from(self.index.hurry(*id).is_some());
                }
            }
            Step::Vanish(number) => {
                if number < self.waiters.len() {
                    self.index.vanish(self.waiters.remove(number));
                }
            }
            Step::Order(most) => {
                let orders = self.index.orders(most);
                if !orders.is_empty() {
                    let since = self.index.now();
                    self.serving.push(Serving {
                        orders,
                        since,
                        results: None,
                    });
                }
            }
            Step::Commit(number) => self.commit(number),
            Step::Finish(number, is_low) => self.finish(number, is_low),
            Step::Read => {
                let known = self.index.known_lanes();
                let found = self.lanes.iter().filter_map(|(lane, places)| {
                    let first = *places.first()?;
                    let number = usize::try_from(*lane).unwrap();
                    Some((*lane, first, (!known.contains(lane)).then(|| needs(number))))
                });
                self.read = Some((found.collect(), self.index.now()));
            }
            Step::Refresh => {
                if let Some((found, since)) = self.read.take() {
                    self.index.refresh(found, since);
                }
            }
        }
    }

    /// The transaction takes what it finds.
    fn commit(&mut self, number: usize) {
        let Some(serving) = self.serving.get_mut(number).filter(|s| s.results.is_none()) else {
            return;
        };
        let mut results = Vec::new();
        for order in &serving.orders {
            let places = self.lanes.entry(order.lane).or_default();
            let asked = order.assignments.len();
            let seen: Vec<QueuePlace> = places.iter().take(asked).copied().collect();
            let mut given = Vec::new();
            for place in &seen {
                places.remove(place);
                self.takings += 1;
                self.running.push((order.lane, *place, self.takings));
                given.push(Some(self.takings));
            }
            given.resize(asked, None);
            let window = order.is_low.then(|| {
                let window: Vec<QueuePlace> = places.iter().take(2).copied().collect();
                let is_all = window.len() == places.len();
                (window, is_all)
            });
            let served = Served {
                asked,
                taken: seen.clone(),
                seen,
                window,
                is_unknown: false,
            };
            results.push((served, given));
        }
        serving.results = Some(results);
    }

    /// The server is told what came of it; sometimes the places that follow were not read.
    fn finish(&mut self, number: usize, is_low: bool) {
        if self
            .serving
            .get(number)
            .is_none_or(|serving| serving.results.is_none())
        {
            return;
        }
        let serving = self.serving.remove(number);
        let lanes: Vec<LaneId> = serving.orders.iter().map(|order| order.lane).collect();
        let results = serving.results.unwrap();
        for (lane, (served, _)) in lanes.iter().zip(&results) {
            let mut served = served.clone();
            if !is_low {
                served.window = None;
            }
            self.index.served(*lane, &served, serving.since);
        }
        for (order, (_, given)) in serving.orders.iter().zip(results) {
            for (assignment, taking) in order.assignments.iter().zip(given) {
                let Some(taking) = taking else {
                    let reply = self.index.not_given(assignment.waiter);
                    self.told_nothing += usize::from(reply.is_some());
                    continue;
                };
                let found = self.running.iter().position(|(.., one)| *one == taking);
                match (self.index.given(assignment.waiter, None), found) {
                    (Some(number), Some(found)) => {
                        self.given.push((number, self.running[found].1.job));
                    }
                    // It is gone: the job goes back.
                    (None, Some(found)) => {
                        let (lane, place, _) = self.running.remove(found);
                        self.put(lane, place, true, true);
                    }
                    // It was requeued before anybody heard of it.
                    _ => {}
                }
            }
        }
        self.told_nothing += self.index.go_on(&lanes).len();
    }

    /// Everything that is under way ends, and the index is refreshed until nothing comes of it.
    fn settle(&mut self) {
        for _ in 0..1000 {
            self.go(Step::Tell);
            self.go(Step::Read);
            self.go(Step::Refresh);
            if !self.serve_all() {
                return;
            }
        }
        panic!("it never ends");
    }

    /// Serves everyone who is assigned; says whether there was anyone.
    fn serve_all(&mut self) -> bool {
        for round in 0..1000 {
            self.go(Step::Order(3));
            if self.serving.is_empty() {
                return round > 0;
            }
            self.commit(0);
            self.finish(0, true);
        }
        panic!("it never ends");
    }

    fn may_take(number: usize, lane: LaneId) -> bool {
        needs(usize::try_from(lane).unwrap())
            .needs()
            .is_met_by(&runner(number))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn every_job_is_given_once_to_one_who_may_take_it(steps in vec(step(), 0..80)) {
        let mut model = Model::default();
        for step in steps {
            model.go(step);
            let lanes: BTreeMap<JobId, LaneId> =
                model.running.iter().map(|(lane, place, _)| (place.job, *lane)).collect();
            let jobs: BTreeSet<JobId> = model.given.iter().map(|(_, job)| *job).collect();
            prop_assert_eq!(jobs.len(), model.given.len(), "a job was given twice");
            for (number, job) in &model.given {
                prop_assert!(Model::may_take(*number, lanes[job]));
            }
        }
        // Nobody waits for whom there is a job.
        model.settle();
        let waiting = model.index.waiting_runners();
        for (lane, places) in &model.lanes {
            let lane_needs = needs(usize::try_from(*lane).unwrap());
            for number in 0..3 {
                let is_met = lane_needs.needs().is_met_by(&runner(number));
                let waits = waiting.contains(&(number as u64 + 1));
                prop_assert!(places.is_empty() || !is_met || !waits, "{lane} {places:?} {number}");
            }
        }
        // Every job is given to somebody who asks now.
        let left: usize = model.lanes.values().map(BTreeSet::len).sum();
        for _ in 0..left {
            for number in 0..3 {
                model.go(Step::Arrive(number));
            }
            model.settle();
        }
        let left: Vec<_> = model.lanes.values().flatten().collect();
        prop_assert!(left.is_empty(), "{left:?}");
        let jobs: BTreeSet<JobId> = model.given.iter().map(|(_, job)| *job).collect();
        prop_assert_eq!(jobs.len(), model.given.len());
    }

    /// Without other servers, taking alone is enough: no refresh is needed to find a job.
    #[test]
    fn what_this_server_did_needs_no_refresh(steps in vec(step(), 0..80)) {
        let mut model = Model::default();
        for step in steps {
            let step = match step {
                Step::Enqueue(lane, _, told) => Step::Enqueue(lane, true, told),
                Step::Cancel(number, _) => Step::Cancel(number, true),
                Step::Promote(number, _) => Step::Promote(number, true),
                Step::Requeue(number, _) => Step::Requeue(number, true),
                Step::Steal(_) => continue,
                other => other,
            };
            model.go(step);
        }
        model.go(Step::Tell);
        model.serve_all();
        let before: usize = model.lanes.values().map(BTreeSet::len).sum();
        for _ in 0..before {
            for number in 0..3 {
                model.go(Step::Arrive(number));
            }
            model.serve_all();
        }
        let left: Vec<_> = model.lanes.values().flatten().collect();
        prop_assert!(left.is_empty(), "{left:?}");
    }
}
