//! Host calls of policies, with their answers.

use portcullis_record::{Decision, HostCallTrace};
use serde_json::Value;

use crate::commands::text::plain::{lasted, shortened};

/// The most characters of an argument or an answer.
const LONGEST: usize = 300;

/// One line for each call.
pub(super) fn lines(decision: &Decision) -> Vec<String> {
    let calls = decision.trace.iter().flat_map(|step| &step.host_calls);
    calls.map(line).collect()
}

fn line(call: &HostCallTrace) -> String {
    let short = |value: &Value| shortened(&value.to_string(), LONGEST).into_owned();
    let arguments: Vec<String> = call.arguments.iter().map(short).collect();
    let answer = match (&call.result, &call.error) {
        (_, Some(error)) => format!("failed: {}", shortened(error, LONGEST)),
        (Some(result), None) => format!("gave {}", short(result)),
        (None, None) => "gave nothing".to_owned(),
    };
    format!(
        "{}: {}({}) {answer}, in {}",
        call.policy,
        call.function,
        arguments.join(", "),
        lasted(call.duration),
    )
}
