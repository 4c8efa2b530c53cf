//! Policies that a test makes up, and a recorder that remembers.

use std::fmt;
use std::sync::{Arc, Mutex};

use portcullis_ci::{
    AdmissionRecord, FinishedAdmission, Judging, NotRecorded, Observation, PolicyChoice,
    PolicyJudge, PolicyQuestion, PolicyVerdict, Recorder,
};
use serde_json::Value;

type Answer = Result<PolicyVerdict, String>;
type Answers = Box<dyn Fn(&PolicyQuestion) -> Answer + Send>;

/// Answers as a test says.
#[derive(Default)]
pub(crate) struct FakeJudge {
    answer: Mutex<Option<Answers>>,
    has_ci_policies: Mutex<bool>,
    hangs: Mutex<bool>,
    asked: Mutex<Vec<PolicyQuestion>>,
}

impl fmt::Debug for FakeJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FakeJudge")
    }
}

impl FakeJudge {
    pub(crate) fn answer(&self, answer: impl Fn(&PolicyQuestion) -> Answer + Send + 'static) {
        *self.answer.lock().unwrap() = Some(Box::new(answer));
    }

    /// Asks the configured policies about every job.
    pub(crate) fn have_ci_policies(&self) {
        *self.has_ci_policies.lock().unwrap() = true;
    }

    /// Whether evaluations never end, as those of a server that is gone.
    pub(crate) fn hang(&self, hangs: bool) {
        *self.hangs.lock().unwrap() = hangs;
    }

    pub(crate) fn asked(&self) -> Vec<PolicyQuestion> {
        self.asked.lock().unwrap().clone()
    }
}

/// An acceptance with this object.
pub(crate) fn accepted(object: Value) -> Answer {
    Ok(PolicyVerdict {
        accepted: true,
        reason: None,
        policy: None,
        object: Some(object),
    })
}

/// A denial by this policy.
pub(crate) fn denied(policy: &str, reason: &str) -> Answer {
    Ok(PolicyVerdict {
        accepted: false,
        reason: Some(reason.to_owned()),
        policy: Some(policy.to_owned()),
        object: None,
    })
}

impl PolicyJudge for FakeJudge {
    fn judge(&self, question: PolicyQuestion) -> Judging {
        let answer = self.answer.lock().unwrap();
        let answer = match &*answer {
            Some(answer) => answer(&question),
            None => accepted(question.object.clone()),
        };
        self.asked.lock().unwrap().push(question);
        if *self.hangs.lock().unwrap() {
            return Box::pin(std::future::pending());
        }
        Box::pin(async move { answer })
    }

    fn has_policy(&self, name: &str) -> bool {
        name.starts_with("known")
    }

    fn has_ci_policies(&self) -> bool {
        *self.has_ci_policies.lock().unwrap()
    }

    fn check_code(&self, code: &str) -> Result<(), String> {
        match code.contains("syntax error") {
            true => Err("line 1: syntax error".to_owned()),
            false => Ok(()),
        }
    }
}

/// Whether a question is about the configured policies.
pub(crate) fn is_door(question: &PolicyQuestion) -> bool {
    question.policies == PolicyChoice::Door
}

/// Remembers what it was told.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    finished: Arc<Mutex<Vec<FinishedAdmission>>>,
    fails: Mutex<bool>,
    observed: Mutex<Vec<Observation>>,
}

impl Memory {
    pub(crate) fn finished(&self) -> Vec<FinishedAdmission> {
        self.finished.lock().unwrap().clone()
    }

    /// Whether records that are required can't be made.
    pub(crate) fn fail(&self, fails: bool) {
        *self.fails.lock().unwrap() = fails;
    }

    pub(crate) fn observed(&self) -> Vec<Observation> {
        self.observed.lock().unwrap().clone()
    }
}

impl Recorder for Memory {
    fn record(&self, finished: FinishedAdmission) -> Result<AdmissionRecord, NotRecorded> {
        if *self.fails.lock().unwrap() {
            return Err(NotRecorded);
        }
        let memory = Arc::clone(&self.finished);
        Ok(AdmissionRecord {
            entry: None,
            stored: Box::new(move || memory.lock().unwrap().push(finished)),
        })
    }

    fn observe(&self, observation: &Observation) {
        self.observed.lock().unwrap().push(observation.clone());
    }
}

/// A judge and a recorder.
pub(crate) fn surroundings() -> (Arc<FakeJudge>, Arc<Memory>) {
    (Arc::new(FakeJudge::default()), Arc::new(Memory::default()))
}
