//! `excluded-kind` and `unknown-kind` in code: tests for a kind that can't come.

use std::collections::BTreeSet;

use portcullis_document::nearest;

use super::Context;
use super::suggestions::list;
use crate::finding::Report;
use crate::kubernetes;
use crate::rule::Rule;
use crate::scope::{Candidate, Scope};
use crate::shape::Shape;
use crate::walk::{Comparison, Event};

pub(super) fn check(context: &Context<'_>, report: &mut Report) {
    let candidates = context.scope.and_then(Scope::candidates);
    let possible: Option<BTreeSet<&str>> = candidates
        .as_ref()
        .map(|all| all.iter().map(Candidate::name).collect());
    for event in &context.events {
        let Event::Comparison(comparison) = event else {
            continue;
        };
        for (at, kind) in kinds_of(comparison) {
            match &possible {
                Some(possible) if possible.contains(kind) => {}
                Some(possible) => {
                    let possible: Vec<&str> = possible.iter().copied().collect();
                    let key = match context.scope {
                        Some(scope) if scope.kinds.is_none() => "match.resources",
                        _ => "match.kinds",
                    };
                    let message = format!("`{key}` excludes `{kind}`, so this never holds");
                    let fix = match nearest(kind, possible.iter().copied()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!(
                            "add `{kind}` to `{key}`, which has {}, or remove the test",
                            list(&possible)
                        ),
                    };
                    report.at(at, Rule::ExcludedKind, message, fix);
                }
                None => misspelt(at, kind, report),
            }
        }
    }
}

/// A kind with the letters of one that Kubernetes has, but in another case or as a resource.
fn misspelt(at: std::ops::Range<usize>, kind: &str, report: &mut Report) {
    let all = kubernetes::kinds();
    if all.iter().any(|known| known.name == kind) {
        return;
    }
    let lower = kind.to_lowercase();
    let meant = all.iter().map(|known| known.name).find(|known| {
        let known = known.to_lowercase();
        lower == known || lower == format!("{known}s") || lower == format!("{known}es")
    });
    if let Some(meant) = meant {
        let message = format!("no kind is named `{kind}`, so this never holds");
        report.at(
            at,
            Rule::UnknownKind,
            message,
            format!("did you mean `{meant}`?"),
        );
    }
}

/// The kinds that a comparison names, with their places.
fn kinds_of(comparison: &Comparison) -> Vec<(std::ops::Range<usize>, &str)> {
    let sides = [
        (&comparison.left, &comparison.right),
        (&comparison.right, &comparison.left),
    ];
    let named = sides
        .into_iter()
        .filter(|(value, _)| value.shape == Shape::KindName);
    let texts = named.filter_map(|(_, other)| Some((other.at.clone(), other.text.as_deref()?)));
    texts.collect()
}
