//! The machines that ask for jobs with the token of a runner.

use portcullis_store::{ManagerContact, ManagerRecord, Store};
use serde_json::json;

use super::builders::{at, run};
use crate::place::Place;

crate::on_both!(
    managers_are_remembered_as_they_were_heard_of_last,
    a_held_manager_stays_held_until_it_is_released_or_late,
    managers_of_one_runner_are_bounded,
    managers_go_with_their_runner_or_after_a_while,
);

fn contact(runner: u64, system_id: &str, seconds: u64) -> ManagerContact {
    ManagerContact {
        runner,
        system_id: system_id.to_owned(),
        at: at(seconds),
        address: Some("192.0.2.1".to_owned()),
        info: json!({"version": seconds}),
    }
}

fn names(managers: &[ManagerRecord]) -> Vec<&str> {
    let managers = managers.iter();
    managers.map(|one| one.contact.system_id.as_str()).collect()
}

fn managers(store: &mut Store, runner: u64) -> Vec<ManagerRecord> {
    run(store, |tx| tx.managers(runner))
}

fn managers_are_remembered_as_they_were_heard_of_last(place: &Place) {
    let mut store = place.open();
    let old = ManagerContact {
        address: None,
        ..contact(1, "", 1)
    };
    run(&mut store, |tx| {
        tx.note_managers(&[])?;
        tx.note_managers(&[contact(1, "b", 1), contact(2, "b", 1), old.clone()])?;
        tx.note_managers(&[contact(1, "b", 9), contact(1, "a\u{0}", 9)])
    });
    let found = managers(&mut store, 1);
    assert_eq!(names(&found), ["", "a\u{fffd}", "b"]);
    assert_eq!(found[0].contact, old);
    assert_eq!(found[2].contact, contact(1, "b", 9));
    assert_eq!(managers(&mut store, 2)[0].contact.at, at(1));
}

fn a_held_manager_stays_held_until_it_is_released_or_late(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| tx.note_managers(&[contact(1, "a", 1)]));
    let mut hold = |name: &str, hold, until, now| {
        run(&mut store, |tx| {
            tx.hold_manager((1, name), hold, at(until), at(now))
        })
    };
    assert!(hold("a", 5, 100, 2));
    assert!(!hold("a", 6, 200, 3), "it is held already");
    assert!(hold("a", 5, 150, 3), "the same hold may last longer");
    assert!(hold("new", 6, 50, 3));
    assert!(hold("new", 7, 90, 60), "the first hold was over");
    run(&mut store, |tx| tx.note_managers(&[contact(1, "a", 70)]));
    let held = |store: &mut Store, now| {
        let found = run(store, |tx| tx.held_managers(at(now)));
        let mut holds: Vec<_> = found.iter().map(|one| one.held.unwrap()).collect();
        holds.sort();
        holds
    };
    assert_eq!(held(&mut store, 80), [(5, at(150)), (7, at(90))]);
    assert_eq!(held(&mut store, 90), [(5, at(150))]);
    assert_eq!(run(&mut store, |tx| tx.release_managers(5)), 1);
    assert_eq!(run(&mut store, |tx| tx.release_managers(5)), 0);
    assert_eq!(held(&mut store, 80), [(7, at(90))]);
    assert_eq!(managers(&mut store, 1)[0].held, None);
}

fn managers_of_one_runner_are_bounded(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        tx.hold_manager((1, "held"), 4, at(9000), at(0))?;
        for part in 0..11_u64 {
            let some: Vec<ManagerContact> = (0..100)
                .map(|number| contact(1, &format!("m{number}-{part}"), part * 100 + number))
                .collect();
            tx.note_managers(&some)?;
        }
        tx.note_managers(&[contact(2, "other", 1)])
    });
    let found = managers(&mut store, 1);
    assert!((1000..=1001).contains(&found.len()), "{}", found.len());
    assert!(names(&found).contains(&"held"));
    assert!(names(&found).contains(&"m99-10"));
    assert!(!names(&found).contains(&"m0-0"));
    assert_eq!(managers(&mut store, 2).len(), 1);
}

fn managers_go_with_their_runner_or_after_a_while(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        let some = ["a", "b", "c", "d"].map(|name| contact(1, name, 10));
        tx.note_managers(&some)?;
        tx.note_managers(&[contact(1, "d", 99), contact(2, "e", 99)])?;
        tx.hold_manager((1, "c"), 3, at(500), at(20))
    });
    assert!(run(&mut store, |tx| tx.delete_manager(1, "a")));
    assert!(!run(&mut store, |tx| tx.delete_manager(1, "a")));
    assert!(
        run(&mut store, |tx| tx.delete_manager(1, "c")),
        "held, so it stays"
    );
    assert_eq!(run(&mut store, |tx| tx.sweep_managers(at(50), at(60))), 1);
    assert_eq!(names(&managers(&mut store, 1)), ["c", "d"]);
    run(&mut store, |tx| tx.delete_runner(1));
    assert_eq!(managers(&mut store, 1), []);
    assert_eq!(managers(&mut store, 2).len(), 1);
}
