//! `portcullis check`.

use clap::Args;
use portcullis_config::ConfigSource;
use portcullis_document::{Fault, Faults, Warning};
use portcullis_server::Report;
use serde_json::{Value, json};

use super::text::data::Output;
use super::text::plain::counted;
use super::text::{data, error};
use crate::arguments::{Admission, Configuration, load_options};
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    configuration: Configuration,
    #[command(flatten)]
    admission: Admission,
    /// Treat warnings as errors.
    #[arg(long)]
    strict: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// Validates a configuration.
pub(super) fn run(check: &Check) -> Exit {
    let registry = portcullis_gate::registry();
    let known = registry.names();
    let file = check.configuration.file();
    let source = ConfigSource::File(&file);
    let Report { faults, warnings } =
        portcullis_server::examine(&load_options(source, &check.admission, &known));
    let faults = Faults(faults);
    let is_valid = faults.0.is_empty() && (warnings.is_empty() || !check.strict);
    if check.output == Output::Table {
        for warning in &warnings {
            error::warn(warning);
        }
        error::faults(&faults);
        if is_valid {
            let word = error::word("valid", "32");
            output::hint(&format!("{} is {word}", file.display()));
        } else if faults.0.is_empty() {
            let count = counted(warnings.len(), "warning", "warnings");
            error::tell(&format!(
                "{} has {count}, which --strict does not allow",
                file.display()
            ));
        }
    } else {
        let value = json!({
            "file": file.display().to_string(),
            "valid": is_valid,
            "errors": faults.iter().map(fault).collect::<Vec<_>>(),
            "warnings": warnings.iter().map(warning).collect::<Vec<_>>(),
        });
        output::data(&data::write(&value, check.output, String::new));
    }
    match is_valid {
        true => Exit::Yes,
        false => Exit::Invalid,
    }
}

fn fault(fault: &Fault) -> Value {
    json!({
        "file": fault.file,
        "line": fault.position.map(|at| at.line),
        "column": fault.position.map(|at| at.column),
        "path": fault.path,
        "message": fault.message,
        "suggestion": fault.suggestion,
        "help": fault.help,
    })
}

/// What is odd: the place too, where it has one.
fn warning(warning: &Warning) -> Value {
    match warning.fault() {
        Some(found) => fault(found),
        None => json!({"message": warning.to_string()}),
    }
}
