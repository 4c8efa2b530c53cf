//! What policies return, and what follows from it.

mod acjs;
mod cases;
mod context;
mod failure;
mod forward;
mod helpers;
mod isolation;
mod matching;
mod modes;
mod modules;
mod operations;
mod order;

use serde_json::json;

use super::harness::{Gate, Setup};

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
