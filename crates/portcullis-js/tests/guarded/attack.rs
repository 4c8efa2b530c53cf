//! Objects that take threads for long, and what is left for others.

use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use portcullis_core::{PolicyLimit, clock};
use portcullis_js::{
    Evaluation, GlobalContext, Guard, GuardEvent, GuardListener, GuardOptions, GuardStatus, Input,
    NoHost, PolicyVerdict, Pool, PoolOptions,
};
use portcullis_testing::until_within;

use crate::start::command;
use crate::stuck::{busy, fine, limits, policies, rounds};
use crate::support::denied;

/// Records the events it receives.
#[derive(Debug, Default)]
pub(crate) struct Told(pub(crate) Mutex<Vec<String>>);

impl GuardListener for Told {
    fn noticed(&self, event: GuardEvent<'_>, _: &GuardStatus) {
        self.0.lock().unwrap().push(format!("{event:?}"));
    }
}

impl Told {
    pub(crate) fn has(&self, wanted: &str) -> bool {
        self.0.lock().unwrap().iter().any(|told| told == wanted)
    }
}

pub(crate) fn guarded(calm: Duration) -> (Pool, Guard, Arc<Told>) {
    let told = Arc::new(Told::default());
    let options = GuardOptions {
        calm,
        ..GuardOptions::new(command())
    };
    let guard = Guard::new(options, Some(Arc::clone(&told) as _));
    let options = PoolOptions {
        threads: 2,
        queue: 100,
    };
    let context = GlobalContext::new(0);
    let host = Arc::new(NoHost);
    let pool = Pool::build(policies(), limits(), options, context, host, guard.clone());
    pool.begin().unwrap();
    (pool, guard, told)
}

fn submit(pool: &Pool, input: Input, time: Duration) -> Receiver<Evaluation> {
    let (sender, receiver) = mpsc::channel();
    let deadline = clock::monotonic() + time;
    pool.submit(input, deadline, move |e| sender.send(e.unwrap()).unwrap())
        .unwrap();
    receiver
}

/// Asks until it is so; threads come back when a machine that has other things to do lets them.
#[track_caller]
pub(crate) fn until(what: &str, is_so: impl FnMut() -> bool) {
    until_within(what, Duration::from_secs(120), is_so);
}

/// Long enough for an ordinary evaluation on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn objects_of_one_asker_take_nothing_from_others() {
    let (pool, guard, told) = guarded(Duration::from_secs(600));
    let long = rounds(6.0);
    let answer = |input| submit(&pool, input, PATIENCE).recv().unwrap();
    assert_eq!(answer(fine("bob")).verdict, PolicyVerdict::Allow);
    let attack = || -> Vec<_> {
        let one = |_| submit(&pool, busy("eve", long), limits().deadline);
        (0..12).map(one).collect()
    };
    let first = attack();
    // While they compute, and the first threads are still to be given up.
    for _ in 0..20 {
        let e = answer(fine("bob"));
        assert_eq!(e.verdict, PolicyVerdict::Allow, "{e:?}");
    }
    for receiver in first {
        let e = receiver.recv().unwrap();
        assert_eq!(denied(&e).limit, Some(PolicyLimit::Deadline), "{e:?}");
    }
    // Two turns, and the share of one asker.
    assert!(pool.abandoned() <= 6, "{}", pool.abandoned());
    assert!(told.has(r#"Suspect("Stuck")"#), "{told:?}");
    assert_eq!(guard.status().suspects, ["Stuck"]);
    let lost = pool.abandoned();
    // Those that come now are killed, and take no more threads.
    for receiver in attack() {
        let e = receiver.recv().unwrap();
        assert_eq!(denied(&e).limit, Some(PolicyLimit::Deadline), "{e:?}");
    }
    assert!(pool.abandoned() <= lost, "{}", pool.abandoned());
    assert!(told.has(r#"Killed(Some("Stuck"))"#), "{told:?}");
    let e = answer(fine("bob"));
    assert_eq!(e.verdict, PolicyVerdict::Allow, "{e:?}");
    assert_eq!(guard.status().fault, None);
}

#[test]
fn one_that_is_stuck_is_noticed_before_its_deadline_and_named_after_it() {
    let (pool, guard, told) = guarded(Duration::from_secs(600));
    let receiver = submit(&pool, busy("eve", rounds(8.0)), Duration::from_secs(4));
    until("it is noticed", || guard.status().is_on());
    assert!(told.has(r#"Stuck(Some("Stuck"))"#), "{told:?}");
    assert!(receiver.try_recv().is_err(), "its time is not over");
    let e = receiver.recv().unwrap();
    assert!(denied(&e).denial.message.starts_with("Stuck: "), "{e:?}");
    until("a process is killed", || {
        let e = submit(&pool, busy("eve", rounds(8.0)), limits().deadline).recv();
        let e = e.unwrap();
        let denial = denied(&e);
        assert_eq!(denial.limit, Some(PolicyLimit::Deadline));
        denial.denial.message.starts_with("Stuck: ") && told.has(r#"Killed(Some("Stuck"))"#)
    });
}

#[test]
fn a_long_loop_is_not_taken_for_stuck() {
    let told = Arc::new(Told::default());
    let guard = Guard::new(GuardOptions::new(command()), Some(Arc::clone(&told) as _));
    let options = PoolOptions {
        threads: 1,
        queue: 10,
    };
    let set = crate::support::set("", &[("Loop", "for (;;);")]);
    let context = GlobalContext::new(0);
    let host = Arc::new(NoHost);
    let pool = Pool::build(set, limits(), options, context, host, guard.clone());
    pool.begin().unwrap();
    let e = submit(&pool, fine("bob"), limits().deadline)
        .recv()
        .unwrap();
    assert_eq!(denied(&e).limit, Some(PolicyLimit::Deadline), "{e:?}");
    assert!(!guard.status().is_on(), "{told:?}");
}
