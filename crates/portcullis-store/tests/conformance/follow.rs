//! Following what is stored.

use portcullis_record::Answer;
use portcullis_store::{Filter, Mark};

use crate::place::Place;
use crate::records::{append, id, simple, summary};

crate::on_both!(
    a_follower_gets_what_comes_after_its_mark_in_order,
    ids_that_come_late_are_not_missed,
    a_filter_doesn_t_hold_the_mark_back,
    a_small_limit_loses_nothing,
    a_mark_from_another_store_is_set_right,
    marks_go_on_after_everything_was_deleted,
);

fn follow(store: &mut portcullis_store::Store, mark: &mut Mark, limit: usize) -> Vec<String> {
    let (found, next) = store.after(*mark, &Filter::default(), limit).unwrap();
    assert!(found.len() <= limit);
    *mark = next;
    found.into_iter().map(|summary| summary.id).collect()
}

fn expected(range: std::ops::Range<u64>) -> Vec<String> {
    range.map(|place| id(place, 7)).collect()
}

fn a_follower_gets_what_comes_after_its_mark_in_order(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(0..5));
    let mut mark = store.newest().unwrap();
    let mut writer = place.open();
    assert_eq!(follow(&mut store, &mut mark, 100), expected(0..0));
    append(&mut writer, &simple(5..8));
    append(&mut writer, &simple(8..10));
    assert_eq!(follow(&mut store, &mut mark, 100), expected(5..10));
    assert_eq!(follow(&mut store, &mut mark, 100), expected(0..0));
    assert_eq!(mark, store.newest().unwrap());
    let mut from_the_beginning = Mark::default();
    assert_eq!(
        follow(&mut store, &mut from_the_beginning, 100),
        expected(0..10)
    );
}

fn ids_that_come_late_are_not_missed(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(10..20));
    let mut mark = store.newest().unwrap();
    append(&mut store, &simple(0..10));
    assert_eq!(follow(&mut store, &mut mark, 100), expected(0..10));
}

fn a_filter_doesn_t_hold_the_mark_back(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(0..10));
    let filter = Filter {
        verdict: Some(Answer::Deny),
        ..Filter::default()
    };
    let (found, mark) = store.after(Mark::default(), &filter, 3).unwrap();
    assert_eq!((found, mark), (vec![], store.newest().unwrap()));
    let mut denied = summary(id(11, 7));
    denied.verdict = Answer::Deny;
    append(&mut store, &[summary(id(10, 7)), denied.clone()]);
    let (found, _) = store.after(mark, &filter, 3).unwrap();
    assert_eq!(found, [denied]);
}

fn a_small_limit_loses_nothing(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(0..4));
    append(&mut store, &simple(4..10));
    let mut mark = Mark::default();
    let mut all = Vec::new();
    loop {
        let some = follow(&mut store, &mut mark, 3);
        if some.is_empty() {
            break;
        }
        all.extend(some);
    }
    assert_eq!(all, expected(0..10));
}

fn a_mark_from_another_store_is_set_right(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(0..4));
    let mut mark = Mark::from_number(1_000_000);
    assert_eq!(follow(&mut store, &mut mark, 10), expected(0..0));
    append(&mut store, &simple(4..6));
    assert_eq!(follow(&mut store, &mut mark, 10), expected(4..6));
}

fn marks_go_on_after_everything_was_deleted(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(0..4));
    let mut mark = store.newest().unwrap();
    let retention = portcullis_store::Retention {
        age: None,
        size: Some(0),
    };
    store.prune(&retention, crate::records::at(0)).unwrap();
    assert_eq!(store.count(&Filter::default()).unwrap(), 0);
    drop(store);
    let mut store = place.open();
    append(&mut store, &simple(4..6));
    assert_eq!(follow(&mut store, &mut mark, 10), expected(4..6));
}
