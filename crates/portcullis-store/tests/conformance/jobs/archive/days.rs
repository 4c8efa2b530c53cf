//! Days of the archive: ready before they are needed, dropped whole.

use portcullis_store::ExpiredJobs;

use super::builders::{archive_all, counts, pipeline, single};
use crate::jobs::builders::{at, run};
use crate::place::Place;

crate::on_both!(whole_days_are_deleted_and_later_ones_stay);

const DAY: u64 = 86_400;

/// The partitions of the archive, by name.
fn partitions(place: &Place) -> Vec<String> {
    let mut client = postgres::Client::connect(&place.url(), postgres::NoTls).unwrap();
    let sql = "SELECT relname::text FROM pg_class WHERE relkind = 'r' \
               AND relname LIKE 'archived_%' ORDER BY relname";
    let rows = client.query(sql, &[]).unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

/// The four partitions of each of these dates.
fn of_dates(dates: &[&str]) -> Vec<String> {
    let tables = ["admission_decisions", "deliveries", "jobs", "pipelines"];
    let each = |table: &&str| -> Vec<String> {
        let name = |date: &&str| format!("archived_{table}_{date}");
        dates.iter().map(name).collect()
    };
    tables.iter().flat_map(each).collect()
}

fn whole_days_are_deleted_and_later_ones_stay(place: &Place) {
    let mut store = place.open();
    let kept = run(&mut store, |tx| {
        for day in 0..3 {
            single(tx, "g/p", day * DAY)?;
            pipeline(tx, "h/p", 3, Some(day * DAY))?;
        }
        single(tx, "g/p", 3 * DAY)
    });
    archive_all(&mut store, at(9 * DAY));
    assert_eq!(counts(place), [[0; 4], [3, 13, 13, 13]]);
    let mut steps = 0;
    while !run(&mut store, |tx| tx.expire_archived(at(3 * DAY), 2)).is_empty() {
        steps += 1;
    }
    assert!(steps > 2, "in small steps");
    assert_eq!(counts(place), [[0; 4], [0, 1, 1, 1]]);
    assert!(run(&mut store, |tx| tx.job(kept)).is_some());
}

#[test]
fn partitions_are_ready_before_they_are_needed() {
    let place = Place::postgres();
    drop(place.open());
    assert_eq!(partitions(&place), [""; 0]);
    // Whichever server is first, and also if all are.
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| run(&mut place.open(), |tx| tx.prepare_archive(at(0))));
        }
    });
    let ahead = of_dates(&["20260921", "20260922"]);
    assert_eq!(partitions(&place), ahead);
    // Nothing more is created for what finishes on these days.
    let mut store = place.open();
    run(&mut store, |tx| single(tx, "g/p", 10));
    archive_all(&mut store, at(20));
    assert_eq!(partitions(&place), ahead);
}

#[test]
fn retention_drops_partitions_and_deletes_no_row() {
    let place = Place::postgres();
    let mut store = place.open();
    run(&mut store, |tx| {
        for day in 0..3 {
            single(tx, "g/p", day * DAY)?;
            pipeline(tx, "h/p", 3, Some(day * DAY))?;
        }
        Ok(())
    });
    archive_all(&mut store, at(9 * DAY));
    place.meddle(
        "CREATE FUNCTION deny() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION 'a row was deleted'; END $$",
    );
    for table in ["admission_decisions", "deliveries", "jobs", "pipelines"] {
        place.meddle(&format!(
            "CREATE TRIGGER no_delete BEFORE DELETE ON archived_{table} FOR EACH ROW \
             EXECUTE FUNCTION deny()"
        ));
    }
    assert_eq!(
        partitions(&place),
        of_dates(&["20260921", "20260922", "20260923"])
    );
    let expired = run(&mut store, |tx| tx.expire_archived(at(2 * DAY), 1));
    assert_eq!(expired, ExpiredJobs { days: 1, rows: 0 });
    assert_eq!(partitions(&place), of_dates(&["20260922", "20260923"]));
    let expired = run(&mut store, |tx| tx.expire_archived(at(2 * DAY), 1));
    assert_eq!(expired, ExpiredJobs { days: 1, rows: 0 });
    let expired = run(&mut store, |tx| tx.expire_archived(at(2 * DAY), 1));
    assert!(expired.is_empty());
    assert_eq!(partitions(&place), of_dates(&["20260923"]));
    assert_eq!(counts(&place), [[0; 4], [1, 4, 4, 4]]);
}

#[test]
fn a_long_read_delays_retention_and_nothing_else() {
    let place = Place::postgres();
    let mut store = place.open();
    run(&mut store, |tx| single(tx, "g/p", 10));
    archive_all(&mut store, at(20));
    let mut client = postgres::Client::connect(&place.url(), postgres::NoTls).unwrap();
    let mut reading = client.transaction().unwrap();
    reading.query("SELECT * FROM archived_jobs", &[]).unwrap();
    let error = store
        .jobs(|tx| tx.expire_archived(at(2 * DAY), 1))
        .unwrap_err();
    assert!(error.is_temporary(), "{error}");
    // Jobs are submitted, archived on days that have no partition yet, and read.
    let job = run(&mut store, |tx| single(tx, "g/p", DAY));
    archive_all(&mut store, at(9 * DAY));
    assert!(run(&mut store, |tx| tx.job(job)).is_some());
    reading.commit().unwrap();
    let expired = run(&mut store, |tx| tx.expire_archived(at(DAY), 1));
    assert_eq!(expired, ExpiredJobs { days: 1, rows: 0 });
}
