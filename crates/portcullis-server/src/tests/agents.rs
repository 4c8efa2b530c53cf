//! Agents: profiles of the graph over objects in a directory. Changes of it are tested with the program.

mod admission;
mod chains;

use portcullis_testing::garden::{config, place};
use serde_json::Value;

use super::harness::{Gate, Setup};

fn with_objects(setup: Setup, objects: &[Value]) -> Setup {
    objects.iter().fold(setup, |setup, object| {
        setup.file(&place(object), object.to_string())
    })
}

/// A gate for the agents of this garden.
#[track_caller]
fn gate(objects: &[Value]) -> Gate {
    with_objects(Setup::new(config("gardener")), objects).start()
}
