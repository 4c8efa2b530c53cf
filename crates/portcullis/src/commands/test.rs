//! `portcullis test`: runs the tests of policies, on the server's own code path.
//!
//! ```text
//! folder -> plan (configuration, test files) -> run -> outcome -> table | json | yaml
//!                                                             \-> reports
//! ```

mod coverage;
mod filter;
mod junit;
mod outcome;
mod page;
mod plan;
mod run;
mod scaffold;
mod table;
mod update;
mod value;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};

use self::filter::TestFilter;
use self::outcome::Tested;
use self::update::Update;
use super::text::report::Report;
use super::text::terminal::Terminal;
use super::text::{error, json, plain, report, yaml};
use super::watch;
use crate::arguments::span;
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// A folder with test files, or test files. The policies are those of the folder's `portcullis.yaml`, or else of its
    /// `policies/`, or else of the folder itself; for a file, of the nearest folder above it that has
    /// one of them.
    #[arg(value_name = "DIR|FILE", value_hint = ValueHint::AnyPath, default_value = ".")]
    paths: Vec<PathBuf>,
    /// Objects of the cluster, for plug-ins and for `kube.get` and `kube.list` of policies: manifests. A test with `kube`
    /// has its own.
    #[arg(long, value_name = "DIR|FILE", value_hint = ValueHint::AnyPath)]
    objects: Option<PathBuf>,
    /// Run only the tests whose file or name contains this text, fits this pattern (`pods*`), or has a match of this
    /// regular expression (`/denied$/`).
    #[arg(long, value_name = "TEXT|PATTERN|/REGEX/")]
    filter: Option<TestFilter>,
    /// How long one test in TypeScript or JavaScript may take. Cases in YAML have the limits of the configuration.
    #[arg(long, value_name = "DURATION", value_parser = span, default_value = "20s")]
    timeout: Duration,
    /// Report which lines of policies ran; with `=lines`, also the text of those that did not.
    #[arg(long, value_enum, value_name = "DETAIL", num_args = 0..=1, require_equals = true, default_missing_value = "files")]
    coverage: Option<CoverageDetail>,
    /// Fail if less than this percentage of the lines of policies ran.
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    coverage_min: Option<u8>,
    /// Write what came into cases in YAML that fail: messages, warnings, patches and objects; with `=verdict`, also
    /// whether it is allowed and what denies. Then run the tests again.
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "values")]
    update: Option<Update>,
    /// Print a test file with a case for each object of a manifest or folder, which expects what is decided now.
    #[arg(long, value_name = "FILE|DIR", value_hint = ValueHint::AnyPath, conflicts_with_all = ["filter", "coverage", "coverage_min", "update", "report", "output"])]
    scaffold: Option<PathBuf>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = TestOutput::Table)]
    output: TestOutput,
    /// Write a report: junit=FILE, or for coverage lcov=FILE or html=FILE; may be repeated.
    #[arg(long, value_name = "KIND=FILE", value_parser = report)]
    report: Vec<Report<TestReportKind>>,
    /// Run again whenever a policy, a test or the configuration changes, until it is interrupted.
    #[arg(long)]
    watch: bool,
}

/// How much is said about coverage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CoverageDetail {
    /// A line for each file.
    Files,
    /// The lines that did not run, too.
    Lines,
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
    /// Coverage as a page.
    Html,
}

impl Test {
    /// Whether coverage is counted.
    fn is_covered(&self) -> bool {
        let needs_it = |report: &Report<TestReportKind>| report.kind != TestReportKind::Junit;
        self.coverage.is_some()
            || self.coverage_min.is_some()
            || self.output == TestOutput::Lcov
            || self.report.iter().any(needs_it)
    }
}

fn report(text: &str) -> Result<Report<TestReportKind>, String> {
    const KNOWN: &str = "junit=FILE, lcov=FILE or html=FILE";
    let (kind, file) = report::file(text, KNOWN)?;
    let kind = match kind {
        "junit" => TestReportKind::Junit,
        "lcov" => TestReportKind::Lcov,
        "html" => TestReportKind::Html,
        _ => return Err(format!("expected {KNOWN}")),
    };
    Ok(Report { kind, file })
}

/// Runs the tests and prints the results.
pub(super) fn run(test: &Test) -> Exit {
    if let Some(manifests) = &test.scaffold {
        return scaffolded(test, manifests);
    }
    match test.watch {
        true => {
            let own: Vec<PathBuf> = test.report.iter().map(|r| r.file.clone()).collect();
            watch::repeat(|| plan::watched(test), &own, || once(test))
        }
        false => once(test),
    }
}

fn once(test: &Test) -> Exit {
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
    let mut tested = run::all(&plan);
    let mut is_written = true;
    if let Some(update) = test.update {
        is_written = update::write(&tested, update);
        let plan = match plan::make(test) {
            Ok(plan) => plan,
            Err(faults) => {
                error::faults(&faults);
                return Exit::Invalid;
            }
        };
        tested = run::all(&plan);
    }
    tell(&tested, test);
    let mut exit = match is_written {
        true => tested.exit(),
        false => Exit::Failed,
    };
    if let (Some(least), Some(coverage)) = (test.coverage_min, &tested.coverage)
        && !coverage.reaches(least)
    {
        error::tell(&format!(
            "coverage is {:.1} %, less than the {least} % of --coverage-min",
            coverage.percent()
        ));
        if exit == Exit::Yes {
            exit = Exit::No;
        }
    }
    for report in &test.report {
        let text = match report.kind {
            TestReportKind::Junit => junit::write(&tested),
            TestReportKind::Lcov => coverage::lcov(&tested),
            TestReportKind::Html => tested
                .coverage
                .as_ref()
                .map_or_else(String::new, page::write),
        };
        if !report::write(&report.file, &text) {
            exit = Exit::Failed;
        }
    }
    exit
}

fn scaffolded(test: &Test, manifests: &Path) -> Exit {
    let folder = plan::folder(test);
    let blueprint = folder.and_then(|folder| Ok((plan::blueprint(test)?, folder)));
    match blueprint {
        Ok((blueprint, folder)) => scaffold::print(&blueprint, &folder, manifests),
        Err(faults) => {
            error::faults(&faults);
            Exit::Invalid
        }
    }
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
    output::hint(&tested.closing_line());
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
