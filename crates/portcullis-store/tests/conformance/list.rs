//! Lists: their order, pages and filters.

use portcullis_core::Door;
use portcullis_record::{Answer, Summary};
use portcullis_store::{Filter, Page};

use crate::place::Place;
use crate::records::{append, at, id, ids, listed, simple, summary};

crate::on_both!(
    the_newest_come_first_in_whatever_order_they_were_stored,
    every_filter_finds_exactly_its_own,
    filters_are_combined,
    times_are_those_of_the_ids,
    a_policy_is_found_wherever_it_is_named_and_only_whole,
    pages_have_no_gaps_or_doubles_while_others_store,
    the_last_page_says_so,
    no_limit_is_too_odd,
    kinds_are_found_in_any_case_and_by_their_resource,
);

fn the_newest_come_first_in_whatever_order_they_were_stored(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(10..20));
    append(&mut store, &simple(0..10));
    append(&mut store, &simple(20..30));
    let mut expected: Vec<String> = simple(0..30)
        .into_iter()
        .map(|summary| summary.id)
        .collect();
    expected.reverse();
    assert_eq!(ids(&mut store, &Filter::default()), expected);
}

fn every_filter_finds_exactly_its_own(place: &Place) {
    let mut store = place.open();
    let base = summary(id(0, 1));
    let other = |place, change: fn(&mut Summary)| {
        let mut summary = summary(id(place, 1));
        change(&mut summary);
        summary
    };
    append(
        &mut store,
        &[
            base,
            other(1, |summary| summary.door = Door::Ci),
            other(2, |summary| summary.verdict = Answer::Deny),
            other(3, |summary| summary.user = "Alice".into()),
            other(4, |summary| summary.kind = "".into()),
            other(5, |summary| summary.namespace = "".into()),
            other(6, |summary| summary.policy = Some("p".into())),
        ],
    );
    let filter = Filter::default;
    let cases = [
        (
            Filter {
                door: Some(Door::Ci),
                ..filter()
            },
            1,
        ),
        (
            Filter {
                verdict: Some(Answer::Deny),
                ..filter()
            },
            2,
        ),
        (
            Filter {
                user: Some("Alice".into()),
                ..filter()
            },
            3,
        ),
        (
            Filter {
                kind: Some("".into()),
                ..filter()
            },
            4,
        ),
        (
            Filter {
                namespace: Some("".into()),
                ..filter()
            },
            5,
        ),
        (
            Filter {
                policy: Some("p".into()),
                ..filter()
            },
            6,
        ),
    ];
    for (filter, place) in cases {
        assert_eq!(ids(&mut store, &filter), [id(place, 1)], "{filter:?}");
        assert_eq!(store.count(&filter).unwrap(), 1, "{filter:?}");
    }
    for missing in ["alic", "alice ", "a%", "al_ce", "ALICE", "' OR 1=1 --"] {
        let filter = Filter {
            user: Some(missing.into()),
            ..filter()
        };
        assert_eq!(ids(&mut store, &filter), [] as [&str; 0], "{missing}");
    }
    let allowed = Filter {
        verdict: Some(Answer::Allow),
        ..filter()
    };
    assert_eq!(store.count(&allowed).unwrap(), 6);
}

fn filters_are_combined(place: &Place) {
    let mut store = place.open();
    let mut all = simple(0..16);
    for (place, summary) in all.iter_mut().enumerate() {
        if place & 1 == 0 {
            summary.user = "bob".into();
        }
        if place & 2 == 0 {
            summary.verdict = Answer::Deny;
        }
        if place & 4 == 0 {
            summary.namespace = "prod".into();
        }
    }
    append(&mut store, &all);
    let filter = Filter {
        user: Some("bob".into()),
        verdict: Some(Answer::Deny),
        namespace: Some("prod".into()),
        since: Some(at(1)),
        ..Filter::default()
    };
    assert_eq!(ids(&mut store, &filter), [id(8, 7)]);
}

fn times_are_those_of_the_ids(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(0..10));
    let between = |since, until| Filter {
        since,
        until,
        ..Filter::default()
    };
    let expected = |range: std::ops::Range<u64>| -> Vec<String> {
        range.rev().map(|place| id(place, 7)).collect()
    };
    let mut found = |since, until| ids(&mut store, &between(since, until));
    assert_eq!(found(Some(at(3)), None), expected(3..10));
    assert_eq!(found(None, Some(at(3))), expected(0..3));
    assert_eq!(found(Some(at(3)), Some(at(5))), expected(3..5));
    assert_eq!(found(Some(at(5)), Some(at(3))), expected(0..0));
    assert_eq!(found(Some(std::time::UNIX_EPOCH), None), expected(0..10));
}

fn a_policy_is_found_wherever_it_is_named_and_only_whole(place: &Place) {
    let mut store = place.open();
    let mut all = simple(0..6);
    all[0].plugin = Some("p".into());
    all[1].policy = Some("p".into());
    all[2].concerned = vec!["x".into(), "p".into()];
    all[3].concerned = vec!["pp".into(), "a\"p\"b".into(), ",".into(), "P".into()];
    all[4].plugin = Some("pp".into());
    append(&mut store, &all);
    let mut found = |policy: &str| {
        let policy = Some(policy.to_owned());
        ids(
            &mut store,
            &Filter {
                policy,
                ..Filter::default()
            },
        )
    };
    assert_eq!(found("p"), [id(2, 7), id(1, 7), id(0, 7)]);
    assert_eq!(found("a\"p\"b"), [id(3, 7)]);
    assert_eq!(found(","), [id(3, 7)]);
    assert_eq!(found("pp"), [id(4, 7), id(3, 7)]);
    for none in ["", "\"", "\",\"", "\n", "x,p", "[", "%"] {
        assert_eq!(found(none), [] as [&str; 0], "{none:?}");
    }
}

fn pages_have_no_gaps_or_doubles_while_others_store(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(100..200));
    let mut writer = place.open();
    let mut seen = Vec::new();
    let mut after = None;
    let mut step = 0;
    loop {
        let listed = store
            .list(&Filter::default(), &Page { after, limit: 9 })
            .unwrap();
        seen.extend(listed.items.into_iter().map(|summary| summary.id));
        // Newer ones, and some that come late.
        append(&mut writer, &simple(200 + step..201 + step));
        append(&mut writer, &[summary(id(199 - step, 8))]);
        step += 1;
        after = listed.next;
        if after.is_none() {
            break;
        }
    }
    let mut sorted = seen.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), seen.len());
    sorted.reverse();
    assert_eq!(sorted, seen);
    for summary in simple(100..200) {
        assert!(seen.contains(&summary.id));
    }
}

fn the_last_page_says_so(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(0..10));
    let mut page = |after, limit| {
        store
            .list(&Filter::default(), &Page { after, limit })
            .unwrap()
    };
    let first = page(None, 5);
    assert_eq!(first.next.as_deref(), Some(id(5, 7).as_str()));
    let second = page(first.next, 5);
    assert_eq!((second.items.len(), second.next), (5, None));
    assert_eq!(page(None, 10).next, None);
    assert_eq!(page(Some(String::new()), 10).items, []);
}

fn no_limit_is_too_odd(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(0..3));
    let mut page = |limit| {
        store
            .list(&Filter::default(), &Page { after: None, limit })
            .unwrap()
    };
    assert_eq!(page(0).items.len(), 1);
    assert_eq!(page(usize::MAX).items.len(), 3);
    assert_eq!(listed(&mut store, &Filter::default(), 1).len(), 3);
}

fn kinds_are_found_in_any_case_and_by_their_resource(place: &Place) {
    let mut store = place.open();
    let of = |place, kind: &str| Summary {
        kind: kind.into(),
        ..summary(id(place, 1))
    };
    append(
        &mut store,
        &[of(0, "Pod"), of(1, "pods"), of(2, "PodTemplate"), of(3, "")],
    );
    for (kind, count) in [
        ("pod", 1),
        ("Pod", 1),
        ("pods", 2),
        ("PODS", 2),
        ("podt", 0),
    ] {
        let filter = Filter {
            kind: Some(kind.into()),
            ..Filter::default()
        };
        assert_eq!(ids(&mut store, &filter).len(), count, "{kind}");
        let all = [of(0, "Pod"), of(1, "pods"), of(2, "PodTemplate"), of(3, "")];
        let matching = all.iter().filter(|one| filter.matches(one));
        assert_eq!(matching.count(), count, "{kind}");
    }
}
