//! Jobs that fail, and holds that keep the machines that ran them.

use portcullis_jobs::Event;
use portcullis_store::{HeldManager, JobRecord, NewHold, Store, Taker};

use super::builders::{apply, at, insert, run};
use crate::holds::{place_one, wish};
use crate::place::Place;

crate::on_both!(
    a_hold_keeps_the_machine_of_the_job_that_fails,
    a_hold_is_for_its_job_ref_and_change_only,
    a_hold_is_used_up,
    a_machine_is_kept_until_the_hold_or_its_own_time_ends,
);

/// A job of the project `g/p` that a machine runs.
fn running(store: &mut Store, manager: &str) -> JobRecord {
    run(store, |tx| {
        let mut job = insert(tx, "g/p", &[Event::Enqueue])?;
        apply(&mut job, &Event::Take { runner: 3 }, 2);
        job.taker = Some(Taker {
            manager: manager.to_owned(),
            is_shared: false,
        });
        tx.save_job(&mut job)?;
        Ok(job)
    })
}

fn hold(project: &str) -> NewHold {
    NewHold {
        placed_at: at(0).into(),
        ..wish("t", project)
    }
}

/// What keeps the machine of this job when it fails.
fn held(store: &mut Store, job: &JobRecord, change: Option<&str>) -> Option<HeldManager> {
    run(store, |tx| tx.hold_for_failure(job, change, at(10)))
}

/// The machines that a hold keeps at this time.
fn nodes(store: &mut Store, id: u64, seconds: u64) -> Vec<String> {
    store
        .hold("t", id, at(seconds).into())
        .unwrap()
        .unwrap()
        .nodes
}

fn a_hold_keeps_the_machine_of_the_job_that_fails(place: &Place) {
    let mut store = place.open();
    let (first, second) = (running(&mut store, "s_1"), running(&mut store, ""));
    assert_eq!(held(&mut store, &first, None), None, "nobody wants it");
    let wanted = NewHold {
        max_count: 2,
        ..hold("g/p")
    };
    let id = place_one(&mut store, &wanted).id;
    let kept = HeldManager {
        hold: id,
        runner: 3,
        system_id: "s_1".to_owned(),
    };
    assert_eq!(held(&mut store, &first, None), Some(kept));
    assert!(held(&mut store, &second, None).is_some());
    assert_eq!(nodes(&mut store, id, 20), ["runner-3", "runner-3/s_1"]);
    assert_eq!(run(&mut store, |tx| tx.held_managers(at(20))).len(), 2);
    assert_eq!(
        store.holds("t", None, at(20).into()).unwrap()[0].current_count,
        2
    );

    assert!(!store.release_hold("other", id).unwrap());
    assert_eq!(nodes(&mut store, id, 20).len(), 2);
    assert!(store.release_hold("t", id).unwrap());
    assert_eq!(run(&mut store, |tx| tx.held_managers(at(20))), []);
}

fn a_hold_is_for_its_job_ref_and_change_only(place: &Place) {
    let mut store = place.open();
    let job = running(&mut store, "s_1");
    for other in [
        hold("g/q"),
        NewHold {
            job: "lint".to_owned(),
            ..hold("g/p")
        },
        NewHold {
            reference: Some("stable".to_owned()),
            ..hold("g/p")
        },
        NewHold {
            change: Some("13".to_owned()),
            ..hold("g/p")
        },
        NewHold {
            expires_at: Some(at(10).into()),
            ..hold("g/p")
        },
    ] {
        place_one(&mut store, &other);
        assert_eq!(held(&mut store, &job, Some("12,1")), None, "{other:?}");
    }
    for (reference, change) in [
        (Some("main"), None),
        (None, Some("12,1")),
        (None, Some("12")),
    ] {
        let wanted = NewHold {
            reference: reference.map(str::to_owned),
            change: change.map(str::to_owned),
            ..hold("g/p")
        };
        let id = place_one(&mut store, &wanted).id;
        let found = held(&mut store, &job, Some("12,1")).unwrap();
        assert_eq!(found.hold, id);
        assert!(store.release_hold("t", id).unwrap());
    }
}

fn a_hold_is_used_up(place: &Place) {
    let mut store = place.open();
    let id = place_one(&mut store, &hold("g/p")).id;
    let next = place_one(&mut store, &hold("g/p")).id;
    let used = ["s_1", "s_2", "s_3"].map(|manager| {
        let job = running(&mut store, manager);
        held(&mut store, &job, None).map(|held| held.hold)
    });
    assert_eq!(used, [Some(id), Some(next), None]);
}

fn a_machine_is_kept_until_the_hold_or_its_own_time_ends(place: &Place) {
    let mut store = place.open();
    for (node_expiration, expires_at, seen, gone) in [
        (Some(60), None, 69, 70),
        (Some(60), Some(30), 29, 30),
        (None, Some(40), 39, 40),
        (Some(0), Some(40), 39, 40),
    ] {
        let job = running(&mut store, &format!("s_{gone}_{seen}_{node_expiration:?}"));
        let wanted = NewHold {
            node_expiration,
            expires_at: expires_at.map(|seconds| at(seconds).into()),
            ..hold("g/p")
        };
        let id = place_one(&mut store, &wanted).id;
        assert_eq!(held(&mut store, &job, None).unwrap().hold, id);
        assert_eq!(nodes(&mut store, id, seen).len(), 1);
        assert_eq!(nodes(&mut store, id, gone).len(), 0);
    }
}
