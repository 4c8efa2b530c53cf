//! Merging small batches.

use std::time::Duration;

use portcullis_store::{Filter, Mark, Store};

use crate::place::Place;
use crate::records::{append, at, id, ids, line, simple};

crate::on_both!(
    small_batches_become_few_and_nothing_else_changes,
    young_ones_are_left_alone,
    few_wait_for_more,
    a_merged_batch_spans_an_hour_at_most,
    gaps_are_not_bridged,
    merging_again_and_again_ends,
);

/// Long after all that is stored here.
const LATER: u64 = 1_000_000_000;

fn append_singly(store: &mut Store, range: std::ops::Range<u64>) {
    for place in range {
        append(store, &simple(place..place + 1));
    }
}

fn batches(store: &mut Store) -> u64 {
    store.statistics().unwrap().batches
}

fn small_batches_become_few_and_nothing_else_changes(place: &Place) {
    let mut store = place.open();
    append_singly(&mut store, 0..600);
    let before = store.list(&Filter::default(), &page(600)).unwrap();
    let middle = Mark::from_number(300);
    let followed = store.after(middle, &Filter::default(), 1000).unwrap();
    let merged = store.consolidate(at(LATER)).unwrap();
    // 600 in batches of 256.
    assert_eq!(batches(&mut store), 3);
    assert_eq!(merged, 597);
    assert_eq!(store.list(&Filter::default(), &page(600)).unwrap(), before);
    assert_eq!(
        store.after(middle, &Filter::default(), 1000).unwrap(),
        followed
    );
    assert_eq!(store.count(&Filter::default()).unwrap(), 600);
    for summary in simple(0..600).iter().step_by(37) {
        assert_eq!(store.get(&summary.id).unwrap(), Some(line(summary)));
    }
    // A follower who saw everything gets nothing again, and what comes next.
    let newest = store.newest().unwrap();
    append(&mut store, &simple(600..601));
    let (found, _) = store.after(newest, &Filter::default(), 10).unwrap();
    assert_eq!(found, simple(600..601));
}

fn page(limit: usize) -> portcullis_store::Page {
    portcullis_store::Page { after: None, limit }
}

fn young_ones_are_left_alone(place: &Place) {
    let mut store = place.open();
    append_singly(&mut store, 0..40);
    assert_eq!(store.consolidate(at(59_000)).unwrap(), 0);
    // Those older than a minute are 0 to 19.
    assert_eq!(store.consolidate(at(60_020)).unwrap(), 19);
    assert_eq!(batches(&mut store), 21);
}

fn few_wait_for_more(place: &Place) {
    let mut store = place.open();
    append_singly(&mut store, 0..10);
    assert_eq!(store.consolidate(at(LATER)).unwrap(), 0);
    append_singly(&mut store, 10..30);
    assert_eq!(store.consolidate(at(LATER)).unwrap(), 29);
    // What is merged but not full takes more.
    append_singly(&mut store, 30..50);
    assert_eq!(store.consolidate(at(LATER)).unwrap(), 20);
    assert_eq!(batches(&mut store), 1);
    assert_eq!(ids(&mut store, &Filter::default()).len(), 50);
}

fn a_merged_batch_spans_an_hour_at_most(place: &Place) {
    let mut store = place.open();
    let minute = 60_000;
    for place in 0..150 {
        append(&mut store, &simple(place * minute..place * minute + 1));
    }
    store.consolidate(at(LATER)).unwrap();
    // 0 to 60, 61 to 121, and the rest.
    assert_eq!(batches(&mut store), 3);
    let age = Some(Duration::ZERO);
    let retention = portcullis_store::Retention { age, size: None };
    let pruned = store.prune(&retention, at(61 * minute)).unwrap();
    assert_eq!((pruned.batches, pruned.decisions), (1, 61));
}

fn gaps_are_not_bridged(place: &Place) {
    let mut store = place.open();
    // Those in the middle are the oldest, and go first.
    append_singly(&mut store, 500_000..500_020);
    append_singly(&mut store, 0..30);
    append_singly(&mut store, 400_000..400_020);
    let retention = portcullis_store::Retention {
        age: Some(Duration::from_millis(1)),
        size: None,
    };
    assert_eq!(store.prune(&retention, at(100)).unwrap().decisions, 30);
    store.consolidate(at(LATER)).unwrap();
    assert_eq!(batches(&mut store), 2);
    for place in (500_000..500_020).chain(400_000..400_020) {
        let expected = line(&simple(place..place + 1)[0]);
        assert_eq!(store.get(&id(place, 7)).unwrap(), Some(expected));
    }
}

fn merging_again_and_again_ends(place: &Place) {
    let mut store = place.open();
    append_singly(&mut store, 0..600);
    append(&mut store, &simple(1_000..1_200));
    append_singly(&mut store, 2_000..2_020);
    store.consolidate(at(LATER)).unwrap();
    let settled = batches(&mut store);
    assert_eq!(store.consolidate(at(LATER)).unwrap(), 0);
    assert_eq!(batches(&mut store), settled);
    assert_eq!(settled, 5);
}
