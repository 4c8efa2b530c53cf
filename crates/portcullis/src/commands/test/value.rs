//! The machine-readable results.

use serde_json::{Value, json};

use super::coverage;
use super::outcome::{Failure, State, TestResult, Tested};

/// All results, in the shape that `-o json` and `-o yaml` have.
pub(super) fn of(tested: &Tested) -> Value {
    let results: Vec<Value> = tested.results.iter().map(result).collect();
    let mut value = json!({
        "results": results,
        "summary": {
            "passed": tested.count(State::Passed),
            "failed": tested.count(State::Failed),
            "skipped": tested.count(State::Skipped),
            "errors": tested.count(State::Error),
        },
    });
    if let (Some(counted), Some(map)) = (&tested.coverage, value.as_object_mut()) {
        map.insert("coverage".to_owned(), coverage::value(counted));
    }
    value
}

fn result(result: &TestResult) -> Value {
    let failures: Vec<Value> = result.failures.iter().map(failure).collect();
    json!({
        "file": result.file,
        "line": result.line,
        "name": result.name,
        "outcome": result.state.as_str(),
        "failures": failures,
    })
}

fn failure(failure: &Failure) -> Value {
    let values = failure.values.as_ref();
    json!({
        "message": failure.message,
        "line": failure.line,
        "expected": values.map(|(expected, _)| expected),
        "got": values.map(|(_, got)| got),
    })
}
