//! Policies in JavaScript, as far as they need a process: logs, reloads, other programs, limits.
//! What policies return, and what follows from it, is tested in portcullis-server.

mod acjs;
mod cases;
mod context;
mod documentation;
mod hostile;
mod meaning;
mod open;
mod outside;
mod reload;

use portcullis_testing::policies::{fruit, named, native, review_of};
use serde_json::json;

use crate::harness::{Gate, Setup};

/// A gate with a policy folder of these files.
fn gate_with_folder(files: &[(&str, &str)]) -> Gate {
    let config = json!({"policyDirs": ["policies"], "defaultAction": "allow"});
    let setup = files
        .iter()
        .fold(Setup::new(config), |setup, (name, text)| {
            setup.file(&format!("policies/{name}"), text)
        });
    setup.start()
}
