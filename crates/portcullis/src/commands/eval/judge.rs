//! Judging: every object becomes a review, and every review a judgement.

use portcullis_core::{AuthorizerChain, Kind, UserInfo};
use portcullis_document::{Fault, Source};
use portcullis_gate::offline::{
    self, Blueprint, Content, Item, Judge, JudgeKind, Judged, Manifest, Offline, ReviewRequest,
    Sent, asker, review_text,
};
use serde_json::Value;

use super::Eval;
use super::input::{Input, Inputs};
use super::outcome::{DocumentPosition, Evaluation, Judgement, Outcome, Ruling, Unread};
use super::{access, judges};
use crate::commands::text::plain::printable;

/// Judges everything.
pub(super) fn all(
    blueprint: &Blueprint,
    offline: &Offline,
    authorizers: Option<&AuthorizerChain>,
    eval: &Eval,
    inputs: Inputs,
) -> Evaluation {
    let judges = blueprint.judges();
    let request = &eval.request;
    let bench = Bench {
        blueprint,
        offline,
        authorizers,
        eval,
        user: asker(&request.user, &request.groups),
        sent: Sent {
            path: request.path.clone(),
            headers: request.headers.clone(),
            caller: blueprint.own_caller(),
        },
        olds: &inputs.olds,
        is_pair: inputs.items.len() == 1 && inputs.olds.len() == 1,
        judges: &judges,
    };
    let numbered = inputs.items.into_iter().enumerate();
    let outcomes = numbered.map(|(number, input)| bench.input(number, input));
    let outcomes = outcomes.collect();
    let authorizers = authorizers.iter().flat_map(|chain| chain.names());
    let authorizers = authorizers.map(|name| Judge::new(name, JudgeKind::Authorizer));
    let authorizers: Vec<Judge> = authorizers.collect();
    Evaluation {
        outcomes,
        judges: judges.into_iter().chain(authorizers).collect(),
        inputs: eval
            .inputs()
            .map(|path| path.display().to_string())
            .collect(),
    }
}

struct Bench<'a> {
    blueprint: &'a Blueprint,
    offline: &'a Offline,
    authorizers: Option<&'a AuthorizerChain>,
    eval: &'a Eval,
    user: UserInfo,
    /// How reviews are sent, as policies see it.
    sent: Sent,
    olds: &'a [Manifest],
    /// There is one object and one old one: they belong together, whatever their names.
    is_pair: bool,
    judges: &'a [Judge],
}

/// What an object is called.
struct Named {
    kind: Kind,
    namespace: String,
    name: String,
}

impl Bench<'_> {
    fn input(&self, number: usize, input: Input) -> Outcome {
        let (file, item) = match input {
            Input::Document(file, item) => (file, item),
            Input::File(file, fault) => {
                let (index, line) = (0, 1);
                return Outcome::Unread(Box::new(Unread {
                    spot: DocumentPosition { file, index, line },
                    is_file: true,
                    fault,
                }));
            }
        };
        let Item {
            index,
            line,
            content,
        } = item;
        let spot = DocumentPosition { file, index, line };
        match content.and_then(|content| self.content(number, &spot, content)) {
            Ok(judgement) => Outcome::Judged(Box::new(judgement)),
            Err(fault) => Outcome::Unread(Box::new(Unread {
                spot,
                is_file: false,
                fault,
            })),
        }
    }

    fn content(
        &self,
        number: usize,
        spot: &DocumentPosition,
        content: Content,
    ) -> Result<Judgement, Box<Fault>> {
        match content {
            Content::Object(manifest) => {
                let judged = self.object(number, spot, &manifest)?;
                let named = Named {
                    kind: manifest.kind,
                    namespace: manifest.namespace,
                    name: manifest.name,
                };
                Ok(self.judgement(spot, named, judged))
            }
            Content::Admission(review) => {
                let judged = self.offline.judge_sent(&review.text, &self.sent);
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
                let chain = self.authorizers.cloned().unwrap_or_default();
                let judged = offline::judge_access(&chain, &review.text);
                let (access, verdict) =
                    judged.map_err(|wrong| Box::new(review.fault(spot.index, wrong)))?;
                Ok(access::judgement(spot, &chain, &access, &verdict))
            }
        }
    }

    fn object(
        &self,
        number: usize,
        spot: &DocumentPosition,
        manifest: &Manifest,
    ) -> Result<Judged, Box<Fault>> {
        let DocumentPosition { file, index, .. } = spot;
        let fault = |message: String| {
            let source = Source::named(file);
            Box::new(source.fault(None, format!("document {index}"), message))
        };
        let request = &self.eval.request;
        let mut olds = self.olds.iter();
        let old = olds.find(|old| self.is_pair || old.is_same_object(manifest));
        if let (None, Some(path)) = (old, &request.old) {
            let (kind, name) = (&manifest.kind.kind, &manifest.name);
            return Err(fault(format!(
                "{} has no {kind} {name:?} in namespace {:?}: there is nothing to update",
                path.display(),
                manifest.namespace,
            )));
        }
        let question = ReviewRequest {
            operation: request.operation,
            old,
            user: &self.user,
            dry_run: request.dry_run,
            uid: &format!("{number:08x}-0000-4000-8000-000000000000"),
        };
        let review = review_text(manifest, question);
        let judged = self.offline.judge_sent(&review, &self.sent);
        judged.map_err(|wrong| fault(wrong.message))
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
                self.judges,
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
