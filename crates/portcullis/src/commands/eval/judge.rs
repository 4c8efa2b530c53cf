//! Judging: every object becomes a review, and every review a judgement.

use std::sync::{Arc, OnceLock};

use portcullis_core::{AuthorizerChain, Kind, UserInfo};
use portcullis_document::{Fault, Faults, Source};
use portcullis_gate::offline::{
    self, Blueprint, Content, Item, Judge, JudgeKind, Judged, Manifest, Offline, ReviewRequest,
    Sent, asker, review_text,
};
use serde_json::Value;

use super::Eval;
use super::input::{Input, Olds};
use super::outcome::{DocumentPosition, Judgement, Outcome, Ruling, Unread, UnreadPart};
use super::{access, judges};
use crate::commands::text::plain::printable;

/// Why access can't be judged without a configuration.
const NO_CONFIGURATION: &str =
    "authorizers decide it, not policies or plug-ins: give --config FILE with `authorization`";

/// The user, unless the command line or a CI job names one.
const USER: &str = "portcullis-eval";

/// Something to judge.
#[derive(Debug)]
pub(super) struct Work {
    /// Its number among all, from 0.
    pub(super) number: usize,
    /// There is nothing else.
    pub(super) is_alone: bool,
    pub(super) input: Input,
}

/// What all judging needs. Chains are passed in, since each may judge only one request at a time.
pub(super) struct Bench<'a> {
    blueprint: &'a Blueprint,
    eval: &'a Eval,
    /// Whether there is a configuration file.
    has_file: bool,
    /// Built for the first review of access.
    authorizers: OnceLock<Result<AuthorizerChain, Faults>>,
    user: UserInfo,
    /// How reviews are sent, as policies see it.
    sent: Sent,
    olds: Olds,
    judges: Vec<Judge>,
}

/// What an object is called.
struct Named {
    kind: Kind,
    namespace: String,
    name: String,
}

impl<'a> Bench<'a> {
    /// For what the command line asks.
    ///
    /// # Errors
    ///
    /// When the objects before an update can't be read.
    pub(super) fn new(
        blueprint: &'a Blueprint,
        eval: &'a Eval,
        has_file: bool,
    ) -> Result<Self, Box<Fault>> {
        let request = &eval.request;
        Ok(Self {
            blueprint,
            eval,
            has_file,
            authorizers: OnceLock::new(),
            user: asker(request.user.as_deref().unwrap_or(USER), &request.groups),
            sent: Sent {
                path: request.path.clone(),
                headers: request.headers.clone(),
                caller: blueprint.own_caller(),
            },
            olds: Olds::read(eval)?,
            judges: blueprint.judges(),
        })
    }

    /// Who judges objects, in order.
    pub(super) fn judges(&self) -> &[Judge] {
        &self.judges
    }

    /// The authorizers, if they were asked for.
    pub(super) fn authorizers(&self) -> Vec<Judge> {
        let chain = self.authorizers.get().and_then(|chain| chain.as_ref().ok());
        let names = chain.iter().flat_map(|chain| chain.names());
        let authorizers = names.map(|name| Judge::new(name, JudgeKind::Authorizer));
        authorizers.collect()
    }

    /// Whether there is a configuration, which could have authorizers.
    pub(super) fn has_configuration(&self) -> bool {
        self.has_file
    }

    /// Whether there is just one object before an update.
    pub(super) fn has_one_old(&self) -> bool {
        self.olds.only().is_some()
    }

    /// What becomes of an input if there is no chain to judge it.
    pub(super) fn not_judged(&self, work: Work, why: &str) -> Outcome {
        let (file, item) = match work.input {
            Input::Document(file, item) => (file, item),
            Input::File(file, fault) => return unread_file(file, fault),
        };
        let (index, line) = (item.index, item.line);
        let spot = DocumentPosition { file, index, line };
        let fault = item.content.err();
        let fault = fault.unwrap_or_else(|| self::fault(&spot, why.to_owned()));
        unread(spot, UnreadPart::Document, fault)
    }

    /// Judges one input by a chain.
    pub(super) fn judge(&self, offline: &Offline, work: Work) -> Outcome {
        let (file, item) = match work.input {
            Input::Document(file, item) => (file, item),
            Input::File(file, fault) => return unread_file(file, fault),
        };
        let Item {
            index,
            line,
            content,
            ..
        } = item;
        let spot = DocumentPosition { file, index, line };
        let place = (work.number, work.is_alone);
        if let Ok(Content::Access(_)) = &content
            && let Err(fault) = self.chain(&spot)
        {
            return unread(spot, UnreadPart::Access, fault);
        }
        let judged = content.and_then(|content| self.content(offline, place, &spot, content));
        match judged {
            Ok(judgement) => Outcome::Judged(Box::new(judgement)),
            Err(fault) => unread(spot, UnreadPart::Document, fault),
        }
    }

    fn content(
        &self,
        offline: &Offline,
        place: (usize, bool),
        spot: &DocumentPosition,
        content: Content,
    ) -> Result<Judgement, Box<Fault>> {
        match content {
            Content::Object(manifest) => {
                let judged = self.object(offline, place, spot, &manifest)?;
                let named = Named {
                    kind: manifest.kind,
                    namespace: manifest.namespace,
                    name: manifest.name,
                };
                Ok(self.judgement(spot, named, judged))
            }
            Content::Admission(review) => {
                let judged = offline.judge_sent(&review.text, &self.sent);
                let judged = judged.map_err(|wrong| Box::new(review.fault(spot.index, wrong)))?;
                let request = &judged.request;
                let named = Named {
                    kind: request.kind.clone(),
                    namespace: request.namespace.clone(),
                    name: request.name.clone(),
                };
                Ok(self.judgement(spot, named, judged))
            }
            Content::Access(review) => {
                let chain = self.chain(spot)?;
                let judged = offline::judge_access(chain, &review.text);
                let (access, verdict) =
                    judged.map_err(|wrong| Box::new(review.fault(spot.index, wrong)))?;
                Ok(access::judgement(spot, chain, &access, &verdict))
            }
        }
    }

    /// The authorizers, which the first review of access builds.
    fn chain(&self, spot: &DocumentPosition) -> Result<&AuthorizerChain, Box<Fault>> {
        let wrong = |why: &str| {
            let message = format!("the SubjectAccessReview is not evaluated: {why}");
            fault(spot, message)
        };
        if !self.has_file {
            return Err(wrong(NO_CONFIGURATION));
        }
        let name = self.eval.chain.as_deref();
        let build = || self.blueprint.authorizers(name);
        let chain = self.authorizers.get_or_init(build);
        chain
            .as_ref()
            .map_err(|faults| wrong(&faults.on_one_line()))
    }

    fn object(
        &self,
        offline: &Offline,
        (number, is_alone): (usize, bool),
        spot: &DocumentPosition,
        manifest: &Manifest,
    ) -> Result<Judged, Box<Fault>> {
        let request = &self.eval.request;
        // The only object and the only old one belong together, whatever their names.
        let pair = self.olds.only().filter(|_| is_alone);
        let old = pair.or_else(|| self.olds.of(manifest));
        if let (None, Some(path)) = (old, &request.old) {
            let (kind, name) = (&manifest.kind.kind, &manifest.name);
            let message = format!(
                "{} has no {kind} {name:?} in namespace {:?}: there is nothing to update",
                path.display(),
                manifest.namespace,
            );
            return Err(fault(spot, message));
        }
        let own = match request.user {
            None => offline::user_of_job(manifest, &request.groups),
            Some(_) => None,
        };
        let question = ReviewRequest {
            operation: request.operation,
            old,
            user: own.as_ref().unwrap_or(&self.user),
            dry_run: request.dry_run,
            uid: &format!("{number:08x}-0000-4000-8000-000000000000"),
        };
        let review = review_text(manifest, question);
        let judged = offline.judge_sent(&review, &self.sent);
        judged.map_err(|wrong| fault(spot, wrong.message))
    }

    fn judgement(&self, spot: &DocumentPosition, named: Named, judged: Judged) -> Judgement {
        let Judged {
            request,
            verdict,
            beyond,
            written,
            ..
        } = judged;
        let tree = request.object.as_ref();
        let original = tree.and_then(|d| d.original().ok()).cloned();
        let object = if verdict.is_allowed() {
            tree.and_then(|d| d.value().ok()).cloned()
        } else {
            original.clone()
        };
        let policies = self.blueprint.policies_plugin();
        let mut steps = verdict.trace.iter().chain(&beyond.trace);
        let asked = steps.find(|step| *step.plugin == *policies);
        let subject = original
            .as_ref()
            .or(request.old_object.as_ref().and_then(|d| d.original().ok()));
        Judgement {
            title: title(&named, subject),
            asked: asked.cloned(),
            parts: judges::all(
                self.blueprint,
                &self.judges,
                &named.kind,
                (&verdict, &beyond),
            ),
            action: format!("{} by {}", request.operation, request.user.username),
            kind: named.kind.kind,
            namespace: named.namespace,
            name: named.name,
            object,
            original,
            written,
            ruling: Ruling::of(verdict),
            spot: spot.clone(),
        }
    }
}

/// A file that can't be read at all.
fn unread_file(file: Arc<str>, fault: Box<Fault>) -> Outcome {
    let (index, line) = (0, 1);
    let spot = DocumentPosition { file, index, line };
    unread(spot, UnreadPart::File, fault)
}

/// What can't be judged.
fn unread(spot: DocumentPosition, part: UnreadPart, fault: Box<Fault>) -> Outcome {
    Outcome::Unread(Box::new(Unread { spot, part, fault }))
}

/// What is wrong with a document as a whole.
fn fault(spot: &DocumentPosition, message: String) -> Box<Fault> {
    let DocumentPosition { file, index, .. } = spot;
    let source = Source::named(&**file);
    Box::new(source.fault(None, format!("document {index}"), message))
}

/// `Pod default/web`: what an object is called in tables and reports.
fn title(named: &Named, object: Option<&Value>) -> String {
    let metadata = object.and_then(|object| object.get("metadata"));
    let generated = metadata.and_then(|m| m.get("generateName")?.as_str());
    let name = match (named.name.as_str(), generated) {
        ("", Some(prefix)) => format!("{prefix}*"),
        ("", None) => "(no name)".to_owned(),
        (name, _) => name.to_owned(),
    };
    let slash = if named.namespace.is_empty() { "" } else { "/" };
    let title = format!("{} {}{slash}{name}", named.kind.kind, named.namespace);
    printable(&title).into_owned()
}
