//! `portcullis eval`: judges manifests and reviews as the server would.
//!
//! ```text
//! files -> input -> judge (reviews, Offline::judge) -> outcome -> table | json | yaml | junit | sarif | ...
//!                   access (authorizers)           /           \-> reports
//! ```

mod access;
mod github;
mod input;
mod judge;
mod junit;
mod outcome;
mod part;
mod sarif;
mod table;
mod tap;
mod value;

use std::path::Path;

use portcullis_config::{ConfigSource, Faults, Namespace, Source};
use portcullis_core::Operation;
use portcullis_gate::offline::{Blueprint, Offline};

use self::outcome::{Evaluation, Outcome};
use super::load_options;
use super::text::terminal::Terminal;
use super::text::{error, json, plain, report, yaml};
use crate::cli::{Eval, EvalOutput, ReportKind};
use crate::exit::Exit;
use crate::output;

/// Judges what is given and tells what came out.
pub(super) fn run(eval: &Eval) -> Exit {
    judged(eval).unwrap_or_else(|stop| match stop {
        Stop::Usage(wrong) => {
            error::usage("eval", wrong);
            Exit::Usage
        }
        Stop::Faults(faults) => {
            error::faults(&faults);
            Exit::Invalid
        }
    })
}

/// Why nothing was judged.
enum Stop {
    /// The command line makes no sense.
    Usage(&'static str),
    /// Something that is needed can't be used.
    Faults(Faults),
}

impl From<Faults> for Stop {
    fn from(faults: Faults) -> Self {
        Self::Faults(faults)
    }
}

fn judged(eval: &Eval) -> Result<Exit, Stop> {
    check_usage(eval).map_err(Stop::Usage)?;
    let (blueprint, offline, has_file) = load(eval)?;
    for warning in blueprint.warnings() {
        error::warn(warning);
    }
    let inputs = input::read(eval).map_err(|fault| Faults::from(*fault))?;
    let mut authorizers = None;
    if inputs.have_access() {
        if !has_file {
            return Err(Stop::Usage(
                "a SubjectAccessReview is judged by the authorizers of a configuration, which policies and plug-ins alone don't have: give --config FILE",
            ));
        }
        authorizers = Some(blueprint.authorizers(eval.chain.as_deref())?);
    }
    let evaluation = judge::all(&blueprint, &offline, authorizers.as_ref(), eval, inputs);
    tell(&evaluation, eval);
    let mut exit = evaluation.exit();
    for report in &eval.report {
        let text = match report.kind {
            ReportKind::Junit => junit::write(&evaluation),
            ReportKind::Sarif => sarif::write(&evaluation),
        };
        if !report::write(&report.file, &text) {
            exit = Exit::Failed;
        }
    }
    Ok(exit)
}

/// What the definition of the command line can't say.
fn check_usage(eval: &Eval) -> Result<(), &'static str> {
    let is_judged = eval.configuration.found().is_some()
        || eval.policies.is_some()
        || eval.admission.admission_control.is_some()
        || eval.admission.admission_control_config_file.is_some();
    if !is_judged {
        return Err(
            "no policies given: give --config FILE, --policies DIR, or --admission-control A,B,C for plug-ins that need no configuration; there is no ./portcullis.yaml",
        );
    }
    match (eval.request.operation, &eval.request.old) {
        (Operation::Update, None) => {
            return Err("--operation UPDATE needs --old FILE, the objects as they are");
        }
        (Operation::Update, Some(_)) | (_, None) => {}
        (_, Some(_)) => return Err("--old is for --operation UPDATE only"),
    }
    let stdin = Path::new("-");
    let readers = eval.inputs().chain(&eval.request.old);
    if readers.filter(|path| *path == stdin).count() > 1 {
        return Err("standard input can be read once only");
    }
    Ok(())
}

/// The configuration, built; and whether it is one of a file.
fn load(eval: &Eval) -> Result<(Blueprint, Offline, bool), Faults> {
    let registry = portcullis_gate::registry();
    let known = registry.names();
    let file = eval
        .configuration
        .found()
        .filter(|_| eval.policies.is_none());
    let source = match (&eval.policies, &file) {
        (Some(folder), _) => ConfigSource::Policies(folder),
        (None, Some(file)) => ConfigSource::File(file),
        (None, None) => ConfigSource::BuiltIn("{}"),
    };
    let request = &eval.request;
    let namespace = request.namespace.as_ref().map(|name| Namespace {
        name: name.clone(),
        labels: request.namespace_labels.iter().cloned().collect(),
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
    if !eval.fail_fast {
        blueprint.ask_on();
    }
    let offline = blueprint.build(namespace, &blueprint.memory())?;
    Ok((blueprint, offline, file.is_some()))
}

fn tell(evaluation: &Evaluation, eval: &Eval) {
    for outcome in &evaluation.outcomes {
        match outcome {
            Outcome::Judged(judged) => {
                let lines = judged.written.iter();
                lines.for_each(|line| output::tell(&plain::written(line)));
            }
            // The table has those of documents.
            Outcome::Unread(unread) if unread.is_file || eval.output != EvalOutput::Table => {
                error::faults([&*unread.fault]);
            }
            Outcome::Unread(_) => {}
        }
    }
    output::data(&match eval.output {
        EvalOutput::Table => table::write(evaluation, eval.explain, Terminal::of_output()),
        EvalOutput::Json => json::pretty(&value::of(evaluation, eval.explain)),
        EvalOutput::Yaml => yaml::write(&value::of(evaluation, eval.explain)),
        EvalOutput::Junit => junit::write(evaluation),
        EvalOutput::Sarif => sarif::write(evaluation),
        EvalOutput::Github => github::write(evaluation),
        EvalOutput::Tap => tap::write(evaluation),
    });
    output::tell(&evaluation.closing_line());
}
