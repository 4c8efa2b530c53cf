//! `portcullis test`: runs the tests of policies, on the server's own code path.
//!
//! ```text
//! folder -> plan (configuration, test files) -> run -> outcome -> table | json | yaml
//!                                                             \-> reports
//! ```

mod coverage;
mod junit;
mod lcov;
mod outcome;
mod plan;
mod run;
mod table;
mod value;

use self::outcome::Tested;
use super::text::terminal::Terminal;
use super::text::{error, json, plain, report, yaml};
use crate::cli::{Test, TestOutput, TestReportKind};
use crate::exit::Exit;
use crate::output;

/// Runs the tests and tells what came out.
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
            TestReportKind::Lcov => lcov::write(&tested),
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
        TestOutput::Lcov => lcov::write(tested),
    });
    output::tell(&tested.closing_line());
}
