//! Running the tests, one after the other.

use portcullis_core::clock::Stopwatch;
use portcullis_document::Source;
use portcullis_gate::offline::{Blueprint, Case, Coverage, ScriptFailure, ScriptTest, TestScript};
use serde_json::Value;

use super::outcome::{Actual, Failure, State, TestResult, Tested};
use super::plan::{Plan, TestFile};

/// Runs everything.
pub(super) fn all(plan: &Plan) -> Tested {
    let mut results = Vec::new();
    let mut coverage = plan.coverage.then(Coverage::default);
    if let Some(blueprint) = &plan.blueprint {
        // Policies that no test asks count too.
        if let Some(coverage) = &mut coverage {
            coverage.add(blueprint.marks(), &[]);
        }
        for file in &plan.files {
            match file {
                TestFile::Cases { file, cases } => {
                    let run = cases
                        .iter()
                        .map(|c| case(blueprint, file, c, &mut coverage));
                    results.extend(run);
                }
                TestFile::Script {
                    file,
                    script,
                    tests,
                } => {
                    let run = tests.iter().map(|(index, test)| {
                        of_script(blueprint, file, script, (*index, test), &mut coverage)
                    });
                    results.extend(run);
                }
            }
        }
    }
    Tested {
        blueprint: plan.blueprint.clone(),
        results,
        coverage,
    }
}

fn case(
    blueprint: &Blueprint,
    file: &str,
    case: &Case,
    coverage: &mut Option<Coverage>,
) -> TestResult {
    let watch = Stopwatch::start();
    let answer = blueprint.answer(&case.request, &blueprint.memory());
    let mut result = TestResult {
        file: file.to_owned(),
        line: Some(case.line),
        name: case.name.clone(),
        state: State::Passed,
        failures: Vec::new(),
        steps: Vec::new(),
        written: Vec::new(),
        duration: watch.elapsed(),
        actual: None,
    };
    match answer {
        Ok(mut answer) => {
            let mismatches = case.expect.compare(&case.request, &answer);
            let failures = mismatches.iter();
            let failures = failures.map(|m| compared(m.what, m.expected.clone(), m.got.clone()));
            result.failures = failures.collect();
            if !result.failures.is_empty() {
                result.state = State::Failed;
            }
            if let Some(coverage) = coverage {
                coverage.add(blueprint.marks(), &answer.covered);
            }
            result.steps = std::mem::take(&mut answer.steps);
            result.written = std::mem::take(&mut answer.written);
            if !mismatches.is_empty() {
                result.actual = Some(Box::new(Actual {
                    index: case.index,
                    answer,
                    mismatches,
                }));
            }
        }
        Err(why) => {
            result.state = State::Error;
            result.failures.push(told(why));
        }
    }
    result
}

fn of_script(
    blueprint: &Blueprint,
    file: &str,
    script: &TestScript,
    (index, test): (usize, &ScriptTest),
    coverage: &mut Option<Coverage>,
) -> TestResult {
    let watch = Stopwatch::start();
    let mut result = TestResult {
        file: file.to_owned(),
        line: test.line.map(u64::from),
        name: test.name.clone(),
        state: State::Skipped,
        failures: Vec::new(),
        steps: Vec::new(),
        written: Vec::new(),
        duration: std::time::Duration::ZERO,
        actual: None,
    };
    if test.skipped {
        return result;
    }
    let run = script.run(index);
    if let Some(coverage) = coverage {
        coverage.add(blueprint.marks(), &run.covered);
        coverage.add(script.marks(), &run.covered_imports);
    }
    result.duration = watch.elapsed();
    result.written = run.written;
    result.state = State::Passed;
    if let Some(failure) = run.failure {
        result.state = State::Failed;
        result.failures.push(failed(script.source(), failure));
    }
    result
}

fn failed(source: &Source, failure: ScriptFailure) -> Failure {
    let line = failure.line.and_then(|line| usize::try_from(line).ok());
    let text = line.and_then(|line| source.text().lines().nth(line.checked_sub(1)?));
    let compared = failure.compared;
    let compared = compared.filter(|c| is_tree(&c.expected) && is_tree(&c.got));
    Failure {
        title: match &compared {
            Some(_) => "expected another value".to_owned(),
            None => failure.message.clone(),
        },
        message: failure.message,
        line: failure.line,
        source_line: text.map(|text| text.trim().to_owned()),
        values: compared.map(|c| (c.expected, c.got)),
    }
}

fn is_tree(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

fn told(message: String) -> Failure {
    Failure {
        title: message.clone(),
        message,
        line: None,
        source_line: None,
        values: None,
    }
}

fn compared(what: &str, expected: Value, got: Value) -> Failure {
    let message = match what {
        "message" => format!("message: expected to find {expected} in {got}"),
        "warnings" => format!("warnings: expected to find {expected} in one of {got}"),
        what => format!("{what}: expected {}, got {}", plain(&expected), plain(&got)),
    };
    Failure {
        title: match is_tree(&expected) {
            true => format!("{what}: expected another value"),
            false => message.clone(),
        },
        message,
        line: None,
        source_line: None,
        values: Some((expected, got)),
    }
}

/// Text without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "nothing".to_owned(),
        other => other.to_string(),
    }
}
