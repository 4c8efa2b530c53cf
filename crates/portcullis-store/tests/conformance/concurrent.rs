//! Concurrent writers and readers.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use portcullis_record::Answer;
use portcullis_store::{Filter, Mark, Page};

use crate::place::Place;
use crate::records::{append, at, id, line, summary};

crate::on_both!(
    nothing_is_lost_or_doubled_by_many,
    one_batch_given_by_many_is_stored_once,
);

const WRITERS: u64 = 4;
const BATCHES: u64 = 30;
const SIZE: u64 = 5;

fn nothing_is_lost_or_doubled_by_many(place: &Place) {
    drop(place.open());
    let total = WRITERS * BATCHES * SIZE;
    let done = AtomicBool::new(false);
    let mut followed = Vec::new();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                scope.spawn(move || {
                    let mut store = place.open();
                    for batch in 0..BATCHES {
                        let summaries: Vec<_> = (0..SIZE)
                            .map(|item| summary(id(batch, writer * 1000 + item)))
                            .collect();
                        append(&mut store, &summaries);
                    }
                })
            })
            .collect();
        // One thread keeps merging.
        let upkeep = scope.spawn(|| {
            let mut store = place.open();
            while !done.load(Ordering::Relaxed) {
                store.consolidate(at(1_000_000_000)).unwrap();
                std::thread::yield_now();
            }
        });
        // One keeps reading single ones: whatever is listed can be read completely.
        let reader = scope.spawn(|| {
            let mut store = place.read_only().unwrap();
            while !done.load(Ordering::Relaxed) {
                let page = Page {
                    after: None,
                    limit: 5,
                };
                for summary in store.list(&Filter::default(), &page).unwrap().items {
                    assert_eq!(store.get(&summary.id).unwrap(), Some(line(&summary)));
                }
            }
        });
        // One follows from the beginning.
        let mut store = place.read_only().unwrap();
        let mut mark = Mark::default();
        loop {
            let finished = writers
                .iter()
                .all(std::thread::ScopedJoinHandle::is_finished);
            let (found, next) = store.after(mark, &Filter::default(), 17).unwrap();
            let end = found.is_empty() && finished;
            followed.extend(found.into_iter().map(|summary| summary.id));
            mark = next;
            if end {
                break;
            }
        }
        done.store(true, Ordering::Relaxed);
        for thread in writers.into_iter().chain([upkeep, reader]) {
            thread.join().unwrap();
        }
    });
    assert_eq!(followed.len() as u64, total);
    let distinct: HashSet<&String> = followed.iter().collect();
    assert_eq!(distinct.len() as u64, total);
    let mut store = place.open();
    assert_eq!(store.count(&Filter::default()).unwrap(), total);
    for id in &followed {
        let line = store.get(id).unwrap().unwrap();
        assert!(line.contains(&format!("everything about {id}")));
    }
}

fn one_batch_given_by_many_is_stored_once(place: &Place) {
    drop(place.open());
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(move || {
                let mut store = place.open();
                for batch in 0..10 {
                    let mut summary = summary(id(batch, 1));
                    summary.verdict = Answer::Deny;
                    append(&mut store, &[summary]);
                }
            });
        }
    });
    let mut store = place.open();
    assert_eq!(store.count(&Filter::default()).unwrap(), 10);
    assert_eq!(store.newest().unwrap().number(), 10);
    let denied = Filter {
        verdict: Some(Answer::Deny),
        ..Filter::default()
    };
    assert_eq!(store.count(&denied).unwrap(), 10);
}
