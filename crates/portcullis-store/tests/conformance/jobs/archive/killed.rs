//! A process that is killed while it archives and restores leaves everything in one place.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use portcullis_store::{Location, Mode, Store};

use super::builders::{counts, pipeline};
use crate::jobs::builders::{at, run};
use crate::place::Place;

crate::on_both!(everything_is_in_one_place_after_a_kill);

/// Where the process that will be killed works.
const LOCATION: &str = "PORTCULLIS_TEST_ARCHIVE_IN";

fn everything_is_in_one_place_after_a_kill(place: &Place) {
    let pipelines: Vec<u64> = run(&mut place.open(), |tx| {
        (0..8).map(|_| pipeline(tx, "g/p", 3, Some(10))).collect()
    });
    for round in 0..6 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "jobs::archive::killed::moves_until_killed",
                "--nocapture",
            ])
            .env(LOCATION, place.url())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let moves = lines.filter(|line| line.as_ref().unwrap().starts_with("moved"));
        assert_eq!(moves.take(5 + 3 * round).count(), 5 + 3 * round);
        // SIGKILL, in the middle of something.
        child.kill().unwrap();
        child.wait().unwrap();

        let mut store = place.open();
        let [current, archived] = counts(place);
        let both: Vec<i64> = current.iter().zip(archived).map(|(a, b)| a + b).collect();
        assert_eq!(both, [8, 24, 24, 24]);
        for id in &pipelines {
            let jobs = run(&mut store, |tx| tx.jobs_of_pipeline("g/p", *id));
            assert_eq!(jobs.len(), 3, "pipeline {id} is whole");
            for job in jobs {
                let decisions = run(&mut store, |tx| tx.admission_decisions(&job));
                assert_eq!(decisions.len(), 1, "with what belongs to it");
            }
        }
    }
}

/// What the other test runs as a process of its own; alone it has nothing to do.
#[test]
fn moves_until_killed() {
    let Ok(location) = std::env::var(LOCATION) else {
        return;
    };
    let location = Location::parse(&location, Path::new("/")).unwrap();
    let mut store = Store::open(&location, Mode::ReadWrite).unwrap();
    for number in 1.. {
        run(&mut store, |tx| tx.archive_finished(at(20), 4));
        run(&mut store, |tx| tx.pipeline_for_change(number % 8 + 1));
        std::io::stdout().write_all(b"moved\n").unwrap();
    }
}
