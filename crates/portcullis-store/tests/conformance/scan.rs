//! Reading full lines from the oldest on.

use std::ops::ControlFlow;

use portcullis_record::{Answer, Summary};
use portcullis_store::{Filter, Store};

use crate::place::Place;
use crate::records::{append, at, line, simple};

crate::on_both!(
    all_lines_come_in_the_order_stored,
    only_what_matches_comes,
    a_scan_ends_when_told,
    merging_meanwhile_changes_nothing,
    deleting_meanwhile_does_no_harm,
    more_batches_than_one_step,
);

fn scanned(store: &mut Store, filter: &Filter) -> Vec<String> {
    let mut all = Vec::new();
    let each = &mut |lines: Vec<String>| {
        assert!(!lines.is_empty());
        all.extend(lines);
        ControlFlow::Continue(())
    };
    store.scan(filter, each).unwrap();
    all
}

fn lines(summaries: &[Summary]) -> Vec<String> {
    summaries.iter().map(line).collect()
}

fn all_lines_come_in_the_order_stored(place: &Place) {
    let mut store = place.open();
    assert_eq!(scanned(&mut store, &Filter::default()), [] as [&str; 0]);
    append(&mut store, &simple(5..9));
    append(&mut store, &simple(0..5));
    let expected = [simple(5..9), simple(0..5)].concat();
    assert_eq!(scanned(&mut store, &Filter::default()), lines(&expected));
}

fn only_what_matches_comes(place: &Place) {
    let mut store = place.open();
    let mut all = simple(0..30);
    for summary in all.iter_mut().step_by(4) {
        summary.verdict = Answer::Deny;
    }
    for batch in all.chunks(7) {
        append(&mut store, batch);
    }
    let filter = Filter {
        verdict: Some(Answer::Deny),
        since: Some(at(3)),
        until: Some(at(20)),
        ..Filter::default()
    };
    let expected = [4, 8, 12, 16].map(|place| line(&all[place]));
    assert_eq!(scanned(&mut store, &filter), expected);
    let later = Filter {
        since: Some(at(1000)),
        ..Filter::default()
    };
    assert_eq!(scanned(&mut store, &later), [] as [&str; 0]);
    let earlier = Filter {
        until: Some(at(0)),
        ..Filter::default()
    };
    assert_eq!(scanned(&mut store, &earlier), [] as [&str; 0]);
}

fn a_scan_ends_when_told(place: &Place) {
    let mut store = place.open();
    for start in 0..5 {
        append(&mut store, &simple(start * 3..start * 3 + 3));
    }
    let mut times = 0;
    let each = &mut |_: Vec<String>| {
        times += 1;
        if times == 2 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    store.scan(&Filter::default(), each).unwrap();
    assert_eq!(times, 2);
}

fn merging_meanwhile_changes_nothing(place: &Place) {
    let mut store = place.open();
    let all = simple(0..100);
    for batch in all.chunks(1) {
        append(&mut store, batch);
    }
    for filter in [
        Filter::default(),
        Filter {
            user: Some("alice".into()),
            ..Filter::default()
        },
    ] {
        let mut other = place.open();
        let mut found = Vec::new();
        let each = &mut |lines: Vec<String>| {
            found.extend(lines);
            if found.len() == 10 {
                other.consolidate(at(10_000_000)).unwrap();
            }
            ControlFlow::Continue(())
        };
        store.scan(&filter, each).unwrap();
        assert_eq!(found, lines(&all));
    }
    assert!(store.statistics().unwrap().batches < 10);
}

fn deleting_meanwhile_does_no_harm(place: &Place) {
    let mut store = place.open();
    let all = simple(0..200);
    for batch in all.chunks(1) {
        append(&mut store, batch);
    }
    let mut other = place.open();
    let mut found = Vec::new();
    let each = &mut |lines: Vec<String>| {
        found.extend(lines);
        if found.len() == 10 {
            let retention = portcullis_store::Retention {
                age: Some(std::time::Duration::ZERO),
                size: None,
            };
            other.prune(&retention, at(100)).unwrap();
        }
        ControlFlow::Continue(())
    };
    store.scan(&Filter::default(), each).unwrap();
    assert_eq!(found, lines(&[&all[..10], &all[100..]].concat()));
}

fn more_batches_than_one_step(place: &Place) {
    let mut store = place.open();
    let all = simple(0..300);
    for batch in all.chunks(2) {
        append(&mut store, batch);
    }
    assert_eq!(scanned(&mut store, &Filter::default()), lines(&all));
}
