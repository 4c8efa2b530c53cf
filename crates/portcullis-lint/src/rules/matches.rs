//! `unknown-kind` and `impossible-match`: a `match` that no request can fulfil.

use std::collections::BTreeSet;

use portcullis_document::nearest;

use super::Context;
use crate::finding::Report;
use crate::kubernetes::{self, Kind};
use crate::rule::Rule;
use crate::scope::{Pattern, Resource, Scope, resource_of};

/// How the paths of reviews begin.
const PATHS: [&str; 3] = ["/mutate", "/admit", "/validate"];

pub(super) fn check(context: &Context<'_>, report: &mut Report) {
    let Some(scope) = context.scope else {
        return;
    };
    kinds(scope, report);
    resources(scope, report);
    namespaces(scope, report);
    paths(scope, report);
}

fn kinds(scope: &Scope, report: &mut Report) {
    for (index, text) in scope.kinds.iter().flatten().enumerate() {
        let key = format!("kinds[{index}]");
        let pattern = Pattern::new(text);
        let Some(kind) = pattern.kind else {
            continue;
        };
        let is_job = kind == "Job" && scope.is_for_jobs();
        if !scope.is_for_kubernetes() && !is_job {
            let message = format!("no CI job is a `{text}`, and only CI jobs match");
            let fix = "remove `kinds`, or add `kubernetes` to `doors`";
            report.at_match(key, Rule::ImpossibleMatch, message, fix);
        } else if !is_job && pattern.known().next().is_none() && is_built_in(pattern.group) {
            let message = format!("Kubernetes has no kind `{text}`");
            report.at_match(key, Rule::UnknownKind, message, meant(text, &pattern));
        }
    }
}

/// Resources of which no group and version that is listed has any: policies of jsPolicy combine each with each.
fn resources(scope: &Scope, report: &mut Report) {
    if !scope.is_for_kubernetes() || scope.is_for_jobs() {
        return;
    }
    let all = || {
        let written = scope.resources.iter().flatten();
        written.map(|text| (text, Resource::new(text)))
    };
    let is_known = |name| {
        let mut same = all().filter(|(_, one)| one.name == Some(name));
        same.any(|(_, one)| !is_built_in(one.group) || one.owners().next().is_some())
    };
    let mut reported = BTreeSet::new();
    for (index, (text, resource)) in all().enumerate() {
        let Some(name) = resource.name else {
            continue;
        };
        if !is_known(name) && reported.insert(name) {
            let message = format!("Kubernetes has no resource `{text}`");
            let (key, fix) = (format!("resources[{index}]"), meant_resource(&resource));
            report.at_match(key, Rule::UnknownKind, message, fix);
        }
    }
}

fn meant_resource(resource: &Resource<'_>) -> String {
    let name = resource.name.unwrap_or_default();
    let all = kubernetes::kinds().iter();
    let named: Vec<_> = all.map(|kind| (kind, resource_of(kind))).collect();
    let mut same = named.iter().filter(|(_, known)| known == name);
    let written = |kind: &Kind| match kind.group {
        "" => resource_of(kind),
        group => format!("{}.{group}", resource_of(kind)),
    };
    if let Some((kind, _)) = same.next() {
        return format!("did you mean `{}`?", written(kind));
    }
    let singular = named
        .iter()
        .find(|(kind, _)| kind.name.eq_ignore_ascii_case(name));
    let near = || nearest(name, named.iter().map(|(_, known)| known.as_str()));
    let near = match singular {
        Some((kind, _)) => Some(resource_of(kind)),
        None => near(),
    };
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("for a custom resource write its group: `{name}.example.org`"),
    }
}

/// Whether Kubernetes itself would have to have the kind: groups of others have a dot, and none of Kubernetes' names.
fn is_built_in(group: Option<&str>) -> bool {
    match group {
        None => true,
        Some(group) => !group.contains('.') || kubernetes::has_group(group),
    }
}

fn meant(text: &str, pattern: &Pattern<'_>) -> String {
    let (all, kind) = (kubernetes::kinds(), pattern.kind.unwrap_or_default());
    let same: Vec<_> = all.iter().filter(|known| known.name == kind).collect();
    let in_version = same.iter().find(|known| {
        let group = pattern.group.is_none_or(|group| group == known.group);
        group && pattern.version.is_some()
    });
    if let Some(known) = in_version {
        return format!("did you mean `{}`?", known.written());
    }
    if let Some(known) = same.first() {
        return format!("did you mean `{}`?", known.without_version());
    }
    let in_group = all
        .iter()
        .filter(|known| pattern.group.is_none_or(|group| group == known.group));
    let near = nearest(kind, in_group.map(|known| known.name))
        .or_else(|| nearest(kind, all.iter().map(|known| known.name)));
    let near = near.and_then(|near| all.iter().find(|known| known.name == near));
    match near {
        Some(known) => format!("did you mean `{}`?", known.without_version()),
        None => format!(
            "for a custom kind write its group: `example.org/{}`",
            last(text)
        ),
    }
}

fn last(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}

fn namespaces(scope: &Scope, report: &mut Report) {
    if scope.selects_namespaces && !scope.is_for_kubernetes() {
        let message = "CI jobs are in no namespace with labels, and only CI jobs match";
        let fix = "remove `namespaceSelector`, or add `kubernetes` to `doors`";
        let (key, rule) = ("namespaceSelector".to_owned(), Rule::ImpossibleMatch);
        report.at_match(key, rule, message.to_owned(), fix);
    }
    for (index, pattern) in scope.namespaces.iter().flatten().enumerate() {
        // The namespaces of CI jobs are paths of projects.
        if scope.is_for_jobs() {
            break;
        }
        let key = format!("namespaces[{index}]");
        let is_odd =
            |c: &char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || "-*?".contains(*c));
        if let Some(odd) = pattern.chars().find(is_odd) {
            let message =
                format!("no namespace has `{odd}` in its name, so `{pattern}` never matches");
            let lower = pattern.to_lowercase();
            let fix = match lower.chars().find(is_odd) {
                None => format!("did you mean `{lower}`?"),
                Some(_) => "names have lower-case letters, digits and `-`".to_owned(),
            };
            report.at_match(key, Rule::ImpossibleMatch, message, fix);
        }
    }
    let Some(written) = scope.namespaces.as_ref().and(scope.kinds.as_ref()) else {
        return;
    };
    if scope.is_for_jobs() || is_for_the_whole_cluster(scope) {
        return;
    }
    // A pattern of stars fits the empty name too; a Namespace is in the namespace of its own name.
    let matches_empty = |pattern: &String| pattern.chars().all(|c| c == '*');
    if scope.namespaces.iter().flatten().any(matches_empty) {
        return;
    }
    for (index, text) in written.iter().enumerate() {
        let mut known = Pattern::new(text).known().peekable();
        let is_cluster = known.peek().is_some()
            && known.all(|kind| !kind.is_namespaced && kind.name != "Namespace");
        if is_cluster {
            let message = format!(
                "objects of the kind `{text}` are in no namespace, so `namespaces` excludes them"
            );
            let fix = "remove `namespaces`, or the kind";
            report.at_match(
                format!("kinds[{index}]"),
                Rule::ImpossibleMatch,
                message,
                fix,
            );
        }
    }
}

/// Whether some kind is `*`, so that the others say nothing.
fn is_for_the_whole_cluster(scope: &Scope) -> bool {
    let mut kinds = scope.kinds.iter().flatten();
    kinds.any(|text| Pattern::new(text).kind.is_none())
}

fn paths(scope: &Scope, report: &mut Report) {
    for (index, pattern) in scope.paths.iter().flatten().enumerate() {
        let key = format!("paths[{index}]");
        let begin = pattern.split(['*', '?']).next().unwrap_or_default();
        if !begin.is_empty() && !begin.starts_with('/') {
            let message = format!("every path begins with `/`, so `{pattern}` never matches");
            let fix = format!("did you mean `/{pattern}`?");
            report.at_match(key, Rule::ImpossibleMatch, message, fix);
        } else if pattern.contains('#') {
            let message = format!("no path has a `#`, so `{pattern}` never matches");
            report.at_match(key, Rule::ImpossibleMatch, message, "remove it");
        } else if scope.has_own_paths && !scope.is_for_jobs() && !may_be_review(begin) {
            let message = format!("reviews have other paths, so `{pattern}` never matches");
            let fix = format!("begin with {}", super::suggestions::list(&PATHS));
            report.at_match(key, Rule::ImpossibleMatch, message, fix);
        }
    }
}

/// Whether a path of reviews may begin so.
fn may_be_review(begin: &str) -> bool {
    PATHS.iter().any(|path| match begin.strip_prefix(path) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => path.starts_with(begin),
    })
}
