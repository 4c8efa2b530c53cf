//! The command line of `portcullis test`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::eval::report_file;

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// A folder, of which all test files are run, or test files. The folder's `portcullis.yaml`, or
    /// else `policies/`, or else the folder itself says what judges; for a file the nearest folder
    /// above it that has one of them.
    #[arg(value_name = "DIR|FILE", value_hint = ValueHint::AnyPath, default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,
    /// Run only the tests whose file or name contains this.
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// Report which lines of policies ran.
    #[arg(long)]
    pub(crate) coverage: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = TestOutput::Table)]
    pub(crate) output: TestOutput,
    /// Write a report: junit=FILE, or lcov=FILE for coverage; may be repeated.
    #[arg(long, value_name = "KIND=FILE", value_parser = report)]
    pub(crate) report: Vec<TestReport>,
}

/// How the results of tests are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestOutput {
    /// Human-readable.
    Table,
    /// Machine-readable.
    Json,
    /// The same as YAML.
    Yaml,
    /// `JUnit` XML, which CI systems show as tests.
    Junit,
    /// Coverage for editors and CI systems.
    Lcov,
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
        let is_lcov = |report: &TestReport| report.kind == TestReportKind::Lcov;
        self.coverage || self.output == TestOutput::Lcov || self.report.iter().any(is_lcov)
    }
}

fn report(text: &str) -> Result<TestReport, String> {
    let (kind, file) = report_file(text, "junit=FILE or lcov=FILE")?;
    let kind = match kind {
        "junit" => TestReportKind::Junit,
        "lcov" => TestReportKind::Lcov,
        _ => return Err("expected junit=FILE or lcov=FILE".to_owned()),
    };
    Ok(TestReport { kind, file })
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
        assert!(report("lcov=-").unwrap_err().contains("-o lcov"));
    }
}
