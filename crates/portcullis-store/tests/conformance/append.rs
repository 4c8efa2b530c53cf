//! Storing decisions, and reading them back unchanged.

use portcullis_core::Door;
use portcullis_record::Answer;
use portcullis_store::{Entry, Filter};

use crate::place::Place;
use crate::records::{append, id, ids, line, listed, simple, summary};

crate::on_both!(
    what_is_stored_comes_back_whole,
    nothing_comes_of_nothing,
    a_batch_given_again_changes_nothing,
    the_first_of_two_with_one_id_stays,
    a_batch_with_one_id_twice_keeps_the_first,
    what_overlaps_is_stored_once,
    a_batch_bigger_than_a_body_is_cut,
    an_unknown_id_is_nothing,
    digests_are_found_again_by_others,
);

fn what_is_stored_comes_back_whole(place: &Place) {
    let mut full = summary(id(1, 1));
    full.door = Door::Authorization;
    full.verdict = Answer::Deny;
    full.mutated = true;
    full.message = "no: it's \"privileged\"\nreally".into();
    full.plugin = Some("PodSecurity".into());
    full.policy = Some("baseline".into());
    full.digest = Some("sha256:one".into());
    full.gate = None;
    full.duration_us = 987_654_321;
    full.warnings = vec!["one".into(), "two\nlines".into()];
    full.concerned = vec!["PodSecurity".into(), "a,b".into()];
    full.traceparent = Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".into());
    let all = [full, summary(id(2, 1))];
    let mut store = place.open();
    append(&mut store, &all);
    drop(store);
    let mut store = place.open();
    let newest_first = [all[1].clone(), all[0].clone()];
    assert_eq!(listed(&mut store, &Filter::default(), 10), newest_first);
    for summary in &all {
        assert_eq!(store.get(&summary.id).unwrap(), Some(line(summary)));
    }
}

fn nothing_comes_of_nothing(place: &Place) {
    let mut store = place.open();
    store.append(&[]).unwrap();
    assert_eq!(listed(&mut store, &Filter::default(), 10), []);
    assert_eq!(store.count(&Filter::default()).unwrap(), 0);
    let statistics = store.statistics().unwrap();
    assert_eq!((statistics.decisions, statistics.batches), (0, 0));
    assert_eq!((statistics.oldest, statistics.newest), (None, None));
    store.check().unwrap();
}

fn a_batch_given_again_changes_nothing(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(0..20));
    let mark = store.newest().unwrap();
    append(&mut store, &simple(0..20));
    assert_eq!(store.newest().unwrap(), mark);
    assert_eq!(store.count(&Filter::default()).unwrap(), 20);
    assert_eq!(ids(&mut store, &Filter::default()).len(), 20);
    assert_eq!(store.statistics().unwrap().batches, 1);
}

fn the_first_of_two_with_one_id_stays(place: &Place) {
    let mut store = place.open();
    let first = summary(id(1, 1));
    let mut second = first.clone();
    second.user = "mallory".into();
    append(&mut store, std::slice::from_ref(&first));
    append(&mut store, &[second]);
    assert_eq!(store.get(&first.id).unwrap(), Some(line(&first)));
    assert_eq!(listed(&mut store, &Filter::default(), 10), [first]);
}

fn a_batch_with_one_id_twice_keeps_the_first(place: &Place) {
    let mut store = place.open();
    let first = summary(id(1, 1));
    let mut second = first.clone();
    second.user = "mallory".into();
    let third = summary(id(2, 1));
    append(&mut store, &[first.clone(), second, third.clone()]);
    assert_eq!(store.get(&first.id).unwrap(), Some(line(&first)));
    assert_eq!(store.get(&third.id).unwrap(), Some(line(&third)));
    assert_eq!(listed(&mut store, &Filter::default(), 10), [third, first]);
}

fn what_overlaps_is_stored_once(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(0..10));
    append(&mut store, &simple(5..15));
    for summary in simple(0..15) {
        assert_eq!(store.get(&summary.id).unwrap(), Some(line(&summary)));
    }
    assert_eq!(store.count(&Filter::default()).unwrap(), 15);
    assert_eq!(store.newest().unwrap().number(), 15);
}

fn a_batch_bigger_than_a_body_is_cut(place: &Place) {
    let mut store = place.open();
    let summaries = simple(0..5);
    // The third alone is more than a body holds.
    let sizes = [1 << 20, 1 << 20, 3 << 20, 10, 10];
    let lines: Vec<String> = (1..)
        .zip(sizes)
        .map(|(n, size)| n.to_string().repeat(size))
        .collect();
    let entries: Vec<Entry<'_>> = summaries
        .iter()
        .zip(&lines)
        .map(|(summary, line)| Entry { summary, line })
        .collect();
    store.append(&entries).unwrap();
    for (summary, line) in summaries.iter().zip(&lines) {
        assert!(store.get(&summary.id).unwrap().as_ref() == Some(line));
    }
    assert!(store.statistics().unwrap().batches > 1);
}

fn an_unknown_id_is_nothing(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(0..3));
    for unknown in ["", "no id", "'; DROP TABLE decisions; --", "\0", &id(77, 7)] {
        assert_eq!(store.get(unknown).unwrap(), None);
    }
}

fn digests_are_found_again_by_others(place: &Place) {
    let with = |milliseconds, digest: &str| {
        let mut summary = summary(id(milliseconds, 1));
        summary.digest = Some(digest.into());
        summary
    };
    let (mut one, mut two) = (place.open(), place.open());
    append(&mut one, &[with(1, "a"), with(2, "b")]);
    append(&mut two, &[with(3, "c"), with(4, "b")]);
    append(&mut one, &[with(5, "c"), with(6, "d")]);
    append(&mut two, &[with(7, "d"), with(8, "a")]);
    let digests: Vec<String> = listed(&mut place.open(), &Filter::default(), 10)
        .into_iter()
        .map(|summary| summary.digest.unwrap())
        .collect();
    assert_eq!(digests, ["a", "d", "d", "c", "b", "c", "b", "a"]);
}
