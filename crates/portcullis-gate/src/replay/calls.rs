//! Host calls of policies, answered from the record.
//!
//! A call gets the answer of a recorded one of the same function and arguments, each in its turn. Most
//! functions look at the object too, which is not an argument: an answer counts only if its subject is
//! as it was when the policies began originally, or as they left it.

use std::collections::BTreeSet;

use portcullis_core::HostFunction;
use portcullis_core::sync::Mutex;
use portcullis_js::{HostRequest, RecordedCalls};
use portcullis_record::{HostCallTrace, TraceStep};
use serde_json::Value;

use super::MASK;
use super::masked::is_same_but_for_masks;

/// The calls of one decision.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<HostCallTrace>,
    /// The object as the policies left it then, where that is known.
    left: Option<Value>,
    /// Which calls have been answered.
    used: Mutex<Vec<bool>>,
}

impl Calls {
    pub(super) fn new(trace: &[TraceStep], left: Option<Value>) -> Self {
        let calls = trace.iter().flat_map(|step| &step.host_calls);
        let calls: Vec<_> = calls.cloned().collect();
        Self {
            used: Mutex::new(vec![false; calls.len()]),
            calls,
            left,
        }
    }

    /// The next recorded call that is the same.
    fn next(&self, request: &HostRequest<'_>) -> Option<&HostCallTrace> {
        let mut used = self.used.lock();
        let same = |call: &HostCallTrace| {
            call.function == request.function
                && call.arguments.len() == request.arguments.len()
                && call
                    .arguments
                    .iter()
                    .zip(request.arguments)
                    .all(|(recorded, now)| is_same_but_for_masks(recorded, now))
        };
        let mut open = self.calls.iter().zip(used.iter_mut());
        let (call, is_used) = open.find(|(call, is_used)| !**is_used && same(call))?;
        *is_used = true;
        Some(call)
    }

    /// Whether what the call looks at besides its arguments is what it was then.
    fn is_about_the_same(&self, request: &HostRequest<'_>) -> bool {
        if !request.function.looks_at_object() {
            return true;
        }
        let came = request.original;
        let (now, left) = (request.object, self.left.as_ref());
        if *came == *now || left.is_some_and(|left| is_same_but_for_masks(left, now)) {
            return true;
        }
        match request.function {
            HostFunction::CosignVerify
            | HostFunction::SlsaVerify
            | HostFunction::SlsaEnsureComingFrom => {
                let now = images(now);
                now == images(&came.to_value()) || left.is_some_and(|left| now == images(left))
            }
            HostFunction::ForwardToAdmissionController => {
                // What it is to forward may be among the arguments.
                let options = request.arguments.get(1);
                options.is_some_and(|o| o.get("current").is_some())
            }
            HostFunction::KubeGet
            | HostFunction::KubeList
            | HostFunction::Webhook
            | HostFunction::ImageReview
            | HostFunction::Harness => false,
        }
    }
}

impl RecordedCalls for Calls {
    fn answer(&self, request: &HostRequest<'_>) -> Option<Result<Value, String>> {
        let call = self.next(request)?;
        if !self.is_about_the_same(request) {
            return None;
        }
        let text = |value: &Value| value.to_string().contains(MASK);
        match (&call.result, &call.error) {
            (Some(value), _) if text(value) => None,
            (_, Some(error)) if error.contains(MASK) => None,
            (Some(value), _) => Some(Ok(value.clone())),
            (None, Some(error)) => Some(Err(error.clone())),
            // An answer of `null` is not written.
            (None, None) => Some(Ok(Value::Null)),
        }
    }
}

/// Every image that an object names.
fn images(value: &Value) -> BTreeSet<&str> {
    fn find<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
        match value {
            Value::Array(list) => list.iter().for_each(|v| find(v, found)),
            Value::Object(map) => {
                for (key, member) in map {
                    match member {
                        Value::String(image) if key == "image" => {
                            found.insert(image);
                        }
                        member => find(member, found),
                    }
                }
            }
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    find(value, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use portcullis_core::{StepOutcome, Tree, clock};
    use portcullis_js::Input;
    use serde_json::json;

    use super::*;

    fn step(calls: Vec<HostCallTrace>) -> TraceStep {
        TraceStep {
            host_calls: calls,
            ..TraceStep::new("Policies", StepOutcome::Passed)
        }
    }

    fn call(function: HostFunction, argument: Value, result: Value) -> HostCallTrace {
        HostCallTrace {
            policy: "p".to_owned(),
            function: function.into(),
            arguments: vec![argument],
            result: Some(result),
            error: None,
            started: None,
            duration: Duration::ZERO,
        }
    }

    fn ask(
        calls: &Calls,
        function: HostFunction,
        argument: Value,
        object: &Value,
    ) -> Option<Result<Value, String>> {
        let came = json!({"spec": {"containers": [{"image": "a"}]}});
        let input = Input {
            object: Arc::new(Tree::from(&came)),
            ..Input::new(&Value::Null)
        };
        calls.answer(&HostRequest {
            function,
            arguments: &[argument],
            object,
            original: &input.object,
            subject: input.subject.as_ref(),
            deadline: clock::monotonic(),
        })
    }

    #[test]
    fn each_call_is_answered_in_its_turn() {
        let calls = Calls::new(
            &[step(vec![
                call(HostFunction::CosignVerify, json!("k"), json!(true)),
                call(HostFunction::CosignVerify, json!("k"), json!(false)),
                call(HostFunction::SlsaVerify, json!("k"), json!(1)),
                call(
                    HostFunction::CosignVerify,
                    json!("(masked)"),
                    json!("(masked)"),
                ),
            ])],
            None,
        );
        let object = json!({"spec": {"containers": [{"image": "a"}], "x": 1}});
        let cosign = |argument| ask(&calls, HostFunction::CosignVerify, argument, &object);
        assert_eq!(cosign(json!("k")), Some(Ok(json!(true))));
        assert_eq!(cosign(json!("k")), Some(Ok(json!(false))));
        // The last recorded one could be it; its answer is masked.
        assert_eq!(cosign(json!("k")), None);
        assert_eq!(cosign(json!("k")), None);
        let slsa = ask(&calls, HostFunction::SlsaVerify, json!("k"), &object);
        assert_eq!(slsa, Some(Ok(json!(1))));
    }

    #[test]
    fn look_ups_in_the_cluster_are_about_their_arguments_alone() {
        let get = HostFunction::KubeGet;
        let calls = Calls::new(&[step(vec![call(get, json!("k"), json!({"a": 1}))])], None);
        let answer = ask(&calls, get, json!("k"), &Value::Null);
        assert_eq!(answer, Some(Ok(json!({"a": 1}))));
        assert_eq!(ask(&calls, get, json!("k"), &Value::Null), None);
    }

    #[test]
    fn an_answer_about_another_object_does_not_count() {
        let recorded = || {
            [step(vec![
                call(HostFunction::CosignVerify, json!("k"), json!(true)),
                call(
                    HostFunction::ForwardToAdmissionController,
                    json!("u"),
                    json!(true),
                ),
            ])]
        };
        let other = json!({"spec": {"containers": [{"image": "b"}]}});
        let cosign = HostFunction::CosignVerify;
        let forward = HostFunction::ForwardToAdmissionController;
        let calls = Calls::new(&recorded(), None);
        assert_eq!(ask(&calls, cosign, json!("k"), &other), None);
        assert_eq!(ask(&calls, forward, json!("u"), &other), None);
        let calls = Calls::new(&recorded(), Some(other.clone()));
        assert!(ask(&calls, cosign, json!("k"), &other).is_some());
        assert!(ask(&calls, forward, json!("u"), &other).is_some());
    }
}
