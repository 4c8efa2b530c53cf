//! When evaluations run in threads again, and what is left of the processes.

use std::time::Duration;

use portcullis_js::{PolicyVerdict, PoolError};

use crate::attack::{guarded, until};
use crate::stuck::{busy, fine, rounds};
use crate::support::patiently;

/// The processes that this one started and that have not ended.
pub(crate) fn children() -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap();
    let numbers = all.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let own = std::process::id().to_string();
    let is_own = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name before it may have anything in it.
        let rest = stat
            .rsplit_once(')')
            .map(|(_, rest)| rest)
            .unwrap_or_default();
        rest.split_whitespace().nth(1) == Some(own.as_str())
    };
    numbers.filter(is_own).collect()
}

#[test]
fn it_ends_when_threads_are_back_and_it_was_quiet() {
    let (pool, guard, told) = guarded(Duration::from_millis(300));
    let e = pool.evaluate(busy("eve", rounds(6.0))).unwrap();
    assert!(e.denial().is_some(), "{e:?}");
    until("it is noticed", || told.has(r#"Suspect("Stuck")"#));
    until("the thread comes back", || pool.abandoned() == 0);
    until("it ends", || !guard.status().is_on());
    until("it is told", || told.has("CameBack") && told.has("Ended"));
    let e = patiently(&pool, fine("bob"));
    assert_eq!(e.verdict, PolicyVerdict::Allow);
}

#[test]
fn a_pool_that_was_not_begun_has_no_threads_and_evaluates_nothing() {
    let options = portcullis_js::PoolOptions {
        threads: 2,
        queue: 10,
    };
    let pool = portcullis_js::Pool::build(
        crate::stuck::policies(),
        crate::stuck::limits(),
        options,
        portcullis_js::GlobalContext::new(0),
        std::sync::Arc::new(portcullis_js::NoHost),
        portcullis_js::Guard::none(),
    );
    assert_eq!((pool.threads(), pool.realms_made()), (0, 0));
    assert_eq!(pool.evaluate(fine("bob")), Err(PoolError::NotStarted));
    pool.begin().unwrap();
    assert_eq!(patiently(&pool, fine("bob")).verdict, PolicyVerdict::Allow);
}
