//! `portcullis eval`: judges manifests as the server would.
//!
//! ```text
//! files -> input -> judge (reviews, Offline::judge) -> outcome -> table | json | yaml
//!                                                             \-> reports
//! ```

mod input;
mod judge;
mod junit;
mod outcome;
mod part;
mod sarif;
mod table;
mod value;

use std::io;
use std::path::{Path, PathBuf};

use portcullis_core::Operation;
use portcullis_server::config::{ConfigSource, Faults, Namespace, Source};
use portcullis_server::offline::{Blueprint, Offline};

use self::outcome::{Evaluation, Outcome};
use super::load_options;
use super::text::{file, json, plain, yaml};
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
    let (blueprint, offline) = match load(eval) {
        Ok(loaded) => loaded,
        Err(faults) => {
            output::tell(&format!("{faults:#}"));
            return Exit::Invalid;
        }
    };
    for warning in blueprint.warnings() {
        output::tell(&format!("warning: {warning}"));
    }
    let inputs = match input::read(eval) {
        Ok(inputs) => inputs,
        Err(fault) => {
            output::tell(&format!("{fault:#}"));
            return Exit::Invalid;
        }
    };
    let evaluation = judge::all(&blueprint, &offline, eval, inputs);
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

/// The configuration file: the flag's, or that of the environment.
fn config(eval: &Eval) -> Option<PathBuf> {
    let named = std::env::var_os("PORTCULLIS_CONFIG").filter(|file| !file.is_empty());
    eval.config.clone().or(named.map(PathBuf::from))
}

/// What the definition of the command line can't say.
fn check_usage(eval: &Eval) -> Result<(), &'static str> {
    let has_chain = eval.policies.is_some()
        || config(eval).is_some()
        || eval.admission.admission_control.is_some()
        || eval.admission.admission_control_config_file.is_some()
        || std::env::var_os("PORTCULLIS_ADMISSION_CONTROL").is_some_and(|v| !v.is_empty());
    if !has_chain {
        return Err(
            "nothing to judge by: give --config FILE, --policies DIR, or --admission-control A,B,C for plug-ins that need no configuration file",
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

fn load(eval: &Eval) -> Result<(Blueprint, Offline), Faults> {
    let registry = portcullis_server::registry();
    let known = registry.names();
    let file = config(eval);
    let source = match (&eval.policies, &file) {
        (Some(folder), _) => ConfigSource::Policies(folder),
        (None, Some(file)) => ConfigSource::File(file),
        (None, None) => ConfigSource::BuiltIn("{}"),
    };
    let namespace = eval.namespace.as_ref().map(|name| Namespace {
        name: name.clone(),
        labels: eval.namespace_labels.iter().cloned().collect(),
        annotations: std::collections::BTreeMap::new(),
    });
    let mut blueprint = Blueprint::load(&load_options(source, &eval.admission, &known))?;
    if let (Some(folder), false) = (&eval.policies, blueprint.has_policies()) {
        let label = folder.display().to_string();
        let message = "there are no policies in this folder: NAME.js, NAME.ts or a list in *.yaml";
        return Err(Source::named(label).fault(None, "", message).into());
    }
    if !eval.policy.is_empty() {
        blueprint.only(&eval.policy)?;
    }
    let offline = blueprint.build(namespace, &blueprint.memory())?;
    Ok((blueprint, offline))
}

fn tell(evaluation: &Evaluation, eval: &Eval) {
    for outcome in &evaluation.outcomes {
        if let Outcome::Judged(judged) = outcome {
            let lines = judged.written.iter();
            lines.for_each(|line| output::tell(&plain::written(line)));
        }
    }
    match eval.output {
        Output::Table => output::data(&table::write(evaluation, eval.explain)),
        Output::Json => {
            let value = value::of(evaluation, eval.explain);
            output::data(&json::pretty(&value));
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

fn write(report: &Report, evaluation: &Evaluation) -> io::Result<()> {
    let text = match report.kind {
        ReportKind::Junit => junit::write(evaluation),
        ReportKind::Sarif => sarif::write(evaluation),
    };
    file::write(&report.file, &text)
}
