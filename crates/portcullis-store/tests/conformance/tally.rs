//! Counts of decisions over a time.

use std::time::Duration;

use portcullis_core::Door;
use portcullis_record::{Answer, Summary};
use portcullis_store::{Bounds, Counted, Course, Filter, Tally};

use crate::place::Place;
use crate::records::{append, at, id, simple, summary};

crate::on_both!(
    every_decision_is_in_its_part,
    filters_count_exactly_what_lists_have,
    names_are_counted_and_the_frequent_ones_come_first,
    durations_are_those_of_half_and_of_nearly_all,
    a_sample_counts_everything_by_the_index,
    a_bound_counts_the_newest_and_says_so,
    no_decisions_are_parts_without_any,
);

/// From the base on, in parts of so many milliseconds.
fn course(end: u64, part: u64) -> Course {
    Course {
        since: at(0),
        until: at(end),
        part: Duration::from_millis(part),
        bounds: Bounds::default(),
    }
}

fn verdict(mut summary: Summary, verdict: Answer) -> Summary {
    summary.verdict = verdict;
    summary
}

/// Each third of these is a denial.
fn mixed(count: u64) -> Vec<Summary> {
    let all = simple(0..count).into_iter().enumerate();
    all.map(|(place, one)| match place % 3 {
        0 => verdict(one, Answer::Deny),
        _ => one,
    })
    .collect()
}

fn counts(tally: &Tally) -> Vec<(u64, u64)> {
    let parts = tally.parts.iter();
    parts
        .map(|part| (part.counted.allowed, part.counted.denied))
        .collect()
}

fn every_decision_is_in_its_part(place: &Place) {
    let mut store = place.open();
    append(&mut store, &mixed(25));
    let found = store.tally(&Filter::default(), &course(25, 10)).unwrap();
    assert_eq!(counts(&found), [(6, 4), (7, 3), (3, 2)]);
    let starts: Vec<_> = found.parts.iter().map(|part| part.start).collect();
    assert_eq!(starts, [at(0), at(10), at(20)]);
    assert!(!found.is_sampled && found.parts.iter().all(|part| !part.is_at_least));
    // What was made at the end, or later, is not in it.
    let found = store.tally(&Filter::default(), &course(24, 24)).unwrap();
    assert_eq!(counts(&found), [(16, 8)]);
}

fn filters_count_exactly_what_lists_have(place: &Place) {
    let mut store = place.open();
    let mut all = mixed(30);
    all[3].user = "rare".into();
    all[4].user = "rare".into();
    all[5].kind = "Lease".into();
    all[6].policy = Some("p".into());
    all[7].door = Door::Ci;
    all[8].namespace = "other".into();
    append(&mut store, &all);
    let filter = Filter::default;
    for filter in [
        Filter {
            user: Some("rare".into()),
            ..filter()
        },
        Filter {
            kind: Some("leases".into()),
            ..filter()
        },
        Filter {
            policy: Some("p".into()),
            ..filter()
        },
        Filter {
            door: Some(Door::Ci),
            ..filter()
        },
        Filter {
            namespace: Some("other".into()),
            ..filter()
        },
        Filter {
            verdict: Some(Answer::Deny),
            ..filter()
        },
        Filter {
            verdict: Some(Answer::Allow),
            user: Some("rare".into()),
            ..filter()
        },
    ] {
        let found = store.tally(&filter, &course(30, 7)).unwrap();
        let sum: u64 = counts(&found)
            .iter()
            .map(|(allowed, denied)| allowed + denied)
            .sum();
        assert_eq!(sum, store.count(&filter).unwrap(), "{filter:?}");
    }
}

fn names_are_counted_and_the_frequent_ones_come_first(place: &Place) {
    let mut store = place.open();
    let mut all = mixed(9);
    for (place, one) in all.iter_mut().enumerate() {
        one.user = ["a", "b", "b"][place % 3].into();
        one.plugin = Some("Policies".into());
        one.policy = (place < 4).then(|| "pin".into());
        one.mutated = place == 1;
    }
    all[8].door = Door::Authorization;
    append(&mut store, &all);
    let found = store.tally(&Filter::default(), &course(9, 9)).unwrap();
    let counted = |allowed, denied| Counted { allowed, denied };
    assert_eq!(
        found.users,
        [
            ("b".to_owned(), counted(6, 0)),
            ("a".to_owned(), counted(0, 3))
        ]
    );
    assert_eq!(
        found.policies,
        [
            ("Policies".to_owned(), counted(4, 1)),
            ("pin".to_owned(), counted(2, 2))
        ]
    );
    assert_eq!(
        found.doors,
        [
            (Door::Authorization, counted(1, 0)),
            (Door::Kubernetes, counted(5, 3))
        ]
    );
    assert_eq!(found.parts[0].mutated, Some(1));
}

fn durations_are_those_of_half_and_of_nearly_all(place: &Place) {
    let mut store = place.open();
    let mut all = simple(0..100);
    for (place, one) in all.iter_mut().enumerate() {
        one.duration_us = 100 - place as u64;
    }
    append(&mut store, &all);
    let found = store.tally(&Filter::default(), &course(200, 100)).unwrap();
    let durations: Vec<_> = found.parts.iter().map(|part| part.durations).collect();
    assert_eq!(durations, [Some((50, 99)), None]);
}

fn a_sample_counts_everything_by_the_index(place: &Place) {
    let mut store = place.open();
    append(&mut store, &mixed(40));
    let bounds = Bounds {
        sample: 10,
        ..Bounds::default()
    };
    let course = Course {
        bounds,
        ..course(40, 20)
    };
    let mut of = |filter: &Filter| {
        let found = store.tally(filter, &course).unwrap();
        assert!(found.is_sampled, "{filter:?}");
        assert!(
            found
                .parts
                .iter()
                .all(|part| part.mutated.is_none() && !part.is_at_least)
        );
        let sampled: u64 = found
            .users
            .iter()
            .map(|(_, one)| one.allowed + one.denied)
            .sum();
        assert!(sampled <= 10, "{found:?}");
        counts(&found)
    };
    assert_eq!(of(&Filter::default()), [(13, 7), (13, 7)]);
    let denied = Filter {
        verdict: Some(Answer::Deny),
        ..Filter::default()
    };
    assert_eq!(of(&denied), [(0, 7), (0, 7)]);
    let alice = Filter {
        user: Some("alice".into()),
        ..Filter::default()
    };
    assert_eq!(of(&alice), [(13, 7), (13, 7)]);
}

fn a_bound_counts_the_newest_and_says_so(place: &Place) {
    let mut store = place.open();
    append(&mut store, &mixed(30));
    let alice = Filter {
        user: Some("alice".into()),
        ..Filter::default()
    };
    for (filter, sample) in [
        (Filter::default(), 1000),
        (Filter::default(), 3),
        (alice, 3),
    ] {
        let bounds = Bounds {
            entries: 15,
            rows: 15,
            sample,
        };
        let course = Course {
            bounds,
            ..course(30, 10)
        };
        let found = store.tally(&filter, &course).unwrap();
        // Of those between, numbers 15 to 19 are the newest: 15 and 18 are denied.
        assert_eq!(
            counts(&found),
            [(0, 0), (3, 2), (7, 3)],
            "{filter:?} {sample}"
        );
        let at_least: Vec<bool> = found.parts.iter().map(|part| part.is_at_least).collect();
        assert_eq!(at_least, [true, true, false], "{filter:?} {sample}");
    }
}

fn no_decisions_are_parts_without_any(place: &Place) {
    let mut store = place.open();
    append(&mut store, &[summary(id(500, 1))]);
    let found = store.tally(&Filter::default(), &course(20, 10)).unwrap();
    assert_eq!(counts(&found), [(0, 0), (0, 0)]);
    assert_eq!(
        (found.users, found.policies, found.doors),
        (vec![], vec![], vec![])
    );
}
