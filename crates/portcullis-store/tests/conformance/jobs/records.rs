//! Single jobs: saving, loading, versions, ids, decisions, exemptions, keys.

use std::collections::BTreeSet;
use std::time::Duration;

use portcullis_jobs::{Admission, Event, Exemption, Link, RunnerLists};
use portcullis_store::{DecisionRecord, IdKind, JobRecord, JobsError, Store, StoreError};
use serde_json::json;

use super::builders::{apply, at, definition, insert, run};
use crate::place::Place;

crate::on_both!(
    a_job_comes_back_as_it_was_saved,
    a_job_that_was_changed_meanwhile_is_not_saved,
    an_operation_that_fails_leaves_nothing,
    an_error_of_the_database_can_t_be_ignored,
    ids_are_never_given_twice,
    decisions_are_added_once,
    exemptions_end_at_their_time,
    uses_of_exemptions_are_counted_and_go_with_them,
    all_servers_have_one_key,
    reading_alone_shows_and_changes_nothing,
);

fn a_job_comes_back_as_it_was_saved(place: &Place) {
    let mut store = place.open();
    let mut job = run(&mut store, |tx| insert(tx, "group/sub/project", &[]));
    assert_eq!((job.id, job.version()), (1, 1));
    apply(&mut job, &Event::Prepare { deadline: at(60) }, 2);
    let chain = vec![Link::policies()];
    let tags = vec!["linux".to_owned()];
    let mut admission = Admission::begin(chain, tags, at(2), Duration::from_secs(60));
    admission.filter.restrict(&RunnerLists {
        accepted_ids: vec![3, 12],
        rejected_ids: vec![12],
    });
    job.admission = Some(admission);
    job.deadline = Some(at(60));
    job.promoted = true;
    run(&mut store, |tx| {
        let mut loaded = tx.job_for_change(1)?.unwrap();
        loaded.clone_from(&job);
        tx.save_job(&mut loaded)
    });
    drop(store);
    let mut store = place.open();
    let found = run(&mut store, |tx| tx.job(1)).unwrap();
    assert_eq!(found.version(), 2);
    assert_eq!(found.definition, definition("group/sub/project"));
    assert_eq!((found.pipeline, found.created_at), (None, at(0)));
    assert_eq!(found.state, job.state);
    assert_eq!(found.admission, job.admission);
    assert_eq!((found.deadline, found.promoted), (Some(at(60)), true));
    let none =
        store.read_jobs(|reader| Ok::<_, JobsError>((reader.job(2)?, reader.job(u64::MAX)?)));
    assert_eq!(none.unwrap(), (None, None));
}

fn a_job_that_was_changed_meanwhile_is_not_saved(place: &Place) {
    let mut store = place.open();
    let mut first = run(&mut store, |tx| insert(tx, "p", &[]));
    let mut second = first.clone();
    apply(&mut first, &Event::Enqueue, 1);
    apply(&mut second, &Event::Cancel, 1);
    let saved = store.jobs(|tx| tx.save_job(&mut first));
    assert!(saved.is_ok());
    let error = store.jobs(|tx| tx.save_job(&mut second)).unwrap_err();
    assert!(matches!(error, JobsError::Stale { id: 1, .. }), "{error}");
    assert!(!error.is_temporary());
    let found = run(&mut store, |tx| tx.job(1)).unwrap();
    assert_eq!(found.state, first.state);
    // And one that is gone.
    let mut gone = JobRecord::new(77, None, definition("p"), at(0));
    let error = store.jobs(|tx| tx.save_job(&mut gone)).unwrap_err();
    assert!(matches!(error, JobsError::Stale { id: 77, .. }), "{error}");
}

fn an_operation_that_fails_leaves_nothing(place: &Place) {
    let mut store = place.open();
    let error = store.jobs(|tx| -> Result<(), JobsError> {
        insert(tx, "p", &[Event::Enqueue])?;
        Err(JobsError::NameTaken("x".into()))
    });
    assert!(matches!(error, Err(JobsError::NameTaken(_))));
    assert_eq!(place.number("SELECT COUNT(*) FROM jobs"), 0);
    assert_eq!(place.number("SELECT COUNT(*) FROM pending_jobs"), 0);
    let id = run(&mut store, |tx| insert(tx, "p", &[])).id;
    assert_eq!(run(&mut store, |tx| tx.job(id)).unwrap().id, id);
}

fn an_error_of_the_database_can_t_be_ignored(place: &Place) {
    let mut store = place.open();
    let first = run(&mut store, |tx| insert(tx, "p", &[]));
    let error = store
        .jobs(|tx| -> Result<(), JobsError> {
            let mut same = JobRecord::new(first.id, None, definition("p"), at(9));
            let _ = tx.insert_job(&mut same);
            Ok(())
        })
        .unwrap_err();
    assert!(
        matches!(error, JobsError::Store(StoreError::Other { .. })),
        "{error}"
    );
    assert_eq!(run(&mut store, |tx| tx.job(first.id)).unwrap(), first);
}

fn ids_are_never_given_twice(place: &Place) {
    drop(place.open());
    let ids: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut store = place.open();
                    let mut ids = Vec::new();
                    for _ in 0..10 {
                        ids.extend(run(&mut store, |tx| tx.new_ids(IdKind::Job, 5)));
                        ids.push(run(&mut store, |tx| insert(tx, "p", &[])).id);
                    }
                    ids
                })
            })
            .collect();
        let all = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap());
        all.collect()
    });
    let distinct: BTreeSet<u64> = ids.iter().copied().collect();
    assert_eq!(distinct.len(), 4 * 60);
    let newest = ids.iter().max().unwrap();
    place.meddle("DELETE FROM jobs");
    let mut store = place.open();
    assert!(run(&mut store, |tx| tx.new_id(IdKind::Job)) > *newest);
    for kind in IdKind::ALL {
        let two = run(&mut store, |tx| Ok([tx.new_id(kind)?, tx.new_id(kind)?]));
        assert!(two[0] < two[1], "{kind}");
    }
    assert!(run(&mut store, |tx| tx.new_ids(IdKind::Job, 0)).is_empty());
}

fn decisions_are_added_once(place: &Place) {
    let mut store = place.open();
    let record = |attempt: u32, position: usize, controller| DecisionRecord {
        position,
        controller,
        decision: serde_json::from_value(json!({
            "controller": "c", "level": "group", "attempt": attempt, "verdict": "denied",
            "dry_run": false, "reason": "not today", "tags": {"add": ["x"], "remove": []},
            "tags_before": ["a"], "tags_after": ["a"],
            "runners": {"accepted_ids": ["1"], "rejected_ids": []}, "latency_ms": 12, "at": at(1)
        }))
        .unwrap(),
    };
    let job = run(&mut store, |tx| insert(tx, "g/p", &[]));
    let other = run(&mut store, |tx| insert(tx, "g/p", &[]));
    let all = [
        record(1, 0, Some(4)),
        record(1, 1, None),
        record(2, 0, Some(4)),
    ];
    run(&mut store, |tx| {
        all.iter()
            .rev()
            .try_for_each(|one| tx.append_decision(&job, one))
    });
    assert_eq!(run(&mut store, |tx| tx.admission_decisions(&job)), all);
    assert!(run(&mut store, |tx| tx.admission_decisions(&other)).is_empty());
    let again = store.jobs(|tx| tx.append_decision(&job, &record(1, 1, Some(9))));
    assert!(matches!(again, Err(JobsError::Store(_))));
    assert_eq!(run(&mut store, |tx| tx.admission_decisions(&job)), all);
}

fn exemptions_end_at_their_time(place: &Place) {
    let mut store = place.open();
    let exemption = |id: u64, until: u64| -> Exemption {
        let until = at(until);
        serde_json::from_value(json!({"id": id, "project": "g/p", "reason": "incident",
            "until": until}))
        .unwrap()
    };
    let all = [exemption(1, 10), exemption(2, 20), exemption(3, 30)];
    run(&mut store, |tx| {
        all.iter().try_for_each(|one| tx.insert_exemption(one))
    });
    let mut live =
        |now, after, limit| run(&mut store, |tx| tx.live_exemptions(at(now), after, limit));
    assert_eq!(live(0, None, 10), all);
    assert_eq!(live(10, None, 10), all[1..]);
    assert_eq!(live(10, Some(2), 10), all[2..]);
    assert_eq!(live(0, None, 1), all[..1]);
    assert_eq!(run(&mut store, |tx| tx.sweep_exemptions(at(20))), 1);
    assert!(run(&mut store, |tx| tx.delete_exemption(2)));
    assert!(!run(&mut store, |tx| tx.delete_exemption(2)));
    assert_eq!(
        run(&mut store, |tx| tx.live_exemptions(at(0), None, 10)),
        all[2..]
    );
}

fn uses_of_exemptions_are_counted_and_go_with_them(place: &Place) {
    let mut store = place.open();
    let job = run(&mut store, |tx| insert(tx, "g/p", &[]));
    let use_of = |position: usize, exemption: u64, seconds: u64| {
        DecisionRecord {
        position,
        controller: None,
        decision: serde_json::from_value(json!({
            "controller": "c", "level": "group", "attempt": 1, "verdict": "denied", "dry_run": false,
            "exempted_by": exemption, "reason": "not today", "tags": {}, "tags_before": [],
            "tags_after": [], "runners": {}, "latency_ms": 12, "at": at(seconds)
        }))
        .unwrap(),
    }
    };
    let all = [
        use_of(0, 4, 10),
        use_of(1, 4, 30),
        use_of(2, 6, 20),
        use_of(3, 9, 20),
    ];
    run(&mut store, |tx| {
        for id in [4_u64, 6, 9] {
            let one = json!({"id": id, "project": "g/p", "reason": "x", "until": at(100 * id)});
            tx.insert_exemption(&serde_json::from_value(one).unwrap())?;
        }
        all.iter().try_for_each(|one| tx.append_decision(&job, one))
    });
    let uses = |store: &mut Store, first: u64, last: u64| {
        let found = run(store, |tx| tx.exemption_uses(first, last));
        let found = found.into_iter();
        found
            .map(|one| (one.exemption, one.count, one.last_at))
            .collect::<Vec<_>>()
    };
    assert_eq!(uses(&mut store, 4, 6), [(4, 2, at(30)), (6, 1, at(20))]);
    assert!(uses(&mut store, 5, 5).is_empty());
    assert!(run(&mut store, |tx| tx.delete_exemption(4)));
    assert_eq!(run(&mut store, |tx| tx.sweep_exemptions(at(650))), 1);
    assert_eq!(uses(&mut store, 0, 100), [(9, 1, at(20))]);
}

fn all_servers_have_one_key(place: &Place) {
    drop(place.open());
    let keys: BTreeSet<Vec<u8>> = std::thread::scope(|scope| {
        let ask = || run(&mut place.open(), |tx| tx.server_key("callback", at(0)));
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(ask)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(keys.len(), 1);
    let other = run(&mut place.open(), |tx| tx.server_key("other", at(0)));
    assert!(other.len() == 32 && !keys.contains(&other));
}

fn reading_alone_shows_and_changes_nothing(place: &Place) {
    let job = run(&mut place.open(), |tx| insert(tx, "p", &[]));
    let mut store = place.read_only().unwrap();
    let found = store.read_jobs(|reader| reader.job(job.id));
    assert_eq!(found.unwrap().unwrap(), job);
    assert!(store.jobs(|tx| insert(tx, "p", &[])).is_err());
}
