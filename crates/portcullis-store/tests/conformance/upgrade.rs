//! A store that an older version made.

use portcullis_store::{Filter, IdKind, JobsError, StateChange, StoreError};

use crate::holds::{place_one, wish};
use crate::place::Place;
use crate::records::{append, at, ids, line, simple};

crate::on_both!(
    decisions_of_the_first_version_are_all_there,
    many_may_bring_it_up_to_date_at_once,
    the_fourth_version_gets_tables_for_jobs,
);

/// What came with jobs. The sequences go with their tables.
const DROP_JOBS: &str = "DROP TABLE pipelines; DROP TABLE jobs; DROP TABLE pending_jobs; \
    DROP TABLE admission_decisions; DROP TABLE controllers; DROP TABLE deliveries; \
    DROP TABLE runners; DROP TABLE exemptions; DROP TABLE exemption_uses; DROP TABLE ci_keys; \
    DROP TABLE running_jobs; DROP TABLE runner_managers; \
    DROP TABLE archived_pipelines; DROP TABLE archived_jobs; \
    DROP TABLE archived_admission_decisions; DROP TABLE archived_deliveries; \
    DROP TABLE traces; DROP TABLE trace_chunks; DROP TABLE artifacts; DROP TABLE projects";

/// What the first version would have left.
fn first_version(place: &Place) {
    append(&mut place.open(), &simple(0..50));
    place.meddle(DROP_JOBS);
    place.meddle(
        "DROP TABLE holds; DROP TABLE tenant_states; DROP TABLE ended_sessions; \
         DROP INDEX decision_batches_whole; \
         ALTER TABLE decisions DROP COLUMN size; ALTER TABLE decision_batches DROP COLUMN removed; \
         ALTER TABLE decision_batches DROP COLUMN thinned; \
         DELETE FROM counters WHERE name NOT IN ('decisions', 'upkeep'); \
         DELETE FROM portcullis_migrations WHERE version > 1",
    );
}

fn decisions_of_the_first_version_are_all_there(place: &Place) {
    first_version(place);
    // A read-only connection changes nothing, and says what is needed.
    let error = place.read_only().unwrap_err();
    assert!(
        matches!(error, StoreError::Older { found: 1, needed, .. } if needed >= 2),
        "{error}"
    );
    let mut store = place.open();
    assert_eq!(ids(&mut store, &Filter::default()).len(), 50);
    for summary in simple(0..50) {
        assert_eq!(store.get(&summary.id).unwrap(), Some(line(&summary)));
    }
    append(&mut store, &simple(50..51));
    assert_eq!(store.newest().unwrap().number(), 51);
    assert_eq!(place_one(&mut store, &wish("a", "p")).id, 1);
    let change = StateChange {
        trigger_queue_paused: Some(true),
        ..StateChange::default()
    };
    store.change_tenant_state("a", &change, "x", at(0)).unwrap();
    drop(store);
    let mut reader = place.read_only().unwrap();
    assert_eq!(ids(&mut reader, &Filter::default()).len(), 51);
    assert_eq!(reader.holds("a", None, at(0)).unwrap().len(), 1);
}

fn many_may_bring_it_up_to_date_at_once(place: &Place) {
    first_version(place);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| place_one(&mut place.open(), &wish("a", "p")));
        }
    });
    let mut store = place.open();
    assert_eq!(store.holds("a", None, at(0)).unwrap().len(), 6);
    assert_eq!(ids(&mut store, &Filter::default()).len(), 50);
}

fn the_fourth_version_gets_tables_for_jobs(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(0..5));
    place_one(&mut store, &wish("a", "p"));
    drop(store);
    place.meddle(DROP_JOBS);
    place.meddle(
        "DROP INDEX holds_job; \
         DELETE FROM counters WHERE name NOT IN ('decisions', 'upkeep', 'holds'); \
         DELETE FROM portcullis_migrations WHERE version > 4",
    );
    let error = place.read_only().unwrap_err();
    assert!(
        matches!(error, StoreError::Older { found: 4, needed, .. } if needed >= 5),
        "{error}"
    );
    let mut store = place.open();
    let id = store.jobs(|tx| tx.new_id(IdKind::Job));
    assert_eq!(id.map_err(|error: JobsError| error.to_string()), Ok(1));
    assert_eq!(ids(&mut store, &Filter::default()).len(), 5);
    assert_eq!(place_one(&mut store, &wish("a", "p")).id, 2);
}
