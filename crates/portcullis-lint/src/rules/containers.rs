//! `forgotten-containers`: images or security contexts of `containers` are tested, but not those of init containers
//! and ephemeral containers, which run just the same.

use std::ops::Range;

use portcullis_core::Operation;

use super::Context;
use super::suggestions::list;
use crate::finding::Report;
use crate::rule::Rule;
use crate::scope::{Candidate, Scope};
use crate::shape::{Loose, Shape};
use crate::walk::{self, Event, Member, Types};

/// Fields of a container that decide what it may do.
const TESTED: &[&str] = &["image", "securityContext"];

pub(super) fn check(context: &Context<'_>, report: &mut Report) {
    let Some(scope) = context.scope.filter(|scope| scope.is_for_kubernetes()) else {
        return;
    };
    // Types say nothing about what else there is in the pod.
    let events = walk::walk(context.tree, context.scope, Types::Ignored);
    let members = || {
        events.iter().filter_map(|event| match event {
            Event::Member(member) => Some(member),
            Event::Comparison(_) => None,
        })
    };
    let tested = members().find(|member| is_container(&member.base) && is_tested(member));
    let Some((at, tested)) = members().find_map(of_containers).zip(tested) else {
        return;
    };
    let may_be_ephemeral = may_have_ephemeral(scope, &at.1);
    let forgotten: Vec<&str> = [
        ("initContainers", true),
        ("ephemeralContainers", may_be_ephemeral),
    ]
    .into_iter()
    .filter(|(name, matters)| *matters && !mentions(context, name))
    .map(|(name, _)| name)
    .collect();
    if forgotten.is_empty() {
        return;
    }
    let message = format!(
        "`{}` of `containers` is tested, but not that of {}",
        tested.name,
        list(&forgotten)
    );
    let spread: String = forgotten
        .iter()
        .map(|name| format!(", ...(spec.{name} ?? [])"))
        .collect();
    let fix = format!("test all of them: `[...spec.containers{spread}]`");
    report.at(at.0, Rule::ForgottenContainers, message, fix);
}

/// The place of `containers` of a pod, and whether the object may be a pod.
fn of_containers(member: &Member) -> Option<(Range<usize>, Option<Vec<&str>>)> {
    let is_spec = member.base.includes(&Shape::Fields("core.v1.PodSpec"))
        || member.base.includes(&Shape::Loose(Loose::Spec));
    (is_spec && member.name == "containers").then(|| {
        let kinds = member.facts.kinds.as_ref();
        let names = kinds.map(|kinds| kinds.iter().map(Candidate::name).collect());
        (member.at.clone(), names)
    })
}

fn is_container(shape: &Shape) -> bool {
    shape.includes(&Shape::Fields("core.v1.Container"))
        || shape.includes(&Shape::Loose(Loose::Container))
}

fn is_tested(member: &Member) -> bool {
    TESTED.contains(&member.name.as_str())
}

/// Ephemeral containers come by updates of pods; templates of pods can't have them.
fn may_have_ephemeral(scope: &Scope, kinds: &Option<Vec<&str>>) -> bool {
    let may_be_pod = kinds.as_ref().is_none_or(|kinds| kinds.contains(&"Pod"));
    may_be_pod && scope.has_operation(Operation::Update)
}

/// Whether the word stands anywhere in the text, or in one that runs with it.
fn mentions(context: &Context<'_>, name: &str) -> bool {
    let mut others = context.others.iter();
    context.tree.text().contains(name) || others.any(|text| text.contains(name))
}
