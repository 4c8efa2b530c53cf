//! The way to an answer: judge, read what is needed, judge again.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use portcullis_core::text::start;
use portcullis_core::{
    Attributes, Denial, Document, DocumentError, Finished, Notes, Outcome, UserInfo, clock,
};
use portcullis_graph::{AdmissionRequest, AgentIdentity, Judgement, Subject, Vertex};

use serde_json::Value;

use super::knowledge::{Knowledge, ObjectsRead};
use super::profiles::ScopedProfile;

/// How often what was read may show that something else must be read.
const MAX_ROUNDS: usize = 8;
/// How many objects may be read for one request.
const MAX_READS: usize = 16;
/// Longer words of errors are cut.
const MAX_WORDS: usize = 512;
/// The annotation that names profile and rule.
const ANNOTATION: &str = "scoped-access";

/// The user as one profile knows it.
pub(super) struct Agent {
    profile: ScopedProfile,
    subject: Subject,
}

/// A user that claims to be an agent of a profile, but which can't be determined.
pub(super) struct Unclear {
    profile: Arc<str>,
    why: String,
}

impl Unclear {
    /// The denial.
    pub(super) fn refused(self) -> Finished {
        let mut notes = Notes::default();
        let outcome = judged(&mut notes, &self.profile, Judgement::unclear(self.why));
        Finished {
            outcome: Ok(outcome.unwrap_or_else(|outcome| outcome)),
            notes,
            object: None,
        }
    }
}

/// What the profiles that know this user know it as.
///
/// # Errors
///
/// When a profile can't determine which agent it is: then it may write nothing.
pub(super) fn agents(profiles: &[ScopedProfile], user: &UserInfo) -> Result<Vec<Agent>, Unclear> {
    let judging = profiles
        .iter()
        .filter(|p| p.state.profile().judges_admission());
    let mut agents = Vec::new();
    for profile in judging {
        match profile.state.profile().rules.identify(user) {
            AgentIdentity::Other => {}
            AgentIdentity::Agent(subject) => agents.push(Agent {
                profile: profile.clone(),
                subject,
            }),
            AgentIdentity::Unclear(why) => {
                let profile = Arc::clone(&profile.name);
                return Err(Unclear { profile, why });
            }
        }
    }
    Ok(agents)
}

/// Asks one profile after the other; the first denial counts.
pub(super) async fn decide(agents: Vec<Agent>, request: Attributes, deadline: Instant) -> Finished {
    let mut notes = Notes::default();
    let mut reads_left = MAX_READS;
    let mut outcome = Outcome::not_applicable("no rule of the user's profiles applies");
    for agent in &agents {
        let judgement = agent.decide(&request, deadline, &mut reads_left).await;
        match judged(&mut notes, &agent.profile.name, judgement) {
            Ok(Outcome::Pass) => outcome = Outcome::Pass,
            Ok(_) => {}
            Err(refused) => {
                outcome = refused;
                break;
            }
        }
    }
    Finished {
        outcome: Ok(outcome),
        notes,
        object: None,
    }
}

/// What follows from what one profile says; an error ends it.
fn judged(notes: &mut Notes, profile: &str, judgement: Judgement) -> Result<Outcome, Outcome> {
    match judgement {
        Judgement::NotApplicable => Ok(Outcome::not_applicable("no rule of the profile applies")),
        Judgement::Pass => Ok(Outcome::Pass),
        Judgement::AlreadyExists => {
            notes.annotate(ANNOTATION, format!("{profile}: object already exists"));
            Ok(Outcome::Pass)
        }
        Judgement::Refuse {
            code,
            message,
            rule,
        } => {
            notes.decided_by(profile);
            notes.annotate(ANNOTATION, format!("{profile}: {rule}"));
            Err(Outcome::Deny(Denial::new(code, reason(code), message)))
        }
        // More is never asked for after the last round.
        Judgement::Needs(_) => Err(undecided(notes, profile, "it needs too many other objects")),
        Judgement::Failed(why) => Err(undecided(notes, profile, &why)),
    }
}

/// No, because it could not be found out; no failure mode lets that pass.
fn undecided(notes: &mut Notes, profile: &str, why: &str) -> Outcome {
    let why = start(why, MAX_WORDS);
    notes.decided_by(profile);
    notes.annotate(ANNOTATION, format!("{profile}: undecided"));
    let message = format!("profile {profile} can't decide: {}", why.escape_debug());
    Outcome::Undecided(Denial::undecided(message))
}

impl Agent {
    /// What its profile says in the end.
    async fn decide(
        &self,
        request: &Attributes,
        deadline: Instant,
        reads_left: &mut usize,
    ) -> Judgement {
        let now = request.context.time.unwrap_or_else(clock::wall);
        let mut read = ObjectsRead::new();
        for _ in 0..MAX_ROUNDS {
            let wanted = match self.judge(request, &read, now) {
                Judgement::Needs(wanted) => wanted,
                decided => return decided,
            };
            for wanted in wanted {
                if read.contains_key(&wanted) {
                    continue;
                }
                let Some(left) = reads_left.checked_sub(1) else {
                    return Judgement::Failed("it needs too many other objects".to_owned());
                };
                *reads_left = left;
                let found = self.read(&wanted, deadline).await;
                read.insert(wanted, found);
            }
        }
        self.judge(request, &read, now)
    }

    /// What its profile says with what was read so far.
    fn judge(&self, request: &Attributes, read: &ObjectsRead, now: SystemTime) -> Judgement {
        let knowledge = Knowledge {
            state: &self.profile.state,
            read,
            can_read: self.profile.reader.is_some(),
        };
        let trees = tree(request.object.as_ref()).and_then(|object| {
            let old_object = tree(request.old_object.as_ref())?;
            Ok((object, old_object, tree(request.options.as_ref())?))
        });
        let (object, old_object, options) = match trees {
            Ok(trees) => trees,
            Err(error) => {
                return Judgement::Refuse {
                    code: 400,
                    message: format!("the object can't be read: {error}"),
                    rule: "admission".to_owned(),
                };
            }
        };
        let request = AdmissionRequest {
            operation: request.operation.as_str(),
            group: &request.resource.group,
            resource: &request.resource.resource,
            subresource: &request.subresource,
            namespace: &request.namespace,
            name: &request.name,
            user: &request.user,
            object: object.filter(|value| !value.is_null()),
            old_object: old_object.filter(|value| !value.is_null()),
            options,
        };
        let profile = self.profile.state.profile();
        profile.admit_agent(&self.subject, &request, &knowledge, now)
    }

    /// Reads one object.
    async fn read(&self, wanted: &Vertex, deadline: Instant) -> Result<Option<Arc<Value>>, String> {
        let kinds = &self.profile.state.profile().kinds;
        let kind = kinds.id(&wanted.kind).and_then(|id| kinds.get(id));
        let (Some(kind), Some(reader)) = (kind, &self.profile.reader) else {
            return Err(format!("{} objects can't be read", wanted.kind));
        };
        let late = || {
            format!(
                "{} {:?} could not be read in time",
                wanted.kind, wanted.name
            )
        };
        if clock::monotonic() >= deadline {
            return Err(late());
        }
        let namespace = if kind.namespaced {
            wanted.namespace.as_str()
        } else {
            ""
        };
        if kind.namespaced && namespace.is_empty() {
            return Ok(None);
        }
        let read = reader.read(kind, namespace, &wanted.name, deadline).await;
        if clock::monotonic() >= deadline {
            return Err(late());
        }
        let named = || format!("{} {:?} could not be read", wanted.kind, wanted.name);
        let read = read.map_err(|why| format!("{}: {why}", named()))?;
        Ok(read.map(Arc::new))
    }
}

/// The tree of a document, if there is one.
fn tree(document: Option<&Document>) -> Result<Option<&Value>, DocumentError> {
    document.map(Document::value).transpose()
}

/// Kubernetes' word for a status.
fn reason(code: u16) -> &'static str {
    match code {
        400 => "BadRequest",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        405 => "MethodNotAllowed",
        406 => "NotAcceptable",
        409 => "Conflict",
        410 => "Gone",
        413 => "RequestEntityTooLarge",
        415 => "UnsupportedMediaType",
        422 => "Invalid",
        429 => "TooManyRequests",
        500 => "InternalError",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "",
    }
}
