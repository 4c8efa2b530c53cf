//! The command line of `portcullis eval`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use portcullis_core::Operation;

use super::Admission;

#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Manifests: a file, a folder, or - for standard input; can be given again.
    #[arg(short, long = "filename", value_name = "FILE|DIR|-", required = true)]
    pub(crate) filename: Vec<PathBuf>,
    /// Configuration file; needed unless --policies or --admission-control says what judges
    /// [env: `PORTCULLIS_CONFIG`].
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// A folder of policies, in place of a configuration; what none of them refuses is allowed.
    #[arg(long, value_name = "DIR", conflicts_with = "config")]
    pub(crate) policies: Option<PathBuf>,
    /// Ask only the policy or plug-in of this name; can be given again.
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Vec<String>,
    #[command(flatten)]
    pub(crate) admission: Admission,
    /// What is about to happen to the objects: CREATE, UPDATE, DELETE or CONNECT.
    #[arg(long, value_name = "OPERATION", default_value = "CREATE", value_parser = operation)]
    pub(crate) operation: Operation,
    /// The objects as they are before an UPDATE: the only one, or found by kind, namespace and name.
    #[arg(long, value_name = "FILE|DIR|-")]
    pub(crate) old: Option<PathBuf>,
    /// Who asks.
    #[arg(long = "as", value_name = "USER", default_value = "portcullis-eval")]
    pub(crate) user: String,
    /// A group of who asks, besides system:authenticated; can be given again.
    #[arg(long = "as-group", value_name = "GROUP")]
    pub(crate) groups: Vec<String>,
    /// The namespace of objects that name none [default: default].
    #[arg(short, long, value_name = "NS", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) namespace: Option<String>,
    /// Labels of that namespace; they go over those of the configuration.
    #[arg(long, value_name = "K=V,...", value_delimiter = ',', value_parser = label, requires = "namespace")]
    pub(crate) namespace_labels: Vec<(String, String)>,
    /// Ask as for a request that stores nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Say more: each half of every plug-in, host calls of policies, how long it all took, remarks
    /// for the auditor.
    #[arg(long)]
    pub(crate) explain: bool,
    /// How to print the results.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
    /// Write a report: junit=FILE or sarif=FILE; can be given again.
    #[arg(long, value_name = "KIND=FILE", value_parser = report)]
    pub(crate) report: Vec<Report>,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    Table,
    /// For programs.
    Json,
    /// The same as YAML.
    Yaml,
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
    Operation::from_name(&text.to_ascii_uppercase())
        .ok_or_else(|| "expected CREATE, UPDATE, DELETE or CONNECT".to_owned())
}

fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

fn report(text: &str) -> Result<Report, String> {
    let (kind, file) = text.split_once('=').unwrap_or((text, ""));
    let kind = match kind {
        "junit" => ReportKind::Junit,
        "sarif" => ReportKind::Sarif,
        _ => return Err("expected junit=FILE or sarif=FILE".to_owned()),
    };
    if file.is_empty() {
        return Err("the file is missing: expected junit=FILE or sarif=FILE".to_owned());
    }
    Ok(Report {
        kind,
        file: file.into(),
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
        assert_eq!(report("junit=a=b").unwrap().file, PathBuf::from("a=b"));
        assert!(report("junit").is_err() && report("html=x").is_err() && report("sarif=").is_err());
    }
}
