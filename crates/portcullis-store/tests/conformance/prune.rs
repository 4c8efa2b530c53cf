//! Deleting what is too old or too much.

use std::time::Duration;

use portcullis_record::{Answer, Summary};
use portcullis_store::{Entry, Filter, Retention, Store};

use crate::place::Place;
use crate::records::{append, at, id, ids, line, simple};

crate::on_both!(
    what_is_too_old_goes_in_whole_batches,
    nothing_goes_unless_told,
    what_is_too_much_goes_oldest_first,
    what_was_deleted_can_be_stored_again,
    an_age_beyond_all_time_keeps_everything,
    one_from_the_future_doesn_t_hold_others_back,
    refusals_outlive_a_flood_of_what_is_allowed,
    no_user_pushes_out_the_refusals_of_others,
);

const MILLISECOND: Duration = Duration::from_millis(1);

fn by_age(age: Duration) -> Retention {
    Retention {
        age: Some(age),
        size: None,
    }
}

fn what_is_too_old_goes_in_whole_batches(place: &Place) {
    let mut store = place.open();
    for start in [0, 10, 20] {
        append(&mut store, &simple(start..start + 10));
    }
    // The second batch is half expired.
    let pruned = store.prune(&by_age(10 * MILLISECOND), at(25)).unwrap();
    assert_eq!((pruned.decisions, pruned.batches), (10, 1));
    assert_eq!(store.count(&Filter::default()).unwrap(), 20);
    assert_eq!(ids(&mut store, &Filter::default()).len(), 20);
    assert_eq!(store.get(&id(9, 7)).unwrap(), None);
    assert_eq!(
        store.get(&id(10, 7)).unwrap(),
        Some(line(&simple(10..11)[0]))
    );
    let statistics = store.statistics().unwrap();
    assert_eq!(statistics.oldest, Some(id(10, 7)));
    assert_eq!(statistics.newest, Some(id(29, 7)));
    assert_eq!(statistics.decisions, 20);
    // The next step comes exactly when the newest of the batch is too old.
    assert_eq!(
        store
            .prune(&by_age(10 * MILLISECOND), at(29))
            .unwrap()
            .batches,
        0
    );
    assert_eq!(
        store
            .prune(&by_age(10 * MILLISECOND), at(30))
            .unwrap()
            .batches,
        1
    );
}

fn nothing_goes_unless_told(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(0..10));
    let later = at(1_000_000_000_000);
    assert_eq!(
        store.prune(&Retention::default(), later).unwrap().decisions,
        0
    );
    let enough = Retention {
        age: None,
        size: Some(1 << 30),
    };
    assert_eq!(store.prune(&enough, later).unwrap().decisions, 0);
}

/// Stores a batch of ten lines that can't be compressed much.
fn append_big(store: &mut Store, place: u64) {
    append_large(store, place, &simple(place * 10..place * 10 + 10));
}

/// Stores these with lines of 16 KB that can't be compressed much.
fn append_large(store: &mut Store, place: u64, summaries: &[Summary]) {
    let mut state = place + 1;
    let lines: Vec<String> = summaries
        .iter()
        .map(|_| {
            (0..2000)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    format!("{:08x}", state >> 32)
                })
                .collect()
        })
        .collect();
    let entries: Vec<Entry<'_>> = summaries
        .iter()
        .zip(&lines)
        .map(|(summary, line)| Entry { summary, line })
        .collect();
    store.append(&entries).unwrap();
}

fn what_is_too_much_goes_oldest_first(place: &Place) {
    let mut store = place.open();
    for place in 0..40 {
        append_big(&mut store, place);
    }
    // About 80 KB each.
    let limit = 1 << 20;
    let retention = Retention {
        age: None,
        size: Some(limit),
    };
    let before = store.statistics().unwrap();
    assert!(before.bytes > 2 * limit, "{before:?}");
    let pruned = store.prune(&retention, at(0)).unwrap();
    assert!((20..40).contains(&pruned.batches), "{pruned:?}");
    let after = store.statistics().unwrap();
    assert_eq!(after.decisions, 400 - pruned.decisions);
    assert_eq!(after.newest, Some(id(399, 7)));
    assert_eq!(after.oldest, Some(id(pruned.decisions, 7)));
    if let Some(file) = place.file() {
        // The space is given back to the system, that of the log as well.
        assert!(after.bytes <= limit, "{after:?}");
        assert!(std::fs::metadata(file).unwrap().len() <= limit);
    }
    // Once is enough.
    assert_eq!(store.prune(&retention, at(0)).unwrap().decisions, 0);
}

fn what_was_deleted_can_be_stored_again(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(0..5));
    store.prune(&by_age(MILLISECOND), at(100)).unwrap();
    assert_eq!(ids(&mut store, &Filter::default()), [] as [&str; 0]);
    append(&mut store, &simple(0..5));
    assert_eq!(ids(&mut store, &Filter::default()).len(), 5);
}

fn an_age_beyond_all_time_keeps_everything(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(0..5));
    let pruned = store.prune(&by_age(Duration::MAX), at(0)).unwrap();
    assert_eq!(pruned.decisions, 0);
}

fn one_from_the_future_doesn_t_hold_others_back(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(1_000_000..1_000_001));
    append(&mut store, &simple(0..5));
    store.prune(&by_age(MILLISECOND), at(100)).unwrap();
    assert_eq!(ids(&mut store, &Filter::default()), [id(1_000_000, 7)]);
}

fn refusal(milliseconds: u64, user: &str) -> Summary {
    Summary {
        verdict: Answer::Deny,
        user: user.to_owned(),
        ..simple(milliseconds..milliseconds + 1)[0].clone()
    }
}

fn refusals() -> Filter {
    Filter {
        verdict: Some(Answer::Deny),
        ..Filter::default()
    }
}

fn by_size(size: u64) -> Retention {
    Retention {
        age: None,
        size: Some(size),
    }
}

fn refusals_outlive_a_flood_of_what_is_allowed(place: &Place) {
    let mut store = place.open();
    let mut first = simple(0..10);
    first[3] = refusal(3, "mallory");
    append(&mut store, &first);
    append(&mut store, &[refusal(10, "mallory")]);
    let limit = 1 << 20;
    for flood in 2..60 {
        append_big(&mut store, flood);
        if flood % 10 == 0 {
            store.prune(&by_size(limit), at(0)).unwrap();
        }
    }
    store.prune(&by_size(limit), at(0)).unwrap();
    assert_eq!(ids(&mut store, &refusals()), [id(10, 7), id(3, 7)]);
    assert_eq!(store.get(&id(3, 7)).unwrap(), Some(line(&first[3])));
    assert_eq!(store.get(&id(2, 7)).unwrap(), None);
    // Lists, counts and scans agree.
    let listed = ids(&mut store, &Filter::default());
    let statistics = store.statistics().unwrap();
    assert_eq!(statistics.decisions, listed.len() as u64);
    assert_eq!(
        store.count(&Filter::default()).unwrap(),
        statistics.decisions
    );
    assert!(statistics.decisions < 200, "{statistics:?}");
    let mut scanned = Vec::new();
    let mut take = |lines: Vec<String>| {
        scanned.extend(lines);
        std::ops::ControlFlow::Continue(())
    };
    store.scan(&Filter::default(), &mut take).unwrap();
    assert_eq!(scanned.len(), listed.len());
    assert_eq!(scanned[0], line(&first[3]));
    // What is too old goes, whatever it is.
    store.prune(&by_age(MILLISECOND), at(1_000_000)).unwrap();
    assert_eq!(ids(&mut store, &Filter::default()), [] as [&str; 0]);
    assert_eq!(store.count(&Filter::default()).unwrap(), 0);
}

fn no_user_pushes_out_the_refusals_of_others(place: &Place) {
    let mut store = place.open();
    append(&mut store, &[refusal(0, "alice"), refusal(1, "bob")]);
    let limit = 1 << 20;
    for flood in 1..60 {
        let many: Vec<Summary> = (0..10)
            .map(|number| refusal(flood * 10 + number, "mallory"))
            .collect();
        append_large(&mut store, flood, &many);
        if flood % 10 == 0 {
            store.prune(&by_size(limit), at(0)).unwrap();
        }
    }
    store.prune(&by_size(limit), at(0)).unwrap();
    let kept = ids(&mut store, &Filter::default());
    assert!(
        kept.contains(&id(0, 7)) && kept.contains(&id(1, 7)),
        "{kept:?}"
    );
    assert!((5..200).contains(&kept.len()), "{}", kept.len());
    // Those of the one who made most are the newest.
    assert!(kept.contains(&id(599, 7)) && !kept.contains(&id(10, 7)));
    assert_eq!(store.count(&Filter::default()).unwrap(), kept.len() as u64);
    assert_eq!(
        store.get(&id(0, 7)).unwrap(),
        Some(line(&refusal(0, "alice")))
    );
    assert_eq!(store.prune(&by_size(limit), at(0)).unwrap().decisions, 0);
}
