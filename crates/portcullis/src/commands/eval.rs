//! `portcullis eval`: judges manifests and reviews as the server would.
//!
//! ```text
//! files -> input -> lanes, in order: judge (reviews, Offline::judge) -> outcome -> results -> table | json | junit | ...
//!                                    access (authorizers)           /                    \-> totals, reports
//! ```
//!
//! It is a stream: besides the file that is read, only some batches of documents are in memory at a time.

mod access;
mod format;
mod github;
mod gitlab;
mod input;
mod judge;
mod judges;
mod junit;
mod lanes;
mod outcome;
mod results;
mod sarif;
mod stream;
mod table;
mod tap;
mod totals;
mod value;
mod writer;

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use portcullis_config::ConfigSource;
use portcullis_core::Operation;
use portcullis_document::{Faults, Source};
use portcullis_gate::offline::{self, Blueprint, Namespace};

use self::format::{Format, report};
use super::text::error;
use super::text::report::Report;
use super::watch;
use crate::arguments::{Admission, Configuration, load_options};
use crate::exit::Exit;

#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Manifests, `AdmissionReview` and `SubjectAccessReview` documents: files, folders, or - for standard input.
    #[arg(value_name = "FILE|DIR|-", value_hint = ValueHint::AnyPath, required_unless_present = "filename")]
    files: Vec<PathBuf>,
    /// Same as the arguments; may be repeated.
    #[arg(short, long = "filename", value_name = "FILE|DIR|-", value_hint = ValueHint::AnyPath)]
    filename: Vec<PathBuf>,
    #[command(flatten)]
    configuration: Configuration,
    /// A folder or file of policies, in place of a configuration; what none of them denies is allowed.
    #[arg(long, value_name = "DIR|FILE", value_hint = ValueHint::AnyPath, conflicts_with = "config")]
    policies: Option<PathBuf>,
    /// Ask only the policy or plug-in of this name; may be repeated.
    #[arg(long, value_name = "NAME")]
    policy: Vec<String>,
    #[command(flatten)]
    admission: Admission,
    /// The chain of authorizers for a `SubjectAccessReview` [default: default, or the only one].
    #[arg(long, value_name = "NAME")]
    chain: Option<String>,
    /// Objects of the cluster, for plug-ins and for `kube.get` and `kube.list` of policies: manifests.
    #[arg(long, value_name = "DIR|FILE", value_hint = ValueHint::AnyPath)]
    objects: Option<PathBuf>,
    #[command(flatten)]
    request: EvalRequest,
    /// Stop at the first denial, as the server does [default: evaluate everything].
    #[arg(long)]
    fail_fast: bool,
    /// Show details: each phase of every plug-in, host calls of policies, durations, audit annotations.
    #[arg(long)]
    explain: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    output: Format,
    /// Write a report in any format but the table, like junit=FILE; may be repeated.
    #[arg(long, value_name = "KIND=FILE", value_parser = report)]
    report: Vec<Report<Format>>,
    /// Run again whenever a manifest, the configuration or a policy changes, until it is interrupted.
    #[arg(long)]
    watch: bool,
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
    /// The user [default: portcullis-eval; for a CI job, its own user].
    #[arg(long = "as", value_name = "USER", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    user: Option<String>,
    /// A group of the user, besides system:authenticated; may be repeated.
    #[arg(long = "as-group", value_name = "GROUP")]
    groups: Vec<String>,
    /// The namespace of objects without one [default: default].
    #[arg(short, long, value_name = "NS", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    namespace: Option<String>,
    /// Labels of the namespace that `--namespace` names, or else of every namespace; they override those of the
    /// configuration.
    #[arg(long, value_name = "K=V,...", value_delimiter = ',', value_parser = label)]
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

/// Judges the input and prints the results.
pub(super) fn run(eval: &Eval) -> Exit {
    if !eval.watch {
        return once(eval);
    }
    if let Err(wrong) = check_usage(eval) {
        error::usage("eval", wrong);
        return Exit::Usage;
    }
    let own: Vec<PathBuf> = eval.report.iter().map(|r| r.file.clone()).collect();
    watch::repeat(|| files(eval), &own, || once(eval))
}

/// The files and folders that are read.
fn files(eval: &Eval) -> Vec<PathBuf> {
    let loaded = load(eval);
    let of_configuration = watch::files_of(loaded.as_ref().map(|(blueprint, _)| blueprint));
    let named = eval.inputs().chain(&eval.request.old).cloned();
    let configuration = eval.configuration.found();
    let policies = eval.policies.clone().or(configuration);
    let named = named.chain(eval.objects.clone());
    named.chain(policies).chain(of_configuration).collect()
}

fn once(eval: &Eval) -> Exit {
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
    let (blueprint, has_file) = load(eval)?;
    let offline = blueprint.build(namespace(eval), &blueprint.memory())?;
    for warning in blueprint.warnings() {
        error::warn(warning);
    }
    let bench = judge::Bench::new(&blueprint, eval, has_file);
    let bench = bench.map_err(|fault| Faults::from(*fault))?;
    let done = stream::run(&blueprint, &bench, offline, eval);
    // What was evaluated besides is not lost.
    match done.not_evaluated {
        Some(why) if !bench.has_configuration() => {
            error::usage("eval", &why);
            return Ok(Exit::Usage);
        }
        Some(why) => error::tell(&why),
        None => {}
    }
    Ok(done.exit)
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
    if eval.watch
        && eval
            .inputs()
            .chain(&eval.request.old)
            .any(|path| path == stdin)
    {
        return Err("--watch needs files or folders: standard input can be read only once");
    }
    let is_same = |one: &Path, other: &Path| {
        let (one, other) = (one.canonicalize(), other.canonicalize());
        one.is_ok_and(|one| other.is_ok_and(|other| one == other))
    };
    let mut reports = eval.report.iter();
    let read = || eval.inputs().chain(&eval.request.old);
    if reports.any(|report| read().any(|path| is_same(path, &report.file))) {
        return Err("a report can't be written over a file that is read");
    }
    let readers = eval.inputs().chain(&eval.request.old);
    if readers.filter(|path| *path == stdin).count() > 1 {
        return Err("standard input can be read only once");
    }
    Ok(())
}

/// The configuration, and whether it is one of a file.
fn load(eval: &Eval) -> Result<(Blueprint, bool), Faults> {
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
    let mut blueprint = Blueprint::load(&load_options(source, &eval.admission, &known))?;
    if let (Some(folder), false) = (&eval.policies, blueprint.has_policies()) {
        let label = folder.display().to_string();
        let message = "there are no policies in this folder: NAME.js, NAME.ts or a list in *.yaml";
        return Err(Source::named(label).fault(None, "", message).into());
    }
    if let Some(objects) = &eval.objects {
        blueprint.look_up(offline::read_cluster(objects)?);
    }
    if !eval.policy.is_empty() {
        blueprint.only(&eval.policy)?;
    }
    if !eval.fail_fast {
        blueprint.ask_on();
    }
    Ok((blueprint, file.is_some()))
}

/// What the command line says of a namespace; one without a name stands for all.
fn namespace(eval: &Eval) -> Option<Namespace> {
    let request = &eval.request;
    let is_known = request.namespace.is_some() || !request.namespace_labels.is_empty();
    is_known.then(|| Namespace {
        name: request.namespace.clone().unwrap_or_default(),
        labels: request.namespace_labels.iter().cloned().collect(),
        annotations: std::collections::BTreeMap::new(),
    })
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
        assert_eq!(header("X-Y: a:b"), Ok(("x-y".into(), "a:b".into())));
        assert!(header("x").is_err() && header(": x").is_err());
        assert!(path("/x").is_ok() && path("x").is_err());
    }
}
