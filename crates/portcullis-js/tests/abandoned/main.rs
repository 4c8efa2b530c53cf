//! Too many evaluations that do not come back. A separate program, because they use up the
//! machine while they run.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that can't go on has failed"
)]

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use portcullis_core::PolicyLimit;
use portcullis_core::clock::{self, Stopwatch};
use portcullis_js::{
    GlobalContext, Input, Limits, NoHost, PolicySet, PolicySource, PolicyVerdict, Pool, PoolError,
    PoolOptions, Sources,
};
use serde_json::json;

/// Digits of a large integer, for which there is no call that could be replaced.
const LONG: &str = "if (object.fine) return true;
    const n = 3n ** BigInt(object.size); return `${n}${n}${n}${n}${n}${n}`.length > 0";

/// How large the integer must be for about two seconds on this machine.
fn long_enough(set: &PolicySet) -> u64 {
    const TRIAL: u32 = 10_000;
    let options = PoolOptions {
        threads: 1,
        queue: 1,
    };
    let limits = Limits {
        deadline: Duration::from_secs(60),
        ..Limits::default()
    };
    let context = GlobalContext::new(0);
    let pool = Pool::start(set.clone(), limits, options, context, Arc::new(NoHost)).unwrap();
    pool.evaluate(Input::new(&json!({"fine": 1}))).unwrap();
    let watch = Stopwatch::start();
    pool.evaluate(Input::new(&json!({"size": TRIAL}))).unwrap();
    let factor = (2.0 / watch.elapsed().as_secs_f64()).sqrt();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rough figure"
    )]
    let size = (f64::from(TRIAL) * factor) as u64;
    size.min(650_000)
}

#[test]
fn when_too_many_were_given_up_nothing_new_begins_until_they_end() {
    const MANY: usize = 8;
    let sources = Sources {
        policies: vec![PolicySource::body("P", LONG)],
        ..Sources::default()
    };
    let limits = Limits {
        deadline: Duration::from_millis(50),
        ..Limits::default()
    };
    let options = PoolOptions {
        threads: MANY,
        queue: 100,
    };
    let set = PolicySet::compile(&sources).unwrap();
    let size = long_enough(&set);
    let context = GlobalContext::new(0);
    let pool = Pool::start(set, limits, options, context, Arc::new(NoHost)).unwrap();
    // All threads are to be at work when the time is over, none still getting ready.
    while pool.realms_made() < MANY as u64 {
        thread::sleep(Duration::from_millis(10));
    }
    let (sender, receiver) = mpsc::channel();
    let deadline = clock::monotonic() + Duration::from_secs(1);
    for _ in 0..MANY {
        let sender = sender.clone();
        let answer = move |e: Result<_, _>| sender.send(e).unwrap();
        pool.submit(Input::new(&json!({"size": size})), deadline, answer)
            .unwrap();
    }
    for _ in 0..MANY {
        let e = receiver.recv().unwrap().unwrap();
        let limit = e.denial().and_then(|d| d.limit);
        assert_eq!(limit, Some(PolicyLimit::Deadline), "{e:?}");
    }
    assert_eq!(pool.abandoned(), MANY);
    let refused = pool.submit(Input::new(&json!({})), clock::monotonic(), |_| {});
    assert_eq!(refused, Err(PoolError::TooManyAbandoned));
    while pool.abandoned() > 0 {
        thread::sleep(Duration::from_millis(10));
    }
    let (sender, receiver) = mpsc::channel();
    let deadline = clock::monotonic() + Duration::from_secs(20);
    pool.submit(Input::new(&json!({"fine": 1})), deadline, move |e| {
        sender.send(e).unwrap();
    })
    .unwrap();
    let e = receiver.recv().unwrap().unwrap();
    assert_eq!(e.verdict, PolicyVerdict::Allow);
}
