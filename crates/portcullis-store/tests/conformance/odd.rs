//! Unusual texts.

use portcullis_store::{Entry, Filter};

use crate::place::Place;
use crate::records::{append, id, line, listed, summary};

crate::on_both!(
    odd_texts_come_back_as_they_were,
    u_0000_is_replaced_in_lists_and_kept_in_lines,
    very_long_texts_are_stored,
    a_line_break_in_a_line_becomes_a_space,
    numbers_too_big_are_bounded,
);

fn odd_texts_come_back_as_they_were(place: &Place) {
    let mut store = place.open();
    let odd = [
        "",
        " ",
        "'",
        "\"",
        "\\",
        "a'b\"c\\d`e",
        "$1 ?1 :x @y",
        "\r\n\t",
        "\r",
        "🦀 é e\u{301} \u{202e}rtl",
        "\u{10ffff}\u{feff}\u{7f}",
        "%_*",
        "{}",
        "NULL",
        "; DROP TABLE decisions",
    ];
    for (place, odd) in (0..).zip(odd) {
        let mut summary = summary(id(place, 1));
        summary.user = odd.into();
        summary.namespace = odd.into();
        summary.name = odd.into();
        summary.kind = odd.into();
        summary.operation = odd.into();
        summary.message = odd.into();
        summary.plugin = Some(odd.into());
        summary.policy = Some(odd.into());
        summary.digest = Some(odd.into());
        summary.traceparent = Some(odd.into());
        summary.warnings = vec![odd.into(), odd.into()];
        summary.concerned = vec![odd.into()];
        append(&mut store, std::slice::from_ref(&summary));
        let odd = Some(odd.to_owned());
        let filter = Filter {
            user: odd.clone(),
            kind: odd.clone(),
            namespace: odd.clone(),
            policy: odd,
            ..Filter::default()
        };
        assert_eq!(listed(&mut store, &filter, 10), [summary.clone()]);
        assert_eq!(store.get(&summary.id).unwrap(), Some(line(&summary)));
    }
}

fn u_0000_is_replaced_in_lists_and_kept_in_lines(place: &Place) {
    let mut store = place.open();
    let mut given = summary(id(1, 1));
    given.user = "a\0b".into();
    given.warnings = vec!["w\0".into()];
    given.concerned = vec!["p\0".into()];
    append(&mut store, std::slice::from_ref(&given));
    let filter = Filter {
        user: Some("a\0b".into()),
        policy: Some("p\0".into()),
        ..Filter::default()
    };
    let found = listed(&mut store, &filter, 10);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].user, "a\u{fffd}b");
    assert_eq!(found[0].warnings, given.warnings);
    let stored = store.get(&given.id).unwrap().unwrap();
    assert!(stored.contains("a\\u0000b"), "{stored}");
}

fn very_long_texts_are_stored(place: &Place) {
    let mut store = place.open();
    let mut long = summary(id(1, 1));
    long.user = (0..200_000).map(|n| format!("{n} ")).collect();
    long.message = "é".repeat(500_000);
    long.concerned = vec!["p".repeat(100_000)];
    append(&mut store, std::slice::from_ref(&long));
    let filter = Filter {
        user: Some(long.user.clone()),
        policy: Some(long.concerned[0].clone()),
        ..Filter::default()
    };
    assert!(listed(&mut store, &filter, 10) == [long.clone()]);
    assert!(store.get(&long.id).unwrap() == Some(line(&long)));
}

fn a_line_break_in_a_line_becomes_a_space(place: &Place) {
    let mut store = place.open();
    let (one, two) = (summary(id(1, 1)), summary(id(2, 1)));
    let entry = |summary, line| Entry { summary, line };
    store
        .append(&[entry(&one, "{\n\"a\": 1}\n"), entry(&two, "{}\r")])
        .unwrap();
    assert_eq!(store.get(&one.id).unwrap().as_deref(), Some("{ \"a\": 1}"));
    assert_eq!(store.get(&two.id).unwrap().as_deref(), Some("{}\r"));
}

fn numbers_too_big_are_bounded(place: &Place) {
    let mut store = place.open();
    let mut slow = summary(id(1, 1));
    slow.duration_us = u64::MAX;
    append(&mut store, &[slow]);
    let found = listed(&mut store, &Filter::default(), 10);
    assert_eq!(found[0].duration_us, i64::MAX as u64);
}
