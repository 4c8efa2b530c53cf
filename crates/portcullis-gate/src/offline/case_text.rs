//! A recorded decision as a test case: the text of a `*.test.yaml` that expects what was decided.

use std::fmt::Write as _;

use portcullis_core::attributes::AUTHENTICATED;
use portcullis_core::{Door, Operation, StepOutcome};
use portcullis_document::yaml;
use portcullis_kube::manifest::{Manifest, ReviewRequest, review as review_text};
use portcullis_record::{Answer, Decision, MASKED, TraceStep};
use serde_json::{Map, Value, json};

use super::answer::NAMESPACE;
use super::asker;
use super::expected::pattern;
use crate::policies;

/// Remarks of one kind, at most.
const MOST: usize = 20;

/// Why a decision can't be written as a test.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotACase(String);

/// The text of a test file with this decision as its only case.
///
/// # Errors
///
/// When a test can't ask what was asked.
pub fn case_text(decision: &Decision) -> Result<String, NotACase> {
    let case = Writer::of(decision)?;
    let mut keys = case.request()?;
    keys.insert("name".to_owned(), case.name().into());
    keys.insert("expect".to_owned(), case.expectation());
    let mut text = String::new();
    for remark in case.remarks() {
        let _ = writeln!(text, "# {}", portcullis_core::text::printable(&remark));
    }
    text.push_str("tests:\n");
    text.push_str(&case_entry(&keys));
    Ok(text)
}

/// The keys of a case that come first; `expect` comes last.
const FIRST_KEYS: [&str; 4] = ["name", "file", "object", "oldObject"];

/// A case as an entry of the list `tests`: what it is called, what is asked, what is expected.
pub fn case_entry(keys: &Map<String, Value>) -> String {
    let rank = |key: &str| match FIRST_KEYS.iter().position(|first| *first == key) {
        Some(place) => place,
        None if key == "expect" => FIRST_KEYS.len() + 1,
        None => FIRST_KEYS.len(),
    };
    let mut ordered: Vec<(&String, &Value)> = keys.iter().collect();
    ordered.sort_by_key(|(key, _)| rank(key));
    let mut text = String::new();
    for (key, value) in ordered {
        for line in yaml::write(&json!({key.as_str(): value})).lines() {
            let begin = if text.is_empty() { "- " } else { "  " };
            let _ = writeln!(text, "{begin}{line}");
        }
    }
    text
}

struct Writer<'a> {
    decision: &'a Decision,
    /// The review; of a CI job the job itself.
    review: Value,
    is_job: bool,
}

impl<'a> Writer<'a> {
    fn of(decision: &'a Decision) -> Result<Self, NotACase> {
        let not = |why: &str| Err(NotACase(why.to_owned()));
        let is_job = match decision.summary.door {
            Door::Kubernetes => false,
            Door::Ci => true,
            Door::Authorization => return not("tests don't ask authorizers"),
            Door::Api => return not("tests don't ask what callers of the API may do"),
        };
        if !decision.input.truncated.is_empty() {
            return not("the request was too large to be recorded");
        }
        let review = serde_json::from_str(decision.input.review_text());
        let review = review.map_err(|error| NotACase(format!("the recorded review: {error}")))?;
        let one = Self {
            decision,
            review,
            is_job,
        };
        if let Some(name) = one.by_controller() {
            return Err(NotACase(format!(
                "{name} decided about the job, a controller that tests don't ask"
            )));
        }
        match one.is_by_door() {
            true => not("the door decided, which tests don't do: of a change or an exemption"),
            false => Ok(one),
        }
    }

    /// Whether the answer is not that of the chain: an object that would still be changed, a denial that did not
    /// count.
    fn is_by_door(&self) -> bool {
        let steps = &self.decision.trace;
        let is_denial = |step: &TraceStep| step.is(StepOutcome::Denied) || step.is_failure();
        let webhook = self.decision.input.webhook.as_ref();
        let is_refused = self.decision.summary.verdict == Answer::Deny
            && webhook.is_some_and(|webhook| webhook.refuses_pending)
            && !steps.last().is_some_and(is_denial);
        let is_exempted = |step: &TraceStep| {
            let detail = step.detail.as_deref().unwrap_or_default();
            self.is_job && detail.contains(", exempted by ")
        };
        is_refused || steps.iter().any(is_exempted)
    }

    /// The controller that had a part in the decision about a job.
    fn by_controller(&self) -> Option<&str> {
        let mut steps = self.decision.trace.iter().filter(|_| self.is_job);
        let decides = |step: &&TraceStep| {
            let is_idle = step.is(StepOutcome::Skipped) || step.is(StepOutcome::Passed);
            step.plugin != policies::NAME && !is_idle
        };
        steps.find(decides).map(|step| step.plugin.as_str())
    }

    fn at(&self, pointer: &str) -> &Value {
        self.review.pointer(pointer).unwrap_or(&Value::Null)
    }

    fn text(&self, pointer: &str) -> &str {
        self.at(pointer).as_str().unwrap_or_default()
    }

    fn name(&self) -> String {
        let summary = &self.decision.summary;
        let what = match summary.namespace.as_str() {
            "" => summary.name.clone(),
            namespace => format!("{namespace}/{}", summary.name),
        };
        let verdict = match summary.verdict {
            Answer::Allow => "allowed",
            Answer::Deny => "denied",
        };
        format!(
            "{} {} {what} by {} is {verdict}",
            summary.operation, summary.kind, summary.user
        )
    }

    /// What is asked, by the keys of a case.
    fn request(&self) -> Result<Map<String, Value>, NotACase> {
        let mut keys = Map::new();
        let mut set = |key: &str, value: Value| keys.insert(key.to_owned(), value);
        if self.is_job {
            set("object", self.whole("", &self.review)?);
            set("user", self.text("/user/username").into());
            return Ok(keys);
        }
        let operation = self.text("/request/operation");
        let (object, old) = (self.at("/request/object"), self.at("/request/oldObject"));
        if object.is_null() && old.is_null() {
            return Err(NotACase("the request has no object".to_owned()));
        }
        if !object.is_null() {
            let mut object = self.whole("/request/object", object)?;
            if self.is_connection() {
                self.name_connection(&mut object);
            }
            set("object", object);
        }
        if !old.is_null() {
            set("oldObject", self.whole("/request/oldObject", old)?);
        }
        set("operation", operation.into());
        set("user", self.text("/request/userInfo/username").into());
        let groups = self.at("/request/userInfo/groups").as_array();
        let groups: Vec<&Value> = groups.into_iter().flatten().collect();
        let own = groups.into_iter().filter(|group| **group != AUTHENTICATED);
        let own: Vec<Value> = own.cloned().collect();
        if !own.is_empty() {
            set("groups", own.into());
        }
        match self.text("/request/namespace") {
            "" => {}
            namespace => drop(set("namespace", namespace.into())),
        }
        if self.at("/request/dryRun") == true {
            set("dryRun", true.into());
        }
        self.is_the_same(&keys)?;
        Ok(keys)
    }

    fn is_connection(&self) -> bool {
        self.text("/request/operation") == Operation::Connect.as_str()
    }

    /// Options of a connection have no name. Tests ask about the object that their `metadata` names.
    fn name_connection(&self, options: &mut Value) {
        let name = self.text("/request/name");
        let metadata = options
            .as_object_mut()
            .map(|options| options.entry("metadata").or_insert_with(|| json!({})));
        if let (Some(Value::Object(metadata)), false) = (metadata, name.is_empty()) {
            metadata.entry("name").or_insert_with(|| Value::from(name));
        }
    }

    /// An object, unless all of it is masked.
    fn whole(&self, place: &str, object: &Value) -> Result<Value, NotACase> {
        match object {
            Value::Object(map) if !map.is_empty() => Ok(object.clone()),
            _ => Err(NotACase(format!("the object at /review{place} is masked"))),
        }
    }

    /// Whether a test of these keys asks about the same resource.
    fn is_the_same(&self, keys: &Map<String, Value>) -> Result<(), NotACase> {
        let not = |why: String| NotACase(why);
        let namespace = keys.get("namespace").and_then(Value::as_str);
        let object = keys.get("object").or(keys.get("oldObject"));
        let object = object.cloned().unwrap_or_default();
        let own = object
            .pointer("/metadata/namespace")
            .and_then(Value::as_str);
        if own.is_some_and(|own| own != self.text("/request/namespace")) {
            return Err(not(
                "the object names another namespace than the request".to_owned()
            ));
        }
        let manifest = Manifest::new(object, namespace.unwrap_or(NAMESPACE));
        let manifest = manifest.map_err(|fault| not(fault.message))?;
        let question = ReviewRequest {
            operation: Operation::Create,
            old: None,
            user: &asker("", &[]),
            dry_run: false,
            uid: "",
        };
        let asked: Value =
            serde_json::from_str(&review_text(&manifest, question)).unwrap_or_default();
        let name = self.text("/request/name");
        if !name.is_empty() && name != manifest.name {
            return Err(not(format!(
                "tests ask about an object by its own name, and the request names `{name}`"
            )));
        }
        let part = self.text("/request/subResource");
        let asked_part = asked
            .pointer("/request/subResource")
            .and_then(Value::as_str);
        match part == asked_part.unwrap_or_default() {
            true => Ok(()),
            false => Err(not(format!(
                "tests ask about whole objects, not about `{part}` of one"
            ))),
        }
    }

    fn expectation(&self) -> Value {
        let summary = &self.decision.summary;
        let mut keys = Map::new();
        let mut set = |key: &str, value: Value| keys.insert(key.to_owned(), value);
        set("allowed", (summary.verdict == Answer::Allow).into());
        if summary.verdict == Answer::Deny {
            if let Some(by) = summary.policy.as_ref().or(summary.plugin.as_ref()) {
                set("policy", by.as_str().into());
            }
            if !summary.message.is_empty() {
                set("message", self.message().into());
            }
        } else if self.keeps_patch() {
            set("patch", self.decision.patch.clone().into());
        }
        let warnings = summary.warnings.iter().map(|text| pattern(text).into());
        let warnings: Vec<Value> = warnings.collect();
        if !warnings.is_empty() {
            set("warnings", warnings.into());
        }
        Value::Object(keys)
    }

    /// What the message must match. That of a job begins with what stands for the policies, and may be cut.
    fn message(&self) -> String {
        let message = self.decision.summary.message.as_str();
        match self.is_job {
            true => pattern(message.strip_prefix("policies: ").unwrap_or(message)),
            false => format!("^{}$", pattern(message)),
        }
    }

    /// Whether the patch is known, and all of it comes of what a test asks.
    fn keeps_patch(&self) -> bool {
        let webhook = self.decision.input.webhook.as_ref();
        let patch = json!(self.decision.patch).to_string();
        let is_answered = webhook.is_none_or(|webhook| webhook.may_patch);
        is_answered && !patch.contains(MASKED) && self.is_complete()
    }

    /// Whether a test asks about the object as it was: it completes objects as an API server does, which plug-ins may
    /// look at.
    fn is_complete(&self) -> bool {
        let (object, namespace) = match self.is_job {
            true => (&self.review, self.text("/project")),
            false => (self.at("/request/object"), self.text("/request/namespace")),
        };
        let namespace = Some(namespace).filter(|namespace| !namespace.is_empty());
        let completed = Manifest::new(object.clone(), namespace.unwrap_or(NAMESPACE));
        object.is_null() || completed.is_ok_and(|manifest| manifest.object == *object)
    }

    /// What a reader should know.
    fn remarks(&self) -> Vec<String> {
        let decision = self.decision;
        let mut remarks = vec![format!("Decision {}.", decision.summary.id)];
        let masked: Vec<&str> = decision
            .input
            .masked
            .iter()
            .filter_map(|place| place.strip_prefix("/review"))
            .collect();
        for place in masked.iter().take(MOST) {
            remarks.push(format!("Masked, not the value that was sent: {place}"));
        }
        if masked.len() > MOST {
            remarks.push(format!("... and {} more", masked.len() - MOST));
        }
        let has = |pointer: &str| match self.at(pointer) {
            Value::Null => false,
            Value::String(text) => !text.is_empty(),
            Value::Object(map) => !map.is_empty(),
            _ => true,
        };
        for (pointer, name) in [
            ("/request/userInfo/uid", "uid"),
            ("/request/userInfo/extra", "extra"),
        ] {
            if has(pointer) {
                remarks.push(format!("Not part of a test: the user's {name}."));
            }
        }
        if self.is_connection() {
            remarks.push("The options have the name of what is connected to.".to_owned());
        }
        let http = &decision.input.http;
        if http.unix.is_some() || http.certificate.is_some() {
            remarks.push("Not part of a test: how the caller was connected.".to_owned());
        }
        if decision
            .trace
            .iter()
            .any(|step| !step.host_calls.is_empty())
        {
            remarks.push("Policies made host calls, which a test makes again.".to_owned());
        }
        if decision.summary.verdict == Answer::Deny
            && decision.trace.last().is_some_and(TraceStep::is_failure)
        {
            remarks.push(
                "The request could not be decided, which may differ from run to run.".to_owned(),
            );
        }
        if decision.summary.verdict == Answer::Allow && !self.keeps_patch() {
            remarks.push(
                "What was changed is not expected: it was not answered, is masked, or the object was incomplete."
                    .to_owned(),
            );
        }
        remarks
    }
}
