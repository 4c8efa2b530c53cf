//! Judging: every object becomes a review, and every review a judgement.

use portcullis_core::{Step, StepOutcome, UserInfo, Verdict};
use portcullis_server::config::{Fault, Source};
use portcullis_server::offline::{Item, Judged, Manifest, Offline, Question, review_text};

use super::input::Inputs;
use super::outcome::{Evaluation, Judgement, Outcome, Part, Said, Unread};
use crate::cli::Eval;

/// Judges all objects.
pub(super) fn all(offline: &Offline, eval: &Eval, inputs: Inputs) -> Evaluation {
    let plugins: Vec<String> = offline.plugins().map(str::to_owned).collect();
    let judge = Judge {
        offline,
        eval,
        user: user(eval),
        olds: &inputs.olds,
        is_pair: inputs.items.len() == 1 && inputs.olds.len() == 1,
        plugins: &plugins,
    };
    let numbered = inputs.items.into_iter().enumerate();
    let outcomes = numbered.map(|(number, (file, item))| judge.item(number, file, item));
    let outcomes = outcomes.collect();
    Evaluation {
        outcomes,
        operation: eval.operation,
        user: eval.user.clone(),
        plugins,
    }
}

/// Who asks, with the groups an API server would add.
fn user(eval: &Eval) -> UserInfo {
    let mut groups = eval.groups.clone();
    let account = eval.user.strip_prefix("system:serviceaccount:");
    if let (Some((namespace, _)), true) =
        (account.and_then(|a| a.split_once(':')), groups.is_empty())
    {
        groups.push("system:serviceaccounts".to_owned());
        groups.push(format!("system:serviceaccounts:{namespace}"));
    }
    let everybody = "system:authenticated".to_owned();
    if eval.user != "system:anonymous" && !groups.contains(&everybody) {
        groups.push(everybody);
    }
    UserInfo {
        username: eval.user.clone(),
        groups,
        ..UserInfo::default()
    }
}

struct Judge<'a> {
    offline: &'a Offline,
    eval: &'a Eval,
    user: UserInfo,
    olds: &'a [Item],
    /// There is one object and one old one: they belong together, whatever their names.
    is_pair: bool,
    plugins: &'a [String],
}

impl Judge<'_> {
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
        let Judged { request, verdict } = judged;
        let tree = request.object.as_ref();
        let original = tree.and_then(|d| d.original().ok()).cloned();
        let object = if verdict.is_allowed() {
            tree.and_then(|d| d.value().ok()).cloned()
        } else {
            original.clone()
        };
        Judgement {
            file,
            index,
            line,
            manifest,
            object,
            original,
            parts: parts(self.plugins, &verdict),
            verdict,
        }
    }
}

/// What each plug-in said: its two halves as one.
fn parts(plugins: &[String], verdict: &Verdict) -> Vec<Part> {
    let mut parts: Vec<Part> = plugins.iter().map(|name| part(name, verdict)).collect();
    let mut warnings = verdict.warnings.iter();
    for step in &verdict.trace {
        let own: Vec<&str> = warnings
            .by_ref()
            .take(step.warnings)
            .map(String::as_str)
            .collect();
        let by = parts.iter_mut().find(|p| *p.name == *step.plugin);
        if let Some(part) =
            by.filter(|p| matches!(p.said, Said::Pass | Said::Warn) && !own.is_empty())
        {
            if part.said == Said::Warn {
                part.message.push_str("; ");
            }
            part.said = Said::Warn;
            part.message.push_str(&own.join("; "));
        }
    }
    parts
}

fn part(name: &str, verdict: &Verdict) -> Part {
    let own = verdict.trace.iter().filter(|s| *s.plugin == *name);
    let steps: Vec<Step> = own.cloned().collect();
    let find = |wanted: fn(StepOutcome) -> bool| steps.iter().find(|s| wanted(s.outcome));
    let detail = |step: &Step| step.detail.as_deref().unwrap_or_default().to_owned();
    let (said, message) = if let Some(step) = find(|o| o == StepOutcome::Denied) {
        (Said::Deny, detail(step))
    } else if let Some(step) = find(StepOutcome::is_failure) {
        (Said::Error, detail(step))
    } else if find(|o| o != StepOutcome::Skipped).is_some() {
        (Said::Pass, String::new())
    } else if let Some(step) = steps.first() {
        (Said::Skip, detail(step))
    } else {
        let by = verdict.plugin.as_deref().unwrap_or("another plug-in");
        (Said::Skip, format!("not asked: {by} refused first"))
    };
    Part {
        name: name.to_owned(),
        said,
        message,
        steps,
    }
}
