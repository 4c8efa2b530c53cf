//! `ac.GlobalContext`.

use std::sync::Arc;
use std::thread;

use portcullis_js::{GlobalContext, NoHost, PoolOptions};
use serde_json::json;

use crate::support::*;

#[test]
fn case_24_it_counts() {
    let pool = pool(
        "",
        &[(
            "P",
            "ac.GlobalContext.n = (ac.GlobalContext.n || 0) + 1; return 'n=' + ac.GlobalContext.n",
        )],
    );
    for n in 1..=3 {
        let e = pool.evaluate(input(pod())).unwrap();
        assert_eq!(denied(&e).denial.message, format!("P: n={n}"));
    }
}

#[test]
fn counting_from_many_threads_loses_nothing_and_it_outlives_the_pool() {
    let context = GlobalContext::new(1000);
    let code = "const g = ac.GlobalContext; const n = g.n || 0; for (let i = 0; i < 1000; i++); g.n = n + 1";
    let start = || {
        let options = PoolOptions {
            threads: 3,
            queue: 100,
        };
        let set = set("", &[("P", code)]);
        let host = Arc::new(NoHost);
        Arc::new(crate::start::start(
            set,
            limits(),
            options,
            context.clone(),
            host,
        ))
    };
    for round in 1..=2 {
        let pool = start();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let pool = Arc::clone(&pool);
                thread::spawn(move || {
                    (0..25).for_each(|_| drop(pool.evaluate(input(pod())).unwrap()))
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(*context.value(), json!({"n": 100 * round}));
    }
}

#[test]
fn past_its_cap_it_refuses_and_stays_as_it_was() {
    let context = GlobalContext::new(100);
    let code = "ac.GlobalContext.a = 'x'.repeat(object.n); return true";
    let options = PoolOptions {
        threads: 1,
        queue: 1,
    };
    let (set, host) = (set("", &[("P", code)]), Arc::new(NoHost));
    let pool = crate::start::start(set, limits(), options, context.clone(), host);
    pool.evaluate(input(json!({"n": 10}))).unwrap();
    let before = context.value();
    for n in [101, 100_000] {
        let e = pool.evaluate(input(json!({"n": n}))).unwrap();
        assert!(
            denied(&e)
                .denial
                .message
                .contains("GlobalContext would be larger"),
            "{e:?}"
        );
    }
    assert_eq!(context.value(), before);
}

#[test]
fn it_holds_data_only() {
    assert!(message("ac.GlobalContext.f = () => 1; return true").contains("/f"));
}

#[test]
fn writing_past_the_cap_throws_where_it_is_written() {
    let code = r"
        const g = ac.GlobalContext
        try { g[object.key] = 'x'.repeat(300 * 1024) } catch (e) {
            return 'full: ' + e.name + ', first ' + g.k0.length + ', keys ' + Object.keys(g).length
        }
        return 'kept'";
    let pool = pool("", &[("P", code)]);
    let said: Vec<String> = (0..5)
        .map(|i| {
            let evaluation = pool.evaluate(input(serde_json::json!({"key": format!("k{i}")})));
            denied(&evaluation.unwrap()).denial.message.clone()
        })
        .collect();
    assert_eq!(
        said[..3],
        ["P: kept", "P: kept", "P: kept"].map(str::to_owned)
    );
    assert_eq!(said[4], "P: full: RangeError, first 307200, keys 3");
}
