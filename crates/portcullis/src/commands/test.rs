//! `portcullis test`: runs the tests of policies, on the server's own code path.
//!
//! ```text
//! folder -> plan (configuration, test files) -> run -> outcome -> table | json | yaml
//!                                                             \-> reports
//! ```

mod coverage;
mod junit;
mod outcome;
mod plan;
mod run;
mod table;
mod value;

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use self::outcome::Tested;
use super::text::report::Report;
use super::text::terminal::Terminal;
use super::text::{error, json, plain, report, yaml};
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// A folder with test files, or test files. The policies are those of the folder's `portcullis.yaml`, or else of its
    /// `policies/`, or else of the folder itself; for a file, of the nearest folder above it that has
    /// one of them.
    #[arg(value_name = "DIR|FILE", value_hint = ValueHint::AnyPath, default_value = ".")]
    paths: Vec<PathBuf>,
    /// Run only the tests whose file or name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Report which lines of policies ran.
    #[arg(long)]
    coverage: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = TestOutput::Table)]
    output: TestOutput,
    /// Write a report: junit=FILE, or lcov=FILE for coverage; may be repeated.
    #[arg(long, value_name = "KIND=FILE", value_parser = report)]
    report: Vec<Report<TestReportKind>>,
}

/// How the results of tests are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TestOutput {
    /// Human-readable.
    Table,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// `JUnit` XML, which CI systems show as tests.
    Junit,
    /// Coverage for editors and CI systems.
    Lcov,
}

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TestReportKind {
    /// What CI systems show as tests.
    Junit,
    /// What editors and CI systems show as coverage.
    Lcov,
}

impl Test {
    /// Whether coverage is counted.
    fn is_covered(&self) -> bool {
        let is_lcov = |report: &Report<TestReportKind>| report.kind == TestReportKind::Lcov;
        self.coverage || self.output == TestOutput::Lcov || self.report.iter().any(is_lcov)
    }
}

fn report(text: &str) -> Result<Report<TestReportKind>, String> {
    let (kind, file) = report::file(text, "junit=FILE or lcov=FILE")?;
    let kind = match kind {
        "junit" => TestReportKind::Junit,
        "lcov" => TestReportKind::Lcov,
        _ => return Err("expected junit=FILE or lcov=FILE".to_owned()),
    };
    Ok(Report { kind, file })
}

/// Runs the tests and prints the results.
pub(super) fn run(test: &Test) -> Exit {
    let plan = match plan::make(test) {
        Ok(plan) => plan,
        Err(faults) => {
            error::faults(&faults);
            return Exit::Invalid;
        }
    };
    for warning in plan.warnings() {
        error::warn(warning);
    }
    if plan.is_empty() {
        let paths: Vec<String> = test
            .paths
            .iter()
            .map(|p| format!("`{}`", p.display()))
            .collect();
        let (paths, why) = (paths.join(", "), plan.why_empty(test));
        output::tell(&format!("no tests ran: {why} {paths}"));
        return Exit::Nothing;
    }
    let tested = run::all(&plan);
    tell(&tested, test);
    let mut exit = tested.exit();
    for report in &test.report {
        let text = match report.kind {
            TestReportKind::Junit => junit::write(&tested),
            TestReportKind::Lcov => coverage::lcov(&tested),
        };
        if !report::write(&report.file, &text) {
            exit = Exit::Failed;
        }
    }
    exit
}

fn tell(tested: &Tested, test: &Test) {
    for line in tested.failed().flat_map(|result| &result.written) {
        output::tell(&plain::written(line));
    }
    output::data(&match test.output {
        TestOutput::Table => table::write(tested, test.coverage, Terminal::of_output()),
        TestOutput::Json => json::pretty(&value::of(tested)),
        TestOutput::Yaml => yaml::write(&value::of(tested)),
        TestOutput::Junit => junit::write(tested),
        TestOutput::Lcov => coverage::lcov(tested),
    });
    output::tell(&tested.closing_line());
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
