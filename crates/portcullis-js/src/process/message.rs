//! Messages between a pool and its processes.
//!
//! Values of policies and requests are JSON inside of JSON, so that each is parsed only where it is
//! needed. Points in time are sent as the time since the evaluation began: clocks of
//! processes don't compare.

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_core::{
    Document, HostCallStep, HostFunction, Look, PolicyLimit, PolicyMode, PolicyOutcome, PolicyStep,
    Tree, json,
};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::input::{Input, Plan};
use crate::limits::Limits;
use crate::outcome::{ConsoleLine, Evaluation, PolicyVerdict};
use crate::policy_set::PolicySet;
use crate::sources::Sources;
use crate::subject::PlainSubject;

type Raw = Box<RawValue>;

/// The result of a host call.
pub(super) type CallResult = Result<Raw, String>;

/// What is said to a process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToWorker {
    /// First of all.
    Setup(Box<Setup>),
    /// One evaluation.
    Job(Box<Job>),
    /// The answer to a call.
    Answer {
        answer: CallResult,
        /// Whether it came too late, by the clock of the pool.
        is_late: bool,
    },
    /// The `GlobalContext`; none if it could not be acquired in time.
    Context(Option<Raw>),
}

/// What a process says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FromWorker {
    /// It waits for an evaluation.
    Ready,
    /// It can't do what it is for.
    Failed(String),
    /// This policy runs from now on.
    Policy(usize),
    /// A policy makes a host call.
    Call {
        function: HostFunction,
        arguments: Raw,
        object: Raw,
    },
    /// A policy looks at the `GlobalContext`.
    Acquire,
    /// It is this from now on.
    Store(Raw),
    /// The evaluation has ended.
    Done(Box<Report>),
}

/// What a process needs to know once.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Setup {
    pub(super) sources: Sources,
    pub(super) limits: Limits,
    /// How large the `GlobalContext` may be.
    pub(super) context: usize,
    /// The host functions.
    pub(super) functions: Vec<HostFunction>,
}

/// One evaluation.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Job {
    /// How much time there is.
    pub(super) left: Duration,
    object: Raw,
    old_object: Raw,
    req: Option<Raw>,
    ac: Option<Raw>,
    plan: Vec<Plan>,
    failures_pass: bool,
    asks_on: bool,
}

/// What came of one.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Report {
    verdict: PolicyVerdict,
    steps: Vec<StepReport>,
    warnings: Vec<String>,
    console: Vec<LineReport>,
    host_calls: Vec<CallReport>,
    covered: Vec<u32>,
    object: Option<Raw>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StepReport {
    mode: PolicyMode,
    outcome: PolicyOutcome,
    changed: bool,
    message: Option<String>,
    source: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    limit: Option<PolicyLimit>,
    started: Option<Duration>,
    duration: Option<Duration>,
}

#[derive(Debug, Serialize, Deserialize)]
struct LineReport {
    policy: String,
    line: Option<u32>,
    level: String,
    text: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct CallReport {
    policy: String,
    function: HostFunction,
    arguments: Vec<Raw>,
    result: CallResult,
    started: Option<Duration>,
    duration: Duration,
}

/// A value as text.
pub(super) fn to_raw(value: &Value) -> serde_json::Result<Raw> {
    to_raw_value(value)
}

/// A text as a value.
pub(super) fn to_value(raw: &RawValue) -> serde_json::Result<Value> {
    serde_json::from_str(raw.get())
}

/// The evaluation of this input.
pub(super) fn job(set: &PolicySet, input: &Input, left: Duration) -> serde_json::Result<ToWorker> {
    let reads = set.reads();
    let subject = &input.subject;
    let req = reads.req.then(|| to_raw(&subject.req())).transpose()?;
    let ac = reads.ac.then(|| to_raw(&subject.ac())).transpose()?;
    Ok(ToWorker::Job(Box::new(Job {
        left,
        object: text_of(&input.object)?,
        old_object: text_of(&input.old_object)?,
        req,
        ac,
        plan: input.plan.clone(),
        failures_pass: input.failures_pass,
        asks_on: input.asks_on,
    })))
}

impl Job {
    /// What is asked of the engine.
    pub(super) fn input(&self) -> serde_json::Result<Input> {
        let value = |raw: &Option<Raw>| match raw {
            Some(raw) => to_value(raw),
            None => Ok(Value::Object(serde_json::Map::new())),
        };
        let subject = PlainSubject {
            req: value(&self.req)?,
            ac: value(&self.ac)?,
        };
        Ok(Input {
            object: Arc::new(tree_of(&self.object)?),
            old_object: Arc::new(tree_of(&self.old_object)?),
            subject: Arc::new(subject),
            plan: self.plan.clone(),
            failures_pass: self.failures_pass,
            asks_on: self.asks_on,
            replay: None,
        })
    }
}

impl Report {
    /// What came of an evaluation that began then.
    pub(super) fn of(evaluation: Evaluation, began: Instant) -> serde_json::Result<Self> {
        let since = |moment: Instant| moment.saturating_duration_since(began);
        let steps = evaluation.steps.into_iter().map(|step| StepReport {
            mode: step.mode,
            outcome: step.outcome,
            changed: step.changed,
            message: step.message,
            source: step.source,
            line: step.line,
            column: step.column,
            limit: step.limit,
            started: step.started.map(since),
            duration: step.duration,
        });
        let console = evaluation.console.into_iter().map(|line| LineReport {
            policy: line.policy,
            line: line.line,
            level: line.level.to_owned(),
            text: line.text,
        });
        let call = |call: HostCallStep| {
            Ok(CallReport {
                policy: call.policy,
                function: call.function,
                arguments: call
                    .arguments
                    .iter()
                    .map(to_raw)
                    .collect::<Result<_, _>>()?,
                result: match call.error {
                    Some(text) => Err(text),
                    None => Ok(to_raw(&call.result.unwrap_or_default())?),
                },
                started: call.started.map(since),
                duration: call.duration,
            })
        };
        let host_calls = evaluation.host_calls.into_iter().map(call);
        Ok(Self {
            verdict: evaluation.verdict,
            steps: steps.collect(),
            warnings: evaluation.warnings,
            console: console.collect(),
            host_calls: host_calls.collect::<serde_json::Result<_>>()?,
            covered: evaluation.covered,
            object: evaluation.object.as_ref().map(to_raw).transpose()?,
        })
    }

    /// The evaluation of this input, which began then; or what is wrong with the report.
    pub(super) fn evaluation(
        self,
        set: &PolicySet,
        input: &Input,
        began: Instant,
    ) -> Result<Evaluation, String> {
        let wrong = |what: &str| format!("a worker process reported {what}");
        if self.steps.len() != set.names().len() {
            return Err(wrong("other policies than it was request about"));
        }
        let is_denied = matches!(self.verdict, PolicyVerdict::Deny(_));
        if is_denied && self.object.is_some() {
            return Err(wrong("a denial that changes the object"));
        }
        let steps = self.steps.into_iter().zip(set.names()).enumerate();
        let steps = steps.map(|(index, (step, name))| {
            let is_skipped = input.plan(index) == Plan::Skip;
            if is_skipped && step.outcome != PolicyOutcome::Skip {
                return Err(wrong("a policy that was to be skipped"));
            }
            Ok(step.step(name, began))
        });
        let unreadable = |e: serde_json::Error| wrong(&format!("a value that can't be read: {e}"));
        let calls = self.host_calls.into_iter().map(|call| {
            let arguments = call.arguments.iter().map(|raw| to_value(raw));
            let (result, error) = match call.result {
                Ok(raw) => (Some(to_value(&raw).map_err(unreadable)?), None),
                Err(text) => (None, Some(text)),
            };
            Ok(HostCallStep {
                policy: call.policy,
                function: call.function,
                arguments: arguments.collect::<Result<_, _>>().map_err(unreadable)?,
                result,
                error,
                started: call.started.and_then(|since| began.checked_add(since)),
                duration: call.duration,
            })
        });
        let object = self.object.as_deref().map(to_value).transpose();
        Ok(Evaluation {
            verdict: self.verdict,
            steps: steps.collect::<Result<_, String>>()?,
            warnings: self.warnings,
            console: self.console.into_iter().map(LineReport::line).collect(),
            host_calls: calls.collect::<Result<_, String>>()?,
            changed_by: Vec::new(),
            covered: self.covered,
            object: object.map_err(unreadable)?,
            unknown: Vec::new(),
        })
    }
}

impl StepReport {
    fn step(self, name: &str, began: Instant) -> PolicyStep {
        PolicyStep {
            name: name.to_owned(),
            mode: self.mode,
            outcome: self.outcome,
            changed: self.changed,
            message: self.message,
            source: self.source,
            line: self.line,
            column: self.column,
            limit: self.limit,
            description: None,
            category: None,
            severity: None,
            link: None,
            started: self.started.and_then(|since| began.checked_add(since)),
            duration: self.duration,
        }
    }
}

impl LineReport {
    fn line(self) -> ConsoleLine {
        ConsoleLine {
            policy: self.policy,
            line: self.line,
            level: ConsoleLine::level(&self.level),
            text: self.text,
        }
    }
}

/// The text of a tree, its members in their order.
fn text_of(tree: &Tree) -> serde_json::Result<Raw> {
    match tree.unread_text() {
        Some(text) => RawValue::from_string(text.to_owned()),
        None => to_raw_value(&Ordered(tree)),
    }
}

/// A tree of this text, which is read only as far as a policy looks.
fn tree_of(raw: &RawValue) -> serde_json::Result<Tree> {
    let scanned = json::scan(raw.get().as_bytes()).ok();
    let document = scanned.map(|s| Document::from_scanned(&s, s.text()));
    match document.and_then(|document| document.tree().ok()) {
        Some(tree) => Ok(tree),
        None => to_value(raw).map(|value| Tree::from(&value)),
    }
}

struct Ordered<'a>(&'a Tree);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.look() {
            Look::Null => serializer.serialize_unit(),
            Look::Bool(value) => serializer.serialize_bool(value),
            Look::Number(number) => number.serialize(serializer),
            Look::String(text) => serializer.serialize_str(text),
            Look::List(list) => {
                let mut elements = serializer.serialize_seq(Some(list.len()))?;
                for element in list {
                    elements.serialize_element(&Self(element))?;
                }
                elements.end()
            }
            Look::Object(object) => {
                let mut members = serializer.serialize_map(Some(object.len()))?;
                for (key, member) in object {
                    members.serialize_entry(key, &Self(member))?;
                }
                members.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tree(text: &str) -> Tree {
        let scanned = json::scan(text.as_bytes()).unwrap();
        let document = Document::from_scanned(&scanned, scanned.text());
        document.tree().unwrap()
    }

    #[test]
    fn an_object_arrives_as_it_was_its_members_in_their_order() {
        let text = r#"{"z":[1,1.5,-0.0,"é\u0001"],"a":{"c":null,"b":[[],{}]}}"#;
        let unread = tree(text);
        assert_eq!(text_of(&unread).unwrap().get(), text);
        let read = tree(text);
        assert!(read.get("z").is_some());
        assert_eq!(text_of(&read).unwrap().get(), text);
        let back = tree_of(&text_of(&read).unwrap()).unwrap();
        assert!(back == read);
        let Look::Object(members) = back.look() else {
            panic!("{back:?}")
        };
        let keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["z", "a"]);
        let null = text_of(&Tree::from(&json!(null))).unwrap();
        assert_eq!(tree_of(&null).unwrap().to_value(), Value::Null);
    }
}
