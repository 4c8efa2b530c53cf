//! Agents at a running server: directories and profiles that change, faults, logs. What agents may do is
//! tested in portcullis-server.

mod directory;
mod operations;

use portcullis_testing::garden::{config, place};
use serde_json::Value;

use crate::harness::{Gate, Setup};

fn with_objects(setup: Setup, objects: &[Value]) -> Setup {
    std::fs::create_dir_all(setup.path("objects")).unwrap();
    objects.iter().fold(setup, |setup, object| {
        setup.file(&place(object), object.to_string())
    })
}

/// A gate for the agents of this garden.
#[track_caller]
fn gate(objects: &[Value]) -> Gate {
    with_objects(Setup::new(config("gardener")), objects).start()
}
