//! A process killed while it stores loses at most the batch under way.

use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};

use portcullis_store::{Filter, Location, Mode, Store};

use crate::place::Place;
use crate::records::{append, simple};

/// Where the process that will be killed stores.
const FOLDER: &str = "PORTCULLIS_TEST_APPEND_IN";

const SIZE: u64 = 20;

#[test]
fn what_was_stored_before_the_kill_is_there_after_it() {
    let place = Place::sqlite();
    let folder = place.file().unwrap().parent().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::stores_until_killed", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stored = 0;
    let output = BufReader::new(child.stdout.take().unwrap());
    for line in output.lines() {
        if !line.unwrap().starts_with("stored") {
            continue;
        }
        stored += 1;
        if stored == 25 {
            // SIGKILL. What it had printed by then is still read.
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(stored >= 25);

    // First read-only, with the log as it was left.
    for mode in [Mode::ReadOnly, Mode::ReadWrite] {
        let mut store = Store::open(&Location::in_directory(folder), mode).unwrap();
        let count = store.count(&Filter::default()).unwrap();
        assert!(
            (stored * SIZE..=(stored + 1) * SIZE).contains(&count),
            "{count}"
        );
        assert_eq!(count % SIZE, 0);
        let mut lines = 0;
        let each = &mut |some: Vec<String>| {
            lines += some.len() as u64;
            ControlFlow::Continue(())
        };
        store.scan(&Filter::default(), each).unwrap();
        assert_eq!(lines, count);
    }
}

/// What the other test runs as a process of its own; alone it has nothing to do.
#[test]
fn stores_until_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let location = Location::in_directory(Path::new(&folder));
    let mut store = Store::open(&location, Mode::ReadWrite).unwrap();
    for batch in 0_u64.. {
        append(&mut store, &simple(batch * SIZE..(batch + 1) * SIZE));
        println!("stored");
    }
}
