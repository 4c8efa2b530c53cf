//! After any operations, both databases answer like a list in memory.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use portcullis_core::Door;
use portcullis_record::{Answer, Summary};
use portcullis_store::{Entry, Filter, Mark, Page, Retention, Store};
use proptest::prelude::*;

use crate::place::Place;
use crate::records::{at, id, line, listed, summary};

/// Something done to a store.
#[derive(Debug, Clone)]
enum Operation {
    Append(Vec<Summary>),
    List(Filter, usize),
    Get(String),
    Follow(Filter, usize),
    Scan(Filter),
    Prune(u64),
    Consolidate,
    Reopen,
}

/// A simple model of a store.
#[derive(Default)]
struct Model {
    /// In the order stored, with the number of each.
    rows: Vec<(u64, Summary)>,
    next: u64,
    mark: u64,
}

impl Model {
    fn append(&mut self, batch: &[Summary]) {
        for summary in batch {
            let known = self.rows.iter().any(|(_, known)| known.id == summary.id);
            if !known {
                self.next += 1;
                self.rows.push((self.next, summary.clone()));
            }
        }
    }

    fn matching(&self, filter: &Filter) -> Vec<Summary> {
        let rows = self.rows.iter().map(|(_, summary)| summary);
        rows.filter(|summary| matches(filter, summary))
            .cloned()
            .collect()
    }

    fn newest_first(&self, filter: &Filter) -> Vec<Summary> {
        let sorted: BTreeMap<String, Summary> = self
            .matching(filter)
            .into_iter()
            .map(|summary| (summary.id.clone(), summary))
            .collect();
        sorted.into_values().rev().collect()
    }
}

/// Kinds are the same in any case, and a resource means its kind.
fn is_kind(wanted: &str, own: &str) -> bool {
    let (wanted, own) = (wanted.to_ascii_lowercase(), own.to_ascii_lowercase());
    let is_resource = |(ending, of_kind): (&str, &str)| {
        let stem = wanted.strip_suffix(ending).filter(|stem| !stem.is_empty());
        stem.is_some_and(|stem| own == format!("{stem}{of_kind}"))
    };
    wanted == own
        || [("ies", "y"), ("es", ""), ("s", "")]
            .into_iter()
            .any(is_resource)
}

fn matches(filter: &Filter, summary: &Summary) -> bool {
    let is = |wanted: &Option<String>, text: &String| wanted.as_ref().is_none_or(|w| w == text);
    let policy = filter.policy.as_ref().is_none_or(|policy| {
        summary.plugin.as_ref() == Some(policy)
            || summary.policy.as_ref() == Some(policy)
            || summary.concerned.contains(policy)
    });
    filter.door.is_none_or(|door| door == summary.door)
        && filter
            .verdict
            .is_none_or(|verdict| verdict == summary.verdict)
        && is(&filter.user, &summary.user)
        && filter
            .kind
            .as_ref()
            .is_none_or(|kind| is_kind(kind, &summary.kind))
        && is(&filter.namespace, &summary.namespace)
        && policy
        && filter.since.is_none_or(|since| time(summary) >= since)
        && filter.until.is_none_or(|until| time(summary) < until)
}

fn time(summary: &Summary) -> std::time::SystemTime {
    summary.id.parse::<ulid::Ulid>().unwrap().datetime()
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", "a", "b", "A", "a\"", "é🦀", ",", "\\", "\n"])
        .prop_map(str::to_owned)
}

/// Ids of a small range, so that some come twice, and in no order.
fn ids() -> impl Strategy<Value = String> {
    (0..300_u64, 0..2_u64).prop_map(|(time, tail)| id(time * 1000, tail))
}

fn summaries() -> impl Strategy<Value = Summary> {
    (
        ids(),
        (name(), name(), name()),
        (
            prop::option::of(name()),
            prop::option::of(name()),
            prop::option::of(name()),
        ),
        prop::collection::vec(name(), 0..3),
        (any::<bool>(), any::<bool>(), any::<bool>()),
    )
        .prop_map(
            |(id, (user, kind, namespace), optional, concerned, flags)| {
                let mut summary = summary(id);
                (summary.user, summary.kind, summary.namespace) = (user, kind, namespace);
                (summary.plugin, summary.policy, summary.digest) = optional;
                summary.warnings = concerned.iter().rev().cloned().collect();
                summary.concerned = concerned;
                summary.mutated = flags.0;
                summary.verdict = if flags.1 { Answer::Deny } else { Answer::Allow };
                summary.door = if flags.2 { Door::Ci } else { Door::Kubernetes };
                summary
            },
        )
}

fn filters() -> impl Strategy<Value = Filter> {
    let rarely = |strategy| prop::option::weighted(0.15, strategy);
    let time = || prop::option::weighted(0.2, (0..300_u64).prop_map(|time| at(time * 1000)));
    (
        prop::option::weighted(0.15, prop::sample::select(vec![Door::Ci, Door::Api])),
        prop::option::weighted(0.3, prop::sample::select(vec![Answer::Allow, Answer::Deny])),
        (
            rarely(name().boxed()),
            rarely(name().boxed()),
            rarely(name().boxed()),
        ),
        prop::option::weighted(0.3, name()),
        time(),
        time(),
    )
        .prop_map(
            |(door, verdict, (user, kind, namespace), policy, since, until)| Filter {
                door,
                verdict,
                user,
                kind,
                namespace,
                policy,
                since,
                until,
            },
        )
}

fn operations() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => prop::collection::vec(summaries(), 1..20).prop_map(Operation::Append),
        4 => summaries().prop_map(|summary| Operation::Append(vec![summary])),
        2 => (filters(), 1..30_usize).prop_map(|(filter, limit)| Operation::List(filter, limit)),
        2 => ids().prop_map(Operation::Get),
        2 => (filters(), 1..30_usize).prop_map(|(filter, limit)| Operation::Follow(filter, limit)),
        1 => filters().prop_map(Operation::Scan),
        1 => (0..300_u64).prop_map(Operation::Prune),
        2 => Just(Operation::Consolidate),
        1 => Just(Operation::Reopen),
    ]
}

/// Does it to a store and the model, and compares. What is deleted with which batch is the store's
/// affair: the model checks that it was allowed, and follows.
fn run(place: &Place, store: &mut Store, model: &mut Model, operation: &Operation) {
    match operation {
        Operation::Append(batch) => {
            let lines: Vec<String> = batch.iter().map(line).collect();
            let both = batch.iter().zip(&lines);
            let entries: Vec<Entry<'_>> = both
                .map(|(summary, line)| Entry { summary, line })
                .collect();
            store.append(&entries).unwrap();
            model.append(batch);
            assert_eq!(store.newest().unwrap().number(), model.next);
        }
        Operation::List(filter, limit) => {
            let expected = model.newest_first(filter);
            let page = Page {
                after: None,
                limit: *limit,
            };
            let first = store.list(filter, &page).unwrap();
            assert_eq!(first.next.is_some(), expected.len() > *limit);
            assert_eq!(listed(store, filter, *limit), expected);
            assert_eq!(store.count(filter).unwrap(), expected.len() as u64);
        }
        Operation::Get(id) => {
            let row = model.rows.iter().find(|(_, summary)| summary.id == *id);
            assert_eq!(
                store.get(id).unwrap(),
                row.map(|(_, summary)| line(summary))
            );
        }
        Operation::Follow(filter, limit) => {
            let (found, mark) = store
                .after(Mark::from_number(model.mark), filter, *limit)
                .unwrap();
            let later = model.rows.iter().filter(|(number, _)| *number > model.mark);
            let expected: Vec<&(u64, Summary)> = later
                .filter(|(_, summary)| matches(filter, summary))
                .take(*limit)
                .collect();
            assert_eq!(
                found.iter().collect::<Vec<_>>(),
                expected.iter().map(|(_, s)| s).collect::<Vec<_>>()
            );
            let full = expected.len() == *limit;
            let next = expected
                .last()
                .filter(|_| full)
                .map_or(model.next, |(number, _)| *number);
            assert_eq!(mark.number(), next);
            model.mark = next;
        }
        Operation::Scan(filter) => {
            let mut found = Vec::new();
            let each = &mut |lines: Vec<String>| {
                found.extend(lines);
                ControlFlow::Continue(())
            };
            store.scan(filter, each).unwrap();
            let expected: Vec<String> = model.matching(filter).iter().map(line).collect();
            assert_eq!(found, expected);
        }
        Operation::Prune(seconds) => {
            let now = at(seconds * 1000);
            let retention = Retention {
                age: Some(Duration::from_secs(50)),
                size: None,
            };
            let pruned = store.prune(&retention, now).unwrap();
            let kept = listed(store, &Filter::default(), 1000);
            let bound = now - Duration::from_secs(50);
            let before = model.rows.len();
            model.rows.retain(|(_, summary)| {
                let stays = kept.iter().any(|kept| kept.id == summary.id);
                assert!(stays || time(summary) < bound);
                stays
            });
            assert_eq!(pruned.decisions, (before - model.rows.len()) as u64);
            assert_eq!(kept.len(), model.rows.len());
        }
        Operation::Consolidate => {
            store.consolidate(at(10_000_000)).unwrap();
        }
        Operation::Reopen => *store = place.open(),
    }
}

fn both_answer_like_the_model(operations: &[Operation]) {
    for place in [Place::sqlite(), Place::postgres()] {
        let mut model = Model::default();
        let mut store = place.open();
        for operation in operations {
            run(&place, &mut store, &mut model, operation);
        }
        let statistics = store.statistics().unwrap();
        assert_eq!(statistics.decisions, model.rows.len() as u64);
        let oldest = model
            .rows
            .iter()
            .map(|(_, summary)| summary.id.clone())
            .min();
        assert_eq!(statistics.oldest, oldest);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn databases_and_the_model_agree(operations in prop::collection::vec(operations(), 1..60)) {
        both_answer_like_the_model(&operations);
    }
}
