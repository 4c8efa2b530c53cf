//! `portcullis eval`: judges manifests as the server would.
//!
//! ```text
//! files -> input -> judge (reviews, Offline::judge) -> outcome -> table | json | yaml
//!                                                             \-> reports
//! ```

mod diff;
mod input;
mod judge;
mod junit;
mod outcome;
mod sarif;
mod table;
mod value;
mod yaml;

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use portcullis_core::Operation;
use portcullis_server::config::{ConfigSource, Faults, Namespace};
use portcullis_server::offline::Offline;

use self::outcome::{Evaluation, Outcome};
use super::load_options;
use crate::cli::{Eval, Output, Report, ReportKind};
use crate::exit::Exit;
use crate::output;

/// Judges the manifests and tells what came out.
pub(super) fn run(eval: &Eval) -> Exit {
    if let Err(wrong) = check_usage(eval) {
        output::tell(&format!(
            "error: {wrong}\n\nFor more information, try 'portcullis eval --help'."
        ));
        return Exit::Usage;
    }
    let offline = match load(eval) {
        Ok(offline) => offline,
        Err(faults) => {
            output::tell(&format!("{faults:#}"));
            return Exit::Invalid;
        }
    };
    for warning in &offline.warnings {
        output::tell(&format!("warning: {warning}"));
    }
    let inputs = match input::read(eval) {
        Ok(inputs) => inputs,
        Err(fault) => {
            output::tell(&format!("{fault:#}"));
            return Exit::Invalid;
        }
    };
    let evaluation = judge::all(&offline, eval, inputs);
    tell(&evaluation, eval);
    let mut exit = evaluation.exit();
    for report in &eval.report {
        if let Err(error) = write(report, &evaluation) {
            let file = report.file.display();
            output::tell(&format!("error: cannot write the report {file}: {error}"));
            exit = Exit::Failed;
        }
    }
    exit
}

/// What the definition of the command line can't say.
fn check_usage(eval: &Eval) -> Result<(), &'static str> {
    let has_chain = eval.config.is_some()
        || eval.admission.admission_control.is_some()
        || eval.admission.admission_control_config_file.is_some()
        || std::env::var_os("PORTCULLIS_ADMISSION_CONTROL").is_some_and(|v| !v.is_empty());
    if !has_chain {
        return Err(
            "nothing to judge by: give --config FILE, or --admission-control A,B,C for plug-ins that need no configuration file",
        );
    }
    match (eval.operation, &eval.old) {
        (Operation::Update, None) => {
            return Err("--operation UPDATE needs --old FILE, the objects as they are");
        }
        (Operation::Update, Some(_)) | (_, None) => {}
        (_, Some(_)) => return Err("--old is for --operation UPDATE only"),
    }
    let stdin = Path::new("-");
    let mut readers = eval.filename.iter().chain(&eval.old);
    if readers.by_ref().filter(|path| *path == stdin).count() > 1 {
        return Err("standard input can be read once only");
    }
    Ok(())
}

fn load(eval: &Eval) -> Result<Offline, Faults> {
    let registry = portcullis_server::registry();
    let known = registry.names();
    let source = match &eval.config {
        Some(file) => ConfigSource::File(file),
        None => ConfigSource::BuiltIn("{}"),
    };
    let namespace = eval.namespace.as_ref().map(|name| Namespace {
        name: name.clone(),
        labels: eval.namespace_labels.iter().cloned().collect(),
        annotations: std::collections::BTreeMap::new(),
    });
    Offline::load(&load_options(source, &eval.admission, &known), namespace)
}

fn tell(evaluation: &Evaluation, eval: &Eval) {
    match eval.output {
        Output::Table => output::data(&table::write(evaluation, eval.explain)),
        Output::Json => {
            let value = value::of(evaluation, eval.explain);
            output::data(&format!("{value:#}\n"));
        }
        Output::Yaml => output::data(&yaml::write(&value::of(evaluation, eval.explain))),
    }
    // The table has them.
    let is_told = eval.output == Output::Table;
    for outcome in evaluation.outcomes.iter().filter(|_| !is_told) {
        if let Outcome::Unread(unread) = outcome {
            output::tell(&format!("{:#}", unread.fault));
        }
    }
    output::tell(&evaluation.closing_line());
}

/// Writes a report aside and puts it in its place whole.
fn write(report: &Report, evaluation: &Evaluation) -> io::Result<()> {
    let text = match report.kind {
        ReportKind::Junit => junit::write(evaluation),
        ReportKind::Sarif => sarif::write(evaluation),
    };
    let folder = match report.file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // As any other new file: readable as the person's umask says.
    let mut aside = tempfile::Builder::new()
        .prefix(".portcullis-")
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    io::Write::write_all(&mut aside, text.as_bytes())?;
    aside.persist(&report.file).map_err(|error| error.error)?;
    Ok(())
}
