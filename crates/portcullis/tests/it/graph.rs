//! The relationship graph from outside: commands, calls and the page.

mod can_i;
mod check;
mod documentation;
mod export;
mod page;
mod paths;
mod remote;
mod rest;
mod unread;
mod usage;

use serde_json::{Value, json};

use crate::harness::{Folder, Ran, run_in};

/// A profile for robots that clean desks.
const PROFILE: &str = include_str!("graph/office.yaml");
/// Its objects: `Badge:hq/b1 -> Desk:hq/d1 -> Robot:r1`, `Desk:hq/d2 -> Robot:r2`, `Desk:hq/d1 -> Floor:f1`.
const OBJECTS: &str = include_str!("graph/objects.yaml");

/// A folder with a profile, its objects and a configuration with both.
fn office() -> Folder {
    let folder = Folder::new();
    folder.write("office.yaml", PROFILE);
    folder.write("objects/all.yaml", OBJECTS);
    folder.write("portcullis.yaml", configuration().to_string());
    folder
}

/// What the folder is for.
fn configuration() -> Value {
    json!({
        "graph": {"profiles": [{"name": "office", "profile": "office.yaml", "objects": "objects"}]},
        "authorization": {
            "authorizers": [{"name": "nobody", "driver": "AlwaysDeny"}],
            "chains": {"office": ["office"]},
        },
    })
}

/// The two ways of naming the graph of the folder, without a server.
const PLACES: [&[&str]; 2] = [
    &["--config", "portcullis.yaml"],
    &["--profile", "office.yaml", "--objects", "objects"],
];

/// Runs a command about the folder's graph.
#[track_caller]
fn ask(folder: &Folder, command: &[&str], place: &[&str]) -> Ran {
    run_in(folder, &[command, place].concat())
}

#[track_caller]
fn json_of(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err))
}

/// Standard error says all of this, whatever there is on standard output.
#[track_caller]
fn told(ran: &Ran, needles: &[&str]) {
    for needle in needles {
        assert!(
            ran.err.contains(needle),
            "`{needle}` is not named: {}",
            ran.err
        );
    }
}
