//! A process that is killed while it writes loses nothing that it acknowledged, and doubles nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use portcullis_jobs::Event;
use portcullis_store::{
    IdKind, JobFilter, JobRecord, JobsError, JobsWriter, Location, Mode, Store,
};

use super::builders::{apply, at, definition, deliver, run};
use crate::place::Place;

crate::on_both!(what_was_acknowledged_before_the_kill_is_there_after_it);

/// Where the process that will be killed writes, and what its jobs are called.
const LOCATION: &str = "PORTCULLIS_TEST_JOBS_IN";
const ROUND: &str = "PORTCULLIS_TEST_JOBS_ROUND";

const ROUNDS: usize = 6;
const THREADS: usize = 8;

fn what_was_acknowledged_before_the_kill_is_there_after_it(place: &Place) {
    drop(place.open());
    let mut acknowledged: BTreeMap<String, u64> = BTreeMap::new();
    for round in 0..ROUNDS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "jobs::killed::writes_until_killed",
                "--nocapture",
            ])
            .env(LOCATION, place.url())
            .env(ROUND, round.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut lines = 0;
        for line in output.lines() {
            let line = line.unwrap();
            let Some((name, id)) = line
                .strip_prefix("stored ")
                .and_then(|line| line.split_once(' '))
            else {
                continue;
            };
            let before = acknowledged.insert(name.to_owned(), id.parse().unwrap());
            assert_eq!(before, None, "{name} was acknowledged twice");
            lines += 1;
            if lines == 40 + 17 * round {
                // SIGKILL. What it had printed by then is still read.
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(lines >= 40 + 17 * round);

        let filter = JobFilter::default();
        let jobs = run(&mut place.open(), |tx| tx.list_jobs(&filter, None, 100_000));
        let names: BTreeSet<&str> = jobs
            .iter()
            .map(|job| job.definition.name.as_str())
            .collect();
        assert_eq!(names.len(), jobs.len(), "some are there twice");
        let by_id: BTreeMap<u64, &JobRecord> = jobs.iter().map(|job| (job.id, job)).collect();
        for (name, id) in &acknowledged {
            assert_eq!(by_id[id].definition.name, *name);
        }
        // All of an operation, or nothing: each job has its place in the queue and its delivery.
        let count = i64::try_from(jobs.len()).unwrap();
        assert_eq!(place.number("SELECT COUNT(*) FROM pending_jobs"), count);
        assert_eq!(place.number("SELECT COUNT(*) FROM deliveries"), count);
        // At most one for each thread was under way and not acknowledged.
        assert!(jobs.len() <= acknowledged.len() + THREADS * (round + 1));
    }
}

/// What the other test runs as a process of its own; alone it has nothing to do.
#[test]
fn writes_until_killed() {
    let (Ok(location), Ok(round)) = (std::env::var(LOCATION), std::env::var(ROUND)) else {
        return;
    };
    let location = Location::parse(&location, Path::new("/")).unwrap();
    let store = Store::open(&location, Mode::ReadWrite).unwrap();
    let writer = JobsWriter::start(store, THREADS).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (writer, round) = (&writer, &round);
            scope.spawn(move || {
                for number in 0_u32.. {
                    let name = format!("{round}-{thread}-{number}");
                    let mut definition = definition("g/p");
                    definition.name.clone_from(&name);
                    let id = writer.run(move |tx| {
                        let id = tx.new_id(IdKind::Job)?;
                        let mut job = JobRecord::new(id, None, definition.clone(), at(0));
                        tx.insert_job(&mut job)?;
                        apply(&mut job, &Event::Enqueue, 1);
                        tx.save_job(&mut job)?;
                        deliver(tx, "g/p", 1)?;
                        Ok::<_, JobsError>(id)
                    });
                    // One write for each line, so that none is torn.
                    let line = format!("stored {name} {}\n", id.unwrap());
                    std::io::stdout().write_all(line.as_bytes()).unwrap();
                }
            });
        }
    });
}
