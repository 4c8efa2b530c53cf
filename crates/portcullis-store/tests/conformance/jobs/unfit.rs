//! Jobs that a runner may not take are not even read.

use portcullis_jobs::Event;

use super::builders::{apply, run};
use super::take::enqueue;
use crate::place::Place;

crate::on_both!(a_hundred_thousand_unfit_jobs_before_a_fit_one_are_not_read);

/// Rows of jobs that nothing else is stored of: whoever reads more than their places finds out.
const UNFIT: &str = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100000) \
    INSERT INTO pending_jobs (root, job, project, promoted, protected, tags, queued_at, lane) \
    SELECT 'u', n, 'u/p', 0, 0, '[]', 0, n % 10 FROM n";

fn a_hundred_thousand_unfit_jobs_before_a_fit_one_are_not_read(place: &Place) {
    let mut store = place.open();
    // Case 54.
    run(&mut store, |tx| {
        tx.new_ids(portcullis_store::IdKind::Job, 100_000)
    });
    place.meddle(UNFIT);
    let fit = run(&mut store, |tx| enqueue(tx, "g/p", &["a"]));
    let taken = run(&mut store, |tx| {
        let mut taken = tx.pending_for_taking(&[(fit.lane(), 5)])?.remove(0);
        for job in &mut taken {
            apply(job, &Event::Take { runner: 1 }, 2);
            tx.save_job(job)?;
        }
        Ok(taken)
    });
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0].id, fit.id);
    assert_eq!(run(&mut store, |tx| tx.lanes(None, 100)).len(), 10);
    // A lane is read in its order, from an index, and nothing is sorted.
    let query = "SELECT promoted, job FROM pending_jobs WHERE lane = 7 \
                 ORDER BY lane, promoted DESC, job LIMIT 5";
    // The next lane is found by skipping.
    let next = "SELECT lane FROM pending_jobs WHERE lane > 7 \
                ORDER BY lane, promoted DESC, job LIMIT 1";
    for sql in [query, next] {
        let plan = place.plan(sql);
        assert!(plan.contains("pending_jobs_lane"), "{plan}");
        for word in ["Sort", "Seq Scan", "SCAN", "TEMP B-TREE"] {
            assert!(!plan.contains(word), "{plan}");
        }
    }
}
