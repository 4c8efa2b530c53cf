//! Pipelines and their jobs.

use std::sync::atomic::{AtomicU64, Ordering};

use portcullis_jobs::{Event, PipelineJob, PipelineStatus};
use portcullis_store::{
    IdKind, JobRecord, JobsError, JobsTransaction, PipelineMatch, PipelineRecord,
};

use super::builders::{apply, at, definition, pipeline_definition, run};
use crate::place::Place;

crate::on_both!(
    a_pipeline_comes_back_as_it_was_saved,
    the_newest_and_the_live_ones_are_found,
    jobs_of_a_pipeline_are_together,
    jobs_of_a_pipeline_change_one_after_the_other,
    what_is_not_finished_is_counted_and_what_has_not_started_is_found,
);

fn pipeline(
    tx: &mut JobsTransaction<'_>,
    project: &str,
    words: [&str; 3],
) -> Result<PipelineRecord, JobsError> {
    let definition = pipeline_definition(project, words);
    let id = tx.new_id(IdKind::Pipeline)?;
    let mut pipeline = PipelineRecord::new(id, &definition, at(0));
    tx.insert_pipeline(&mut pipeline, &definition)?;
    Ok(pipeline)
}

fn a_pipeline_comes_back_as_it_was_saved(place: &Place) {
    let mut store = place.open();
    let mut one = run(&mut store, |tx| {
        pipeline(tx, "g/p", ["gate", "main", "12,1"])
    });
    assert_eq!(
        run(&mut place.open(), |tx| tx.pipeline(1)),
        Some(one.clone())
    );
    let found = run(&mut store, |tx| tx.pipeline_definition(1));
    let words = ["gate", "main", "12,1"];
    assert_eq!(found, Some(pipeline_definition("g/p", words)));
    let mut stale = one.clone();
    one.status = PipelineStatus::Failed;
    one.finished_at = Some(at(9));
    store.jobs(|tx| tx.save_pipeline(&mut one)).unwrap();
    let found = run(&mut store, |tx| tx.pipeline_for_change(1));
    assert_eq!(found, Some(one));
    let error = store.jobs(|tx| tx.save_pipeline(&mut stale)).unwrap_err();
    assert!(matches!(error, JobsError::Stale { .. }), "{error}");
    assert_eq!(run(&mut store, |tx| tx.pipeline(2)), None);
}

fn the_newest_and_the_live_ones_are_found(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        pipeline(tx, "g/p", ["check", "main", "12,1"])?; // 1
        pipeline(tx, "g/p", ["gate", "main", "12,1"])?; // 2
        pipeline(tx, "g/p", ["check", "main", "12,2"])?; // 3
        pipeline(tx, "g/p", ["check", "dev", ""])?; // 4
        pipeline(tx, "g/q", ["check", "main", "12,1"])?; // 5
        let mut done = pipeline(tx, "g/p", ["check", "main", "12,1"])?; // 6
        done.status = PipelineStatus::Success;
        done.finished_at = Some(at(1));
        tx.save_pipeline(&mut done)
    });
    let any = PipelineMatch {
        project: "g/p",
        name: None,
        git_ref: None,
        change: None,
    };
    let (name, change, git_ref) = (Some("check"), Some("12,1"), Some("main"));
    for (wanted, all, live) in [
        (any, &[6, 4, 3, 2, 1][..], &[4, 3, 2, 1][..]),
        (PipelineMatch { name, ..any }, &[6, 4, 3, 1], &[4, 3, 1]),
        (PipelineMatch { change, ..any }, &[6, 2, 1], &[2, 1]),
        (
            PipelineMatch {
                name,
                change,
                ..any
            },
            &[6, 1],
            &[1],
        ),
        (
            PipelineMatch {
                name,
                git_ref,
                ..any
            },
            &[6, 3, 1],
            &[3, 1],
        ),
        (
            PipelineMatch {
                project: "g",
                ..any
            },
            &[],
            &[],
        ),
    ] {
        let ids =
            |found: Vec<PipelineRecord>| found.into_iter().map(|one| one.id).collect::<Vec<_>>();
        let found = run(&mut store, |tx| tx.list_pipelines(&wanted, None, 10));
        assert_eq!(ids(found), all, "{wanted:?}");
        let found = run(&mut store, |tx| tx.live_pipelines(&wanted, None, 10));
        assert_eq!(ids(found), live, "{wanted:?}");
        let newest = run(&mut store, |tx| tx.newest_pipeline(&wanted));
        assert_eq!(newest.map(|one| one.id), all.first().copied());
        let next = run(&mut store, |tx| {
            tx.list_pipelines(&wanted, all.first().copied(), 1)
        });
        assert_eq!(ids(next).first(), all.get(1));
    }
}

fn what_is_not_finished_is_counted_and_what_has_not_started_is_found(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        for (project, name) in [
            ("g/p", "check"),
            ("g/p", "check"),
            ("g/p", "gate"),
            ("h", "check"),
        ] {
            let pipeline = pipeline(tx, project, [name, "main", ""])?;
            let id = tx.new_id(IdKind::Job)?;
            let mut job = JobRecord::new(id, Some(pipeline.id), definition(project), at(0));
            tx.insert_job(&mut job)?;
        }
        let mut single = JobRecord::new(tx.new_id(IdKind::Job)?, None, definition("h"), at(0));
        tx.insert_job(&mut single)?;
        let mut done = tx.pipeline_for_change(2)?.unwrap();
        done.status = PipelineStatus::Canceled;
        tx.save_pipeline(&mut done)?;
        let mut running = tx.pipeline_for_change(4)?.unwrap();
        running.status = PipelineStatus::Running;
        tx.save_pipeline(&mut running)
    });
    let counts = run(&mut store, |tx| tx.live_pipeline_counts());
    let counts: Vec<_> = counts
        .iter()
        .map(|one| (&*one.project, &*one.name, one.status, one.count))
        .collect();
    assert_eq!(
        counts,
        [
            ("g/p", "check", PipelineStatus::Created, 1),
            ("g/p", "gate", PipelineStatus::Created, 1),
            ("h", "check", PipelineStatus::Running, 1),
        ]
    );
    run(&mut store, |tx| {
        let mut job = tx.job_for_change(3)?.unwrap();
        apply(&mut job, &Event::Skip, 3);
        tx.save_job(&mut job)
    });
    let mut found = run(&mut store, |tx| tx.created_jobs(None, 3));
    found.extend(run(&mut store, |tx| tx.created_jobs(Some(4), 3)));
    let found: Vec<_> = found
        .iter()
        .map(|job| (job.id, &*job.project, job.pipeline))
        .collect();
    assert_eq!(
        found,
        [
            (1, "g/p", Some(1)),
            (2, "g/p", Some(2)),
            (4, "h", Some(4)),
            (5, "h", None),
        ]
    );
}

fn jobs_of_a_pipeline_are_together(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        for number in 1..=2 {
            let pipeline = pipeline(tx, "g/p", ["", "main", ""])?;
            assert_eq!(pipeline.id, number);
            for id in tx.new_ids(IdKind::Job, 3)? {
                let mut job = JobRecord::new(id, Some(pipeline.id), definition("g/p"), at(0));
                tx.insert_job(&mut job)?;
            }
        }
        Ok(())
    });
    run(&mut store, |tx| {
        for mut job in tx.jobs_of_pipeline_for_change("g/p", 2)? {
            apply(&mut job, &Event::Skip, 3);
            tx.save_job(&mut job)?;
        }
        Ok(())
    });
    for (pipeline, ids, is_finished) in [(1, [1, 2, 3], false), (2, [4, 5, 6], true)] {
        let jobs = run(&mut store, |tx| tx.jobs_of_pipeline("g/p", pipeline));
        let found: Vec<u64> = jobs.iter().map(|job| job.in_pipeline().id).collect();
        assert_eq!(found, ids);
        let narrow = run(&mut store, |tx| tx.pipeline_jobs("g/p", pipeline));
        let wide: Vec<PipelineJob> = jobs.iter().map(|job| job.in_pipeline()).collect();
        assert_eq!(narrow, wide);
        assert!(
            jobs.iter()
                .all(|job| job.state.status.is_finished() == is_finished)
        );
    }
    assert!(run(&mut store, |tx| tx.jobs_of_pipeline("g/p", 3)).is_empty());
}

fn jobs_of_a_pipeline_change_one_after_the_other(place: &Place) {
    let mut store = place.open();
    let ids = run(&mut store, |tx| {
        let pipeline = pipeline(tx, "g/p", ["", "main", ""])?;
        let ids = tx.new_ids(IdKind::Job, 6)?;
        for id in &ids {
            let mut job = JobRecord::new(*id, Some(pipeline.id), definition("g/p"), at(0));
            tx.insert_job(&mut job)?;
        }
        Ok(ids)
    });
    let runs = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for id in ids {
            let runs = &runs;
            scope.spawn(move || {
                let mut store = place.open();
                for _ in 0..10 {
                    run(&mut store, |tx| {
                        runs.fetch_add(1, Ordering::Relaxed);
                        let mut job = tx.job_for_change(id)?.unwrap();
                        tx.save_job(&mut job)?;
                        // What a job that finishes does to the others.
                        for mut job in tx.jobs_of_pipeline_for_change("g/p", 1)? {
                            tx.save_job(&mut job)?;
                        }
                        let mut pipeline = tx.pipeline_for_change(1)?.unwrap();
                        tx.save_pipeline(&mut pipeline)
                    });
                }
            });
        }
    });
    // None had to be run again.
    assert_eq!(runs.into_inner(), 60);
    let jobs = run(&mut store, |tx| tx.jobs_of_pipeline("g/p", 1));
    assert!(jobs.iter().all(|job| job.version() == 1 + 60 + 10));
}
