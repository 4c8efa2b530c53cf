//! The rules, and what runs them.
//!
//! A rule is a file here with `check`, which looks at a [`Context`] and adds to a [`Report`]; its name is in
//! `rule.rs`, and its line in [`CHECKS`].

mod assignments;
mod comparisons;
mod containers;
mod effects;
mod fields;
mod imports;
mod kinds;
mod lookups;
mod matches;
mod null_objects;
mod operations;
mod policy_body;
mod returns;
mod suggestions;
mod unreachable;
mod verdicts;

use std::collections::HashSet;

use portcullis_script::{ScriptFault, Tree, with_tree};

use crate::finding::{Finding, Place, Report};
use crate::scope::Scope;
use crate::subject::{Role, Subject};
use crate::walk::{self, Event};

/// What rules look at.
pub(crate) struct Context<'c> {
    pub(crate) tree: &'c Tree<'c>,
    /// The `match` of a policy; nothing for a module.
    pub(crate) scope: Option<&'c Scope>,
    pub(crate) events: Vec<Event>,
    /// Names that the text binds somewhere.
    pub(crate) bound: HashSet<String>,
    /// Texts that run with this one.
    pub(crate) others: &'c [&'c str],
    /// The kinds that may be looked up, where they are known.
    pub(crate) watched: Option<&'c [String]>,
}

const CHECKS: &[fn(&Context<'_>, &mut Report)] = &[
    matches::check,
    kinds::check,
    operations::check,
    null_objects::check,
    fields::check,
    containers::check,
    comparisons::check,
    assignments::check,
    returns::check,
    effects::check,
    verdicts::check,
    imports::check,
    lookups::check,
    unreachable::check,
];

/// Looks for what can't be meant. Findings are in the order of the text, those in `match` first.
///
/// # Errors
///
/// If the text can't be parsed.
pub fn lint(subject: &Subject<'_>) -> Result<Vec<Finding>, Vec<ScriptFault>> {
    with_tree(subject.text, subject.language, |tree| {
        let scope = match &subject.role {
            Role::Policy(scope) => Some(scope),
            Role::Module => None,
        };
        let context = Context {
            tree,
            scope,
            events: walk::walk(tree, scope, walk::Types::Believed),
            bound: walk::bound_anywhere(tree),
            others: &subject.others,
            watched: subject.watched.as_deref(),
        };
        let mut report = Report::default();
        for check in CHECKS {
            check(&context, &mut report);
        }
        placed(tree, report)
    })
}

fn placed(tree: &Tree<'_>, mut report: Report) -> Vec<Finding> {
    report
        .in_text
        .sort_by_key(|(at, rule, ..)| (at.start, *rule));
    report.in_text.dedup();
    let places = tree.places();
    let in_text = report.in_text.into_iter().map(|(at, rule, message, fix)| {
        let (line, column) = places.at(at.start);
        Finding {
            rule,
            place: Place::Text { line, column },
            message,
            fix,
        }
    });
    report.in_match.into_iter().chain(in_text).collect()
}
