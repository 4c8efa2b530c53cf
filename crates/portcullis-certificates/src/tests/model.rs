//! Rotations as a whole, by several replicas whose rounds interleave in any order, with clients that learn of a
//! change of a bundle late.
//!
//! The claim: whatever happens, every certificate that a replica which is ready serves is trusted by the bundles as
//! they are published, and as any client may still know them. A bundle that was overwritten from outside is exempt
//! until it is repaired.

use std::time::{Duration, Instant, SystemTime};

use portcullis_core::clock;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{seconds, start, terms};
use crate::contents::{Contents, Data};
use crate::plan::apply;
use crate::rotation::{Bundle, Look, Moment, Rotation, Round, Seen};
use crate::{Certificate, Terms};

const REPLICAS: usize = 3;
const ENTRIES: usize = 2;
/// A Secret may be deleted so often: authorities are taken over from bundles up to a limit.
const DELETIONS: usize = 3;

/// Something that happens.
#[derive(Debug, Clone)]
enum Event {
    /// A replica does the next part of its round.
    Act(usize),
    /// Time passes.
    Pass(u64),
    /// A replica is replaced by a new one.
    Restart(usize),
    /// A replica can't reach the cluster, or can again.
    Toggle(usize),
    /// The Secret is deleted.
    Delete,
    /// A bundle is overwritten.
    Reset(usize),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        60 => (0..REPLICAS).prop_map(Event::Act),
        12 => (1..40u64).prop_map(Event::Pass),
        2 => (0..REPLICAS).prop_map(Event::Restart),
        2 => (0..REPLICAS).prop_map(Event::Toggle),
        1 => Just(Event::Delete),
        1 => (0..ENTRIES).prop_map(Event::Reset),
    ]
}

/// An entry of the webhook configuration.
#[derive(Debug, Default)]
struct Entry {
    /// What it was, and since when; the last one is what it is.
    history: Vec<(Duration, Bundle)>,
    /// Overwritten from outside, and not repaired yet.
    is_reset: bool,
}

impl Entry {
    fn bundle(&self) -> Bundle {
        self.history
            .last()
            .map(|(_, bundle)| bundle.clone())
            .unwrap_or_default()
    }
}

/// How far a replica is with its round.
#[derive(Debug, Default)]
enum Progress {
    #[default]
    Idle,
    ReadBundles(u64, Vec<Bundle>),
    Looked(Box<Looked>),
}

#[derive(Debug)]
struct Looked {
    bundles_version: u64,
    secret_version: u64,
    contents: Option<Contents>,
    round: Round,
    has_published: bool,
}

#[derive(Debug, Default)]
struct Replica {
    rotation: Rotation,
    progress: Progress,
    is_offline: bool,
}

struct World {
    terms: Terms,
    epoch: Instant,
    elapsed: Duration,
    /// What is stored, with its version.
    secret: Option<Data>,
    secret_version: u64,
    entries: Vec<Entry>,
    bundles_version: u64,
    replicas: Vec<Replica>,
    deletions: usize,
    steps: Vec<String>,
}

impl World {
    fn new() -> Self {
        Self {
            terms: terms(),
            epoch: clock::monotonic(),
            elapsed: Duration::ZERO,
            secret: None,
            secret_version: 0,
            entries: (0..ENTRIES).map(|_| Entry::default()).collect(),
            bundles_version: 0,
            replicas: (0..REPLICAS).map(|_| Replica::default()).collect(),
            deletions: 0,
            steps: Vec::new(),
        }
    }

    fn wall(&self) -> SystemTime {
        start() + self.elapsed
    }

    fn apply(&mut self, event: &Event) {
        match event {
            Event::Act(replica) => self.act(*replica),
            Event::Pass(time) => self.elapsed += seconds(*time),
            Event::Restart(replica) => self.replicas[*replica] = Replica::default(),
            Event::Toggle(replica) => {
                let replica = &mut self.replicas[*replica];
                replica.is_offline = !replica.is_offline;
            }
            Event::Delete => self.delete(),
            Event::Reset(entry) => self.reset(*entry),
        }
    }

    /// Two losses at once are more than can be made good.
    fn delete(&mut self) {
        let is_whole = self.entries.iter().all(|entry| !entry.is_reset);
        if is_whole && self.deletions < DELETIONS && self.secret.take().is_some() {
            self.deletions += 1;
            self.secret_version += 1;
        }
    }

    fn reset(&mut self, entry: usize) {
        if self.secret.is_none() {
            return;
        }
        self.bundles_version += 1;
        self.entries[entry] = Entry {
            history: vec![(self.elapsed, b"reset".to_vec())],
            is_reset: true,
        };
    }

    fn act(&mut self, number: usize) {
        if self.replicas[number].is_offline {
            return;
        }
        let progress = std::mem::take(&mut self.replicas[number].progress);
        self.replicas[number].progress = match progress {
            Progress::Idle => {
                let bundles = self.entries.iter().map(Entry::bundle).collect();
                Progress::ReadBundles(self.bundles_version, bundles)
            }
            Progress::ReadBundles(version, bundles) => self.look(number, version, &bundles),
            Progress::Looked(mut looked) if !looked.has_published => {
                self.publish(&looked);
                looked.has_published = true;
                Progress::Looked(looked)
            }
            Progress::Looked(looked) => {
                self.change_secret(&looked);
                Progress::Idle
            }
        };
    }

    fn look(&mut self, number: usize, bundles_version: u64, bundles: &[Bundle]) -> Progress {
        let now = Moment {
            wall: self.wall(),
            monotonic: self.epoch + self.elapsed,
        };
        let contents = Contents::read(self.secret.as_ref().unwrap_or(&Data::new()));
        // As the caller must: what was published until the Secret went is known only afterwards.
        let again: Vec<Bundle> = self.entries.iter().map(Entry::bundle).collect();
        let bundles = if contents.is_ok() { bundles } else { &again };
        let look = Look {
            now,
            terms: &self.terms,
            seen: Seen {
                bundles: Some(bundles),
                contents: contents.as_ref(),
                names: &self.terms.names,
            },
        };
        let round = self.replicas[number].rotation.look(&look);
        Progress::Looked(Box::new(Looked {
            bundles_version,
            secret_version: self.secret_version,
            contents: contents.ok(),
            round,
            has_published: false,
        }))
    }

    fn publish(&mut self, looked: &Looked) {
        let Some(bundle) = &looked.round.publish else {
            return;
        };
        let is_other = |entry: &Entry| entry.bundle() != bundle.as_bytes();
        if looked.bundles_version != self.bundles_version || !self.entries.iter().any(is_other) {
            return;
        }
        self.bundles_version += 1;
        for entry in &mut self.entries {
            if entry.is_reset {
                entry.history.clear();
                entry.is_reset = false;
            }
            entry
                .history
                .push((self.elapsed, bundle.clone().into_bytes()));
        }
    }

    fn change_secret(&mut self, looked: &Looked) {
        let Some(step) = &looked.round.step else {
            return;
        };
        if looked.secret_version != self.secret_version {
            return;
        }
        let now = self.wall();
        let before = looked.contents.as_ref();
        let after = apply(step, before, &self.terms.names, &self.terms, now).unwrap();
        let data = self.secret.get_or_insert_default();
        after.write(data);
        self.secret_version += 1;
        self.steps.push(format!("{:?} {step}", self.elapsed));
    }

    /// What clients may know of an entry: what it is, and what it was within the time they may take to learn of it.
    fn known(&self, entry: &Entry) -> Vec<Bundle> {
        let lag = self.terms.settling();
        let since = self.elapsed.saturating_sub(lag);
        let mut known = Vec::new();
        for (place, (_, bundle)) in entry.history.iter().enumerate() {
            let until = entry.history.get(place + 1).map(|(next, _)| *next);
            if until.is_none_or(|until| until > since) {
                known.push(bundle.clone());
            }
        }
        known
    }

    /// The claim.
    fn check(&self) -> Result<(), String> {
        for (number, replica) in self.replicas.iter().enumerate() {
            let Some(served) = replica.rotation.served() else {
                continue;
            };
            if !replica.rotation.is_trusted() || served.is_over(self.wall()) {
                continue;
            }
            for entry in self.entries.iter().filter(|entry| !entry.is_reset) {
                for bundle in self.known(entry) {
                    let trusted = Certificate::all_from_pem(&bundle).unwrap_or_default();
                    if !trusted
                        .iter()
                        .any(|one| one.has_signed(served) && !one.is_over(self.wall()))
                    {
                        let steps = self.steps.join(", ");
                        return Err(format!(
                            "after {:?}: replica {number} serves what is not trusted ({steps})",
                            self.elapsed
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// All replicas work as they should for a while: no certificate may come near its end.
    fn calm(&mut self, time: Duration) -> Result<(), String> {
        for replica in &mut self.replicas {
            replica.is_offline = false;
        }
        let end = self.elapsed + time;
        let settled = self.elapsed + self.terms.renew_before;
        while self.elapsed < end {
            for number in 0..REPLICAS {
                for _ in 0..4 {
                    self.act(number);
                    self.check()?;
                }
            }
            self.elapsed += seconds(2);
            self.check()?;
            for replica in &self.replicas {
                let served = replica.rotation.served();
                let soon = self.wall() + self.terms.renew_before / 2;
                let is_good = served.is_some_and(|served| !served.is_over(soon));
                if self.elapsed > settled && !(is_good && replica.rotation.is_trusted()) {
                    let steps = self.steps.join(", ");
                    return Err(format!("after {:?}: {served:?} ({steps})", self.elapsed));
                }
            }
        }
        Ok(())
    }
}

#[test]
fn replicas_that_start_at_once_agree_and_rotate_on_and_on() {
    let mut world = World::new();
    world.calm(seconds(2000)).unwrap();
    let count = |what: &str| {
        world
            .steps
            .iter()
            .filter(|step| step.ends_with(what))
            .count()
    };
    assert_eq!(count("CA and certificate created"), 1, "{:?}", world.steps);
    let switched = count("certificate of the next CA created");
    // An authority lasts 400 s, of which it signs for 270.
    assert!((6..=8).contains(&switched), "{:?}", world.steps);
    assert_eq!(count("next CA created, not used yet"), switched);
    assert!(count("expired CA certificate removed") >= switched - 1);
    assert!(count("certificate renewed") > 15);
    let contents = Contents::read(world.secret.as_ref().unwrap()).unwrap();
    assert!(contents.trusted().len() <= 3);
}

#[test]
fn a_replica_without_access_is_trusted_to_the_end_of_its_certificate() {
    let mut world = World::new();
    world.calm(seconds(255)).unwrap();
    world.replicas[2].is_offline = true;
    let until = world.replicas[2].rotation.served().unwrap().not_after();
    let mut looks = 0;
    while world.wall() < until {
        for number in 0..2 {
            for _ in 0..4 {
                world.act(number);
                world.check().unwrap();
            }
        }
        world.elapsed += seconds(1);
        world.check().unwrap();
        looks += 1;
    }
    assert!(looks > 30, "{looks}");
    let switched = world
        .steps
        .iter()
        .any(|step| step.ends_with("next CA created"));
    assert!(switched || world.steps.len() > 4, "{:?}", world.steps);
}

#[test]
fn a_replica_that_comes_back_late_is_not_trusted_before_its_new_authority_is_published() {
    let mut world = World::new();
    world.calm(seconds(10)).unwrap();
    assert!(world.replicas[2].rotation.is_trusted());
    world.elapsed += world.terms.validity * 2;
    world.delete();
    for _ in 0..4 {
        world.act(0);
    }
    for _ in 0..2 {
        world.act(2);
    }
    let rotation = &world.replicas[2].rotation;
    let offered = Contents::read(world.secret.as_ref().unwrap()).unwrap();
    assert_eq!(rotation.served(), Some(&offered.serving().certificate));
    assert!(!rotation.is_trusted());
    world.calm(seconds(100)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_served_is_always_trusted(events in vec(event(), 0..400)) {
        let mut world = World::new();
        for event in &events {
            world.apply(event);
            prop_assert_eq!(world.check(), Ok(()), "{:?}", event);
        }
        prop_assert_eq!(world.calm(seconds(500)), Ok(()));
    }
}
