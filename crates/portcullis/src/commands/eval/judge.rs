//! Judging: every object becomes a review, and every review a judgement.

use portcullis_core::UserInfo;
use portcullis_server::config::{Fault, Source};
use portcullis_server::offline::{
    Blueprint, Item, Judge, Judged, Manifest, Offline, Question, asker, review_text,
};

use super::input::Inputs;
use super::outcome::{Evaluation, Judgement, Outcome, Unread};
use super::part;
use crate::cli::Eval;

/// Judges all objects.
pub(super) fn all(
    blueprint: &Blueprint,
    offline: &Offline,
    eval: &Eval,
    inputs: Inputs,
) -> Evaluation {
    let judges = blueprint.judges();
    let bench = Bench {
        blueprint,
        offline,
        eval,
        user: asker(&eval.user, &eval.groups),
        olds: &inputs.olds,
        is_pair: inputs.items.len() == 1 && inputs.olds.len() == 1,
        judges: &judges,
    };
    let numbered = inputs.items.into_iter().enumerate();
    let outcomes = numbered.map(|(number, (file, item))| bench.item(number, file, item));
    let outcomes = outcomes.collect();
    Evaluation {
        outcomes,
        operation: eval.operation,
        user: eval.user.clone(),
        judges,
    }
}

struct Bench<'a> {
    blueprint: &'a Blueprint,
    offline: &'a Offline,
    eval: &'a Eval,
    user: UserInfo,
    olds: &'a [Item],
    /// There is one object and one old one: they belong together, whatever their names.
    is_pair: bool,
    judges: &'a [Judge],
}

impl Bench<'_> {
    fn item(&self, number: usize, file: String, item: Item) -> Outcome {
        let Item {
            index,
            line,
            manifest,
        } = item;
        match manifest.and_then(|m| self.judge(number, &file, index, m)) {
            Ok((manifest, judged)) => Outcome::Judged(Box::new(self.judgement(
                (file, index, line),
                manifest,
                judged,
            ))),
            Err(fault) => Outcome::Unread(Box::new(Unread {
                file,
                index,
                line,
                fault,
            })),
        }
    }

    fn judge(
        &self,
        number: usize,
        file: &str,
        index: usize,
        manifest: Manifest,
    ) -> Result<(Manifest, Judged), Box<Fault>> {
        let fault = |message: String| {
            let source = Source::named(file);
            Box::new(source.fault(None, format!("document {index}"), message))
        };
        let mut olds = self.olds.iter().filter_map(|i| i.manifest.as_ref().ok());
        let old = olds.find(|old| self.is_pair || old.is_same_object(&manifest));
        if let (None, Some(path)) = (old, &self.eval.old) {
            let (kind, name) = (&manifest.kind.kind, &manifest.name);
            return Err(fault(format!(
                "{} holds no {kind} {name:?} of the namespace {:?}: there is nothing to update",
                path.display(),
                manifest.namespace,
            )));
        }
        let question = Question {
            operation: self.eval.operation,
            old,
            user: &self.user,
            dry_run: self.eval.dry_run,
            uid: &format!("{number:08x}-0000-4000-8000-000000000000"),
        };
        let judged = self.offline.judge(&review_text(&manifest, question));
        judged
            .map(|judged| (manifest, judged))
            .map_err(|wrong| fault(wrong.message))
    }

    fn judgement(
        &self,
        (file, index, line): (String, usize, u64),
        manifest: Manifest,
        judged: Judged,
    ) -> Judgement {
        let Judged {
            request,
            verdict,
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
        let asked = verdict.trace.iter().find(|step| *step.plugin == *policies);
        Judgement {
            file,
            index,
            line,
            object,
            original,
            parts: part::all(self.blueprint, self.judges, &manifest, &verdict),
            manifest,
            written,
            asked: asked.cloned(),
            verdict,
        }
    }
}
