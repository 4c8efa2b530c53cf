//! A primary that is lost, and its standby that takes its place.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use portcullis_jobs::Event;
use portcullis_store::{JobsError, JobsWriter, Location, Mode, Store};
use portcullis_testing::until;

use crate::jobs::builders::{insert, run};
use crate::server::Server;

/// Both servers in one address.
fn both(first: &Server, second: &Server, database: &str, options: &str) -> Location {
    let (one, two) = (first.port(), second.port());
    let url = format!(
        "postgres://portcullis@127.0.0.1:{one},127.0.0.1:{two}/{database}?sslmode=disable{options}"
    );
    Location::parse(&url, Path::new("/")).unwrap()
}

/// Whether a query gives a row.
fn has_row(server: &Server, sql: &str) -> bool {
    !server.sql("postgres", sql).is_empty()
}

#[test]
fn no_acknowledged_job_is_lost_when_a_standby_is_promoted() {
    let primary = Server::start(&[]);
    let database = primary.database();
    let standby = primary.standby();
    // The standby is first: it is passed over while it accepts no writes.
    let location = both(&standby, &primary, &database, "");
    let store = Store::open(&location, Mode::ReadWrite).unwrap();
    let writer = JobsWriter::start(store, 64).unwrap();
    let mut reader = Store::open(&location, Mode::ReadOnly).unwrap();
    let is_over = AtomicBool::new(false);
    let (acknowledged, unknown) = std::thread::scope(|scope| {
        let submitting = scope.spawn(|| {
            let (mut acknowledged, mut unknown, mut after) = (Vec::new(), 0, 0);
            // Some more after the promotion.
            while after < 20 {
                match writer.run(|tx| insert(tx, "g/p", &[Event::Enqueue])) {
                    Ok(job) => {
                        acknowledged.push(job.id);
                        after += usize::from(is_over.load(Ordering::Relaxed));
                    }
                    Err(JobsError::Uncertain(_)) => unknown += 1,
                    Err(error) => assert!(error.is_temporary(), "{error}"),
                }
            }
            (acknowledged, unknown)
        });
        until("jobs are stored", || {
            let count = reader.read_jobs(|reader| reader.list_jobs(&Default::default(), None, 50));
            count.is_ok_and(|jobs| jobs.len() == 50)
        });
        primary.kill();
        standby.promote();
        is_over.store(true, Ordering::Relaxed);
        submitting.join().unwrap()
    });
    drop(writer);

    let mut store = Store::open(&location, Mode::ReadWrite).unwrap();
    for id in &acknowledged {
        assert!(run(&mut store, |tx| tx.job(*id)).is_some(), "{id} is lost");
    }
    let stored = run(&mut store, |tx| {
        tx.list_jobs(&Default::default(), None, 1_000_000)
    });
    assert!(stored.len() <= acknowledged.len() + unknown);
    // One who only reads goes over as well.
    until("the reader reconnects", || {
        let job = reader.read_jobs(|reader| reader.job(acknowledged[0]));
        job.is_ok_and(|job| job.is_some())
    });
}

#[test]
fn a_primary_that_came_back_as_a_standby_is_passed_over() {
    let first = Server::start(&[]);
    let database = first.database();
    let second = Server::start(&[]);
    second.sql("postgres", &format!("CREATE DATABASE {database}"));
    let location = both(&first, &second, &database, "");
    let mut store = Store::open(&location, Mode::ReadWrite).unwrap();
    run(&mut store, |tx| insert(tx, "g/p", &[]));
    drop(Store::open(&both(&second, &first, &database, ""), Mode::ReadWrite).unwrap());

    // Its connections stay open, and it rejects writes from now on.
    first.sql(
        "postgres",
        "ALTER SYSTEM SET default_transaction_read_only = on",
    );
    first.sql("postgres", "SELECT pg_reload_conf()");
    let mut failed = 0;
    until("the other one is written to", || {
        match store.jobs(|tx| insert(tx, "h/p", &[])) {
            Ok(_) => {
                let sql = "SELECT 1 FROM jobs WHERE root = 'h'";
                let url = second.url(&database);
                let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
                !client.query(sql, &[]).unwrap().is_empty()
            }
            Err(error) => {
                assert!(error.is_temporary(), "{error}");
                failed += 1;
                false
            }
        }
    });
    assert!(failed <= 1, "one transaction at most notices");

    // If none accepts writes, that is temporary; whoever says that this doesn't matter may read.
    second.sql(
        "postgres",
        "ALTER SYSTEM SET default_transaction_read_only = on",
    );
    second.sql("postgres", "SELECT pg_reload_conf()");
    until("none accepts writes", || {
        match Store::open(&location, Mode::ReadWrite) {
            Ok(_) => false,
            Err(error) => {
                assert!(error.is_temporary(), "{error}");
                true
            }
        }
    });
    let any = both(&first, &second, &database, "&target_session_attrs=any");
    let mut reader = Store::open(&any, Mode::ReadOnly).unwrap();
    let jobs = reader.read_jobs(|reader| reader.list_jobs(&Default::default(), None, 10));
    assert!(!jobs.unwrap().is_empty());
}

#[test]
fn a_commit_that_stops_waiting_for_its_standby_is_uncertain() {
    let server = Server::start(&[]);
    let database = server.database();
    let location = Location::parse(&server.url(&database), Path::new("/")).unwrap();
    let mut store = Store::open(&location, Mode::ReadWrite).unwrap();
    server.sql(
        "postgres",
        "ALTER SYSTEM SET synchronous_standby_names = 'nobody'",
    );
    server.sql("postgres", "SELECT pg_reload_conf()");
    let waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    until("a commit waits", || {
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| store.jobs(|tx| insert(tx, "g/p", &[])));
            // A commit before the new setting was read doesn't wait.
            while !writing.is_finished() && !has_row(&server, &format!("SELECT 1 {waiting}")) {
                std::thread::yield_now();
            }
            server.sql(
                "postgres",
                &format!("SELECT pg_cancel_backend(pid) {waiting}"),
            );
            match writing.join().unwrap() {
                Ok(_) => false,
                Err(error) => {
                    assert!(matches!(error, JobsError::Uncertain(_)), "{error}");
                    assert!(!error.is_temporary());
                    true
                }
            }
        })
    });
    // It took effect here, but a standby wouldn't have it.
    server.sql("postgres", "ALTER SYSTEM RESET synchronous_standby_names");
    server.sql("postgres", "SELECT pg_reload_conf()");
    assert!(run(&mut store, |tx| tx.job(1)).is_some());
}

#[test]
fn settings_that_lose_acknowledged_jobs_are_reported() {
    let server = Server::start(&["fsync = on"]);
    let database = server.database();
    let risk = |options: &str| {
        let url = format!("{}{options}", server.url(&database));
        let location = Location::parse(&url, Path::new("/")).unwrap();
        let mut store = Store::open(&location, Mode::ReadWrite).unwrap();
        store.durability_risk().unwrap()
    };
    assert_eq!(risk(""), None);
    let off = risk("?options=-c%20synchronous_commit%3Doff").unwrap();
    assert!(off.contains("`synchronous_commit = off`"), "{off}");
    // Without a standby that is to be waited for, this is all there is.
    assert_eq!(risk("?options=-c%20synchronous_commit%3Dlocal"), None);
    let folder = tempfile::TempDir::new().unwrap();
    let mut embedded =
        Store::open(&Location::in_directory(folder.path()), Mode::ReadWrite).unwrap();
    assert_eq!(embedded.durability_risk().unwrap(), None);
}
