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
mod judges;
mod junit;
mod outcome;
mod sarif;
mod table;
mod tap;
mod value;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use portcullis_config::ConfigSource;
use portcullis_core::Operation;
use portcullis_document::{Faults, Source};
use portcullis_gate::offline::{Blueprint, Namespace, Offline};

use self::outcome::{Evaluation, Outcome};
use super::text::report::Report;
use super::text::terminal::Terminal;
use super::text::{error, json, plain, report, yaml};
use crate::arguments::{Admission, Configuration, load_options};
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Manifests, `AdmissionReview` and `SubjectAccessReview` documents: files, folders, or - for standard input.
    #[arg(value_name = "FILE|DIR|-", value_hint = ValueHint::AnyPath, required_unless_present = "filename")]
    files: Vec<PathBuf>,
    /// The same as a flag; may be repeated.
    #[arg(short, long = "filename", value_name = "FILE|DIR|-", value_hint = ValueHint::AnyPath)]
    filename: Vec<PathBuf>,
    #[command(flatten)]
    configuration: Configuration,
    /// A folder of policies, in place of a configuration; what none of them denies is allowed.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "config")]
    policies: Option<PathBuf>,
    /// Ask only the policy or plug-in of this name; may be repeated.
    #[arg(long, value_name = "NAME")]
    policy: Vec<String>,
    #[command(flatten)]
    admission: Admission,
    /// The chain of authorizers for a `SubjectAccessReview` [default: default, or the only one].
    #[arg(long, value_name = "NAME")]
    chain: Option<String>,
    #[command(flatten)]
    request: EvalRequest,
    /// Stop at the first denial, as the server does [default: evaluate everything].
    #[arg(long)]
    fail_fast: bool,
    /// Show details: each phase of every plug-in, host calls of policies, durations, audit annotations.
    #[arg(long)]
    explain: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = EvalOutput::Table)]
    output: EvalOutput,
    /// Write a report: junit=FILE or sarif=FILE; may be repeated.
    #[arg(long, value_name = "KIND=FILE", value_parser = report)]
    report: Vec<Report<ReportKind>>,
}

/// The request to make for objects. Reviews are requests already.
#[derive(Debug, Args)]
#[command(next_help_heading = "Request options")]
struct EvalRequest {
    /// The operation: CREATE, UPDATE, DELETE or CONNECT.
    #[arg(long, value_name = "OPERATION", default_value = "CREATE", value_parser = operation)]
    operation: Operation,
    /// The objects before an UPDATE: the only one, or found by kind, namespace and name.
    #[arg(long, value_name = "FILE|DIR|-", value_hint = ValueHint::AnyPath)]
    old: Option<PathBuf>,
    /// The user.
    #[arg(long = "as", value_name = "USER", default_value = "portcullis-eval")]
    user: String,
    /// A group of the user, besides system:authenticated; may be repeated.
    #[arg(long = "as-group", value_name = "GROUP")]
    groups: Vec<String>,
    /// The namespace of objects without one [default: default].
    #[arg(short, long, value_name = "NS", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    namespace: Option<String>,
    /// Labels of that namespace; they override those of the configuration.
    #[arg(long, value_name = "K=V,...", value_delimiter = ',', value_parser = label, requires = "namespace")]
    namespace_labels: Vec<(String, String)>,
    /// Make it a dry run, which stores nothing.
    #[arg(long)]
    dry_run: bool,
    /// The path of the webhook, as policies see it.
    #[arg(long, value_name = "PATH", default_value = "/mutate", value_parser = path)]
    path: String,
    /// An HTTP header of the request, as policies see it: 'Name: value'; may be repeated.
    #[arg(long = "header", value_name = "HEADER", value_parser = header)]
    headers: Vec<(String, String)>,
}

impl Eval {
    /// Everything that is to be read, in order.
    fn inputs(&self) -> impl Iterator<Item = &PathBuf> {
        self.filename.iter().chain(&self.files)
    }
}

/// How the results of `eval` are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EvalOutput {
    /// Human-readable.
    Table,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// `JUnit` XML, which CI systems show as tests.
    Junit,
    /// SARIF, which code hosts show as findings.
    Sarif,
    /// Workflow commands of GitHub Actions, which become annotations of a pull request.
    Github,
    /// The Test Anything Protocol.
    Tap,
}

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReportKind {
    /// What CI systems show as tests.
    Junit,
    /// What code hosts show as findings.
    Sarif,
}

fn operation(text: &str) -> Result<Operation, String> {
    let operation = text.to_ascii_uppercase().parse();
    operation.map_err(|_| "expected CREATE, UPDATE, DELETE or CONNECT".to_owned())
}

fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

fn path(text: &str) -> Result<String, String> {
    match text.starts_with('/') {
        true => Ok(text.to_owned()),
        false => Err("expected a path that begins with `/`".to_owned()),
    }
}

fn header(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        }
        _ => Err("expected 'Name: value'".to_owned()),
    }
}

fn report(text: &str) -> Result<Report<ReportKind>, String> {
    let (kind, file) = report::file(text, "junit=FILE or sarif=FILE")?;
    let kind = match kind {
        "junit" => ReportKind::Junit,
        "sarif" => ReportKind::Sarif,
        _ => return Err("expected junit=FILE or sarif=FILE".to_owned()),
    };
    Ok(Report { kind, file })
}

/// Judges the input and prints the results.
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
                "a SubjectAccessReview needs the authorizers of a configuration: give --config FILE",
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
        return Err("standard input can be read only once");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_or_refused() {
        assert_eq!(operation("delete"), Ok(Operation::Delete));
        assert!(operation("PATCH").is_err());
        assert_eq!(label("a/b=c=d"), Ok(("a/b".into(), "c=d".into())));
        assert_eq!(label("a="), Ok(("a".into(), String::new())));
        assert!(label("a").is_err() && label("=b").is_err());
        assert_eq!(report("junit=a=b").unwrap().file, PathBuf::from("a=b"));
        assert!(report("junit").is_err() && report("html=x").is_err() && report("sarif=").is_err());
        assert!(report("junit=-").unwrap_err().contains("-o junit"));
        assert_eq!(header("X-Y: a:b"), Ok(("x-y".into(), "a:b".into())));
        assert!(header("x").is_err() && header(": x").is_err());
        assert!(path("/x").is_ok() && path("x").is_err());
    }
}
