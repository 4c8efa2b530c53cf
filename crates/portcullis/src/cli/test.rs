//! The command line of `portcullis test`.

use std::path::PathBuf;

use clap::Args;

use super::Output;

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// The folder: `portcullis.yaml` in it, or else `policies/`, or else the folder itself says
    /// what judges; all test files below it are run.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Run only the tests whose file or name contains this.
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// Say which lines of policies ran.
    #[arg(long)]
    pub(crate) coverage: bool,
    /// How to print the results.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
    /// Write a report: junit=FILE, or lcov=FILE for coverage; can be given again.
    #[arg(long, value_name = "KIND=FILE", value_parser = report)]
    pub(crate) report: Vec<TestReport>,
}

/// A report to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TestReport {
    pub(crate) kind: TestReportKind,
    pub(crate) file: PathBuf,
}

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestReportKind {
    /// What CI systems show as tests.
    Junit,
    /// What editors and CI systems show as coverage.
    Lcov,
}

impl Test {
    /// Whether coverage is counted.
    pub(crate) fn is_covered(&self) -> bool {
        self.coverage || self.report.iter().any(|r| r.kind == TestReportKind::Lcov)
    }
}

fn report(text: &str) -> Result<TestReport, String> {
    let (kind, file) = text.split_once('=').unwrap_or((text, ""));
    let kind = match kind {
        "junit" => TestReportKind::Junit,
        "lcov" => TestReportKind::Lcov,
        _ => return Err("expected junit=FILE or lcov=FILE".to_owned()),
    };
    if file.is_empty() {
        return Err("the file is missing: expected junit=FILE or lcov=FILE".to_owned());
    }
    Ok(TestReport {
        kind,
        file: file.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_or_refused() {
        let made = report("lcov=a.info").unwrap();
        assert_eq!(made.kind, TestReportKind::Lcov);
        assert_eq!(report("junit=a=b").unwrap().file, PathBuf::from("a=b"));
        assert!(report("junit").is_err() && report("sarif=x").is_err());
    }
}
