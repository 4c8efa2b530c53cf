//! The answer of each plug-in and each policy, read from the trace of a verdict.

use portcullis_core::{
    Beyond, HostCallStep, Kind, PolicyMode, PolicyOutcome, PolicyStep, Step, StepOutcome, Verdict,
};
use portcullis_gate::offline::{Blueprint, Judge, JudgeKind, is_job};

use super::outcome::{JudgeResult, SourcePosition};
use crate::commands::text::plain;

/// One part for each who judges.
pub(super) fn all(
    blueprint: &Blueprint,
    judges: &[Judge],
    kind: &Kind,
    (verdict, beyond): (&Verdict, &Beyond),
) -> Vec<JudgeResult> {
    let name = blueprint.policies_plugin();
    let steps: Vec<&Step> = verdict.trace.iter().chain(&beyond.trace).collect();
    let asked = steps.iter().copied().find(|step| *step.plugin == *name);
    let parts = judges.iter().map(|judge| match judge.kind {
        JudgeKind::Plugin => of_plugin(&judge.name, kind, &steps, verdict),
        JudgeKind::Policy(mode) => of_policy(blueprint, &judge.name, mode, asked, verdict),
        JudgeKind::DefaultAction => of_default(blueprint, &judge.name, asked),
        // Authorizers judge no objects.
        JudgeKind::Authorizer => part(&judge.name, PolicyOutcome::Skip, String::new()),
    });
    let mut parts: Vec<JudgeResult> = parts.collect();
    add_warnings(&mut parts, &verdict.trace, &verdict.warnings);
    add_warnings(&mut parts, &beyond.trace, &beyond.warnings);
    parts
}

/// Warnings of plug-ins: they stand in the order of the steps.
fn add_warnings(parts: &mut [JudgeResult], trace: &[Step], warnings: &[String]) {
    let mut warnings = warnings.iter();
    for step in trace {
        let own: Vec<&str> = warnings
            .by_ref()
            .take(step.warnings)
            .map(String::as_str)
            .collect();
        let by = parts
            .iter_mut()
            .find(|p| *p.name == *step.plugin && step.policies.is_empty());
        if let Some(part) = by.filter(|p| {
            matches!(p.said, PolicyOutcome::Pass | PolicyOutcome::Warn) && !own.is_empty()
        }) {
            if part.said == PolicyOutcome::Warn {
                part.message.push_str("; ");
            }
            part.said = PolicyOutcome::Warn;
            part.message.push_str(&own.join("; "));
        }
    }
}

fn part(name: &str, said: PolicyOutcome, message: String) -> JudgeResult {
    JudgeResult {
        said,
        message,
        ..JudgeResult::new(name)
    }
}

fn detail(step: &Step) -> String {
    step.detail.as_deref().unwrap_or_default().to_owned()
}

/// Why it was not asked.
fn not_asked(verdict: &Verdict) -> String {
    let by = verdict.policy.as_deref().or(verdict.plugin.as_deref());
    let by = by.unwrap_or("another plug-in");
    match verdict.is_undecided() {
        true => format!("not asked: {by} failed"),
        false => format!("not asked: {by} denied it"),
    }
}

/// The two halves of a plug-in as one.
fn of_plugin(name: &str, kind: &Kind, all: &[&Step], verdict: &Verdict) -> JudgeResult {
    let own = all.iter().copied().filter(|s| *s.plugin == *name);
    let steps: Vec<Step> = own.cloned().collect();
    let find = |wanted: fn(StepOutcome) -> bool| steps.iter().find(|s| wanted(s.outcome));
    let (said, message) = if let Some(step) = find(|o| o == StepOutcome::Denied) {
        (PolicyOutcome::Deny, detail(step))
    } else if let Some(step) = find(StepOutcome::is_failure) {
        (PolicyOutcome::Error, detail(step))
    } else if find(|o| o != StepOutcome::Skipped).is_some() {
        (PolicyOutcome::Pass, String::new())
    } else if let Some(step) = steps.first() {
        (PolicyOutcome::Skip, detail(step))
    } else if is_job(kind) {
        (
            PolicyOutcome::Skip,
            "CI jobs are judged by policies alone".to_owned(),
        )
    } else {
        (PolicyOutcome::Skip, not_asked(verdict))
    };
    JudgeResult {
        duration: steps.iter().map(|step| step.duration).sum(),
        steps,
        ..part(name, said, message)
    }
}

fn of_policy(
    blueprint: &Blueprint,
    name: &str,
    mode: PolicyMode,
    asked: Option<&Step>,
    verdict: &Verdict,
) -> JudgeResult {
    let Some(asked) = asked else {
        let message = not_asked(verdict);
        return JudgeResult {
            mode,
            ..part(name, PolicyOutcome::Skip, message)
        };
    };
    let calls = asked.host_calls.iter().filter(|call| call.policy == name);
    let host_calls: Vec<HostCallStep> = calls.cloned().collect();
    let Some(step) = asked.policies.iter().find(|step| step.name == name) else {
        let said = match asked.outcome {
            outcome if outcome.is_failure() => PolicyOutcome::Error,
            _ => PolicyOutcome::Skip,
        };
        return JudgeResult {
            mode,
            host_calls,
            ..part(name, said, detail(asked))
        };
    };
    JudgeResult {
        mode,
        host_calls,
        place: place(blueprint, step),
        duration: step.duration.unwrap_or_default(),
        ..part(name, step.outcome, step.message.clone().unwrap_or_default())
    }
}

fn place(blueprint: &Blueprint, step: &PolicyStep) -> Option<SourcePosition> {
    let line = step.line?;
    let text = blueprint.text_of(step);
    let file = text.and_then(|text| text.path()?.to_str().map(str::to_owned));
    let label = match (&file, &step.source) {
        (Some(file), _) => file.clone(),
        (None, Some(source)) => source.clone(),
        (None, None) => step.name.clone(),
    };
    Some(SourcePosition {
        label,
        file,
        line,
        column: step.column,
        frame: text.and_then(|text| plain::frame(text, step.line, step.column)),
    })
}

/// What no policy allowed is denied.
fn of_default(blueprint: &Blueprint, name: &str, asked: Option<&Step>) -> JudgeResult {
    let (said, message) = match asked.filter(|step| blueprint.is_default_action(step)) {
        Some(step) => (PolicyOutcome::Deny, detail(step)),
        None => (PolicyOutcome::Pass, String::new()),
    };
    JudgeResult {
        is_listed: false,
        ..part(name, said, message)
    }
}
