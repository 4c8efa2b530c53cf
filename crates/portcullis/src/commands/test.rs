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

use std::io;

use self::outcome::Tested;
use super::text::{file, json, plain, yaml};
use crate::cli::{Output, Test, TestReport, TestReportKind};
use crate::exit::Exit;
use crate::output;

/// Runs the tests and tells what came out.
pub(super) fn run(test: &Test) -> Exit {
    let plan = match plan::make(test) {
        Ok(plan) => plan,
        Err(faults) => {
            output::tell(&format!("{faults:#}"));
            return Exit::Invalid;
        }
    };
    for warning in plan.warnings() {
        output::tell(&format!("warning: {warning}"));
    }
    if plan.is_empty() {
        let (folder, why) = (test.folder.display(), plan.why_empty(test));
        output::tell(&format!("no tests ran: {why} `{folder}`"));
        return Exit::Nothing;
    }
    let tested = run::all(&plan);
    tell(&tested, test);
    let mut exit = tested.exit();
    for report in &test.report {
        if let Err(error) = write(report, &tested) {
            let file = report.file.display();
            output::tell(&format!("error: cannot write the report {file}: {error}"));
            exit = Exit::Failed;
        }
    }
    exit
}

fn tell(tested: &Tested, test: &Test) {
    for line in tested.failed().flat_map(|result| &result.written) {
        output::tell(&plain::written(line));
    }
    match test.output {
        Output::Table => output::data(&table::write(tested, test.coverage)),
        Output::Json => output::data(&json::pretty(&value::of(tested))),
        Output::Yaml => output::data(&yaml::write(&value::of(tested))),
    }
    output::tell(&tested.closing_line());
}

fn write(report: &TestReport, tested: &Tested) -> io::Result<()> {
    let text = match report.kind {
        TestReportKind::Junit => junit::write(tested),
        TestReportKind::Lcov => lcov::write(tested),
    };
    file::write(&report.file, &text)
}
