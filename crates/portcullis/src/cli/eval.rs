//! The command line of `portcullis eval`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use portcullis_core::Operation;

use super::{Admission, Configuration};

#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Manifests, `AdmissionReview` and `SubjectAccessReview` documents: files, folders, or - for standard input.
    #[arg(value_name = "FILE|DIR|-", value_hint = ValueHint::AnyPath, required_unless_present = "filename")]
    pub(crate) files: Vec<PathBuf>,
    /// The same as a flag; may be repeated.
    #[arg(short, long = "filename", value_name = "FILE|DIR|-", value_hint = ValueHint::AnyPath)]
    pub(crate) filename: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    /// A folder of policies, in place of a configuration; what none of them denies is allowed.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "config")]
    pub(crate) policies: Option<PathBuf>,
    /// Ask only the policy or plug-in of this name; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Vec<String>,
    #[command(flatten)]
    pub(crate) admission: Admission,
    /// The chain of authorizers for a `SubjectAccessReview` [default: default, or the only one].
    #[arg(long, value_name = "NAME")]
    pub(crate) chain: Option<String>,
    #[command(flatten)]
    pub(crate) request: EvalRequest,
    /// Stop at the first refusal, as the server does; by default everything is asked.
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Show more: each half of every plug-in, host calls of policies, durations, audit annotations.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = EvalOutput::Table)]
    pub(crate) output: EvalOutput,
    /// Write a report: junit=FILE or sarif=FILE; may be repeated.
    #[arg(long, value_name = "KIND=FILE", value_parser = report)]
    pub(crate) report: Vec<Report>,
}

/// What is asked about objects. Reviews say it themselves.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is asked about manifests")]
pub(crate) struct EvalRequest {
    /// The operation: CREATE, UPDATE, DELETE or CONNECT.
    #[arg(long, value_name = "OPERATION", default_value = "CREATE", value_parser = operation)]
    pub(crate) operation: Operation,
    /// The objects before an UPDATE: the only one, or found by kind, namespace and name.
    #[arg(long, value_name = "FILE|DIR|-", value_hint = ValueHint::AnyPath)]
    pub(crate) old: Option<PathBuf>,
    /// The user.
    #[arg(long = "as", value_name = "USER", default_value = "portcullis-eval")]
    pub(crate) user: String,
    /// A group of the user, besides system:authenticated; may be repeated.
    #[arg(long = "as-group", value_name = "GROUP")]
    pub(crate) groups: Vec<String>,
    /// The namespace of objects that name none [default: default].
    #[arg(short, long, value_name = "NS", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) namespace: Option<String>,
    /// Labels of that namespace; they override those of the configuration.
    #[arg(long, value_name = "K=V,...", value_delimiter = ',', value_parser = label, requires = "namespace")]
    pub(crate) namespace_labels: Vec<(String, String)>,
    /// Ask as for a dry run, which stores nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The path at which the webhook is called, as policies see it.
    #[arg(long, value_name = "PATH", default_value = "/mutate", value_parser = path)]
    pub(crate) path: String,
    /// An HTTP header of the request, as policies see it: 'Name: value'; may be repeated.
    #[arg(long = "header", value_name = "HEADER", value_parser = header)]
    pub(crate) headers: Vec<(String, String)>,
}

impl Eval {
    /// Everything that is to be read, in order.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &PathBuf> {
        self.filename.iter().chain(&self.files)
    }
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// Human-readable.
    Table,
    /// Machine-readable.
    Json,
    /// The same as YAML.
    Yaml,
}

/// How the results of `eval` are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvalOutput {
    /// Human-readable.
    Table,
    /// Machine-readable.
    Json,
    /// The same as YAML.
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

/// A report to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) kind: ReportKind,
    pub(crate) file: PathBuf,
}

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportKind {
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

fn report(text: &str) -> Result<Report, String> {
    let (kind, file) = report_file(text, "junit=FILE or sarif=FILE")?;
    let kind = match kind {
        "junit" => ReportKind::Junit,
        "sarif" => ReportKind::Sarif,
        _ => return Err("expected junit=FILE or sarif=FILE".to_owned()),
    };
    Ok(Report { kind, file })
}

/// The kind and the file of a report.
pub(super) fn report_file<'a>(text: &'a str, known: &str) -> Result<(&'a str, PathBuf), String> {
    let (kind, file) = text.split_once('=').unwrap_or((text, ""));
    match file {
        "" => Err(format!("expected {known}")),
        "-" => Err(format!(
            "a report is written to a file; `-o {kind}` prints to standard output"
        )),
        file => Ok((kind, file.into())),
    }
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
