//! Decisions to store.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use portcullis_core::Door;
use portcullis_record::{Answer, Summary};
use portcullis_store::{Entry, Filter, Page, Store};
use ulid::Ulid;

/// A time within the life of these tests' decisions.
pub(crate) const BASE: u64 = 1_750_000_000_000;

/// So many milliseconds after the base.
pub(crate) fn at(milliseconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(BASE + milliseconds)
}

/// The id of a decision made so many milliseconds after the base.
pub(crate) fn id(milliseconds: u64, tail: u64) -> String {
    Ulid::from_parts(BASE + milliseconds, tail.into()).to_string()
}

/// A decision of this id; everything else is simple.
pub(crate) fn summary(id: String) -> Summary {
    Summary {
        id,
        time: "2025-06-15T15:06:40.000000Z".into(),
        door: Door::Kubernetes,
        operation: "CREATE".into(),
        kind: "Pod".into(),
        namespace: "default".into(),
        name: "web".into(),
        user: "alice".into(),
        verdict: Answer::Allow,
        mutated: false,
        message: String::new(),
        plugin: None,
        policy: None,
        digest: None,
        gate: Some("sha256:gate".into()),
        duration_us: 120,
        warnings: vec![],
        concerned: vec![],
        traceparent: None,
    }
}

/// Its line: the summary and something more.
pub(crate) fn line(summary: &Summary) -> String {
    let mut value = serde_json::to_value(summary).unwrap();
    value["input"] = format!("everything about {}", summary.id).into();
    value.to_string()
}

/// Stores these as one batch.
pub(crate) fn append(store: &mut Store, summaries: &[Summary]) {
    let lines: Vec<String> = summaries.iter().map(line).collect();
    let entries: Vec<Entry<'_>> = summaries
        .iter()
        .zip(&lines)
        .map(|(summary, line)| Entry { summary, line })
        .collect();
    store.append(&entries).unwrap();
}

/// Simple decisions, one each millisecond of these.
pub(crate) fn simple(milliseconds: std::ops::Range<u64>) -> Vec<Summary> {
    milliseconds.map(|place| summary(id(place, 7))).collect()
}

/// All that match, page by page.
pub(crate) fn listed(store: &mut Store, filter: &Filter, limit: usize) -> Vec<Summary> {
    let mut all = Vec::new();
    let mut after = None;
    loop {
        let listed = store.list(filter, &Page { after, limit }).unwrap();
        assert!(listed.items.len() <= limit);
        all.extend(listed.items);
        after = listed.next;
        if after.is_none() {
            return all;
        }
    }
}

/// The ids of all that match.
pub(crate) fn ids(store: &mut Store, filter: &Filter) -> Vec<String> {
    let all = listed(store, filter, 7);
    all.into_iter().map(|summary| summary.id).collect()
}
