//! Everything of a wrong form in a tree, not just the first.

use std::borrow::Cow;

use serde::Deserialize;

use super::NodeReader;
use crate::{
    document::Node,
    fault::{Fault, Faults},
    path::{self, Segment},
    source::Source,
};

/// The most faults that are reported for one tree.
const MOST_FAULTS: usize = 64;

/// Reads a typed value; the faults say everything that is of a wrong form, and where.
pub fn typed<T: for<'de> Deserialize<'de>>(source: &Source, node: &Node) -> Result<T, Faults> {
    let Reading {
        value,
        mut faults,
        unknown,
    } = read_all(source, node);
    faults.extend(unknown);
    faults.sort_by_key(|fault| fault.position.map(|at| (at.line, at.column)));
    match (value, Faults::from_list(faults)) {
        (Some(value), None) => Ok(value),
        (_, Some(faults)) => Err(faults),
        (None, None) => Err(source.fault(None, "", "it can't be read").into()),
    }
}

/// The same for files of other programs: keys that are not known are left out. They are given back.
pub fn generous<T: for<'de> Deserialize<'de>>(
    source: &Source,
    node: &Node,
) -> Result<(T, Vec<Fault>), Faults> {
    let Reading {
        value,
        faults,
        unknown,
    } = read_all(source, node);
    match (value, Faults::from_list(faults)) {
        (Some(value), None) => Ok((value, unknown)),
        (_, Some(faults)) => Err(faults),
        (None, None) => Err(source.fault(None, "", "it can't be read").into()),
    }
}

/// The part of a document at a path as a typed value, without its faulty parts, and the faults. There is no
/// value where a required key is missing or wrong.
pub fn partly<T: for<'de> Deserialize<'de>>(
    source: &Source,
    node: &Node,
    at: &str,
) -> (Option<T>, Vec<Fault>) {
    let Reading {
        value,
        mut faults,
        unknown,
    } = read_all(source, node);
    faults.extend(unknown);
    faults.sort_by_key(|fault| fault.position.map(|at| (at.line, at.column)));
    for fault in &mut faults {
        fault.path = path::join(at, &fault.path);
    }
    (value, faults)
}

/// The same of a tree without places; the faults know their path only.
///
/// # Errors
///
/// Everything that is of a wrong form.
pub fn json<T: for<'de> Deserialize<'de>>(value: &serde_json::Value) -> Result<T, Vec<Fault>> {
    let source = Source::named("");
    let node = Node::from_json(value, &|_| None);
    match partly(&source, &node, "") {
        (Some(value), faults) if faults.is_empty() => Ok(value),
        (_, faults) => Err(faults
            .into_iter()
            .map(|fault| Fault {
                position: None,
                ..fault
            })
            .collect()),
    }
}

/// What became of a tree.
struct Reading<T> {
    /// Without what is wrong.
    value: Option<T>,
    faults: Vec<Fault>,
    /// Keys that are not known.
    unknown: Vec<Fault>,
}

/// Reading stops at the first thing that is wrong, so that is taken out and the rest is read again.
fn read_all<T: for<'de> Deserialize<'de>>(source: &Source, node: &Node) -> Reading<T> {
    let mut reading = Reading {
        value: None,
        faults: Vec::new(),
        unknown: Vec::new(),
    };
    let mut rest = Cow::Borrowed(node);
    // Keys that are missing only because they were taken out, or are written otherwise.
    let mut told: Vec<Vec<Segment>> = Vec::new();
    loop {
        let error = match T::deserialize(NodeReader(&rest)) {
            Ok(value) => {
                reading.value = Some(value);
                return reading;
            }
            Err(error) => error,
        };
        let steps = error.steps();
        let is_told = error.missing().is_some_and(|key| {
            let mut at = steps.clone();
            at.push(Segment::Key(key.to_owned()));
            told.contains(&at)
        });
        let is_unknown = error.is_unknown_key();
        let fault = error.at(rest.position).into_fault(source);
        match (is_told, is_unknown) {
            (true, _) => {}
            (false, true) => {
                if let (Some(meant), Some((_, around))) = (&fault.suggestion, steps.split_last()) {
                    let mut meant_at = around.to_vec();
                    meant_at.push(Segment::Key(meant.clone()));
                    told.push(meant_at);
                }
                reading.unknown.push(fault);
            }
            (false, false) => reading.faults.push(fault),
        }
        let is_over = reading.unknown.len() + reading.faults.len() >= MOST_FAULTS;
        match take_out(rest.to_mut(), steps) {
            Some(steps) if !is_over => told.push(steps),
            _ => return reading,
        }
    }
}

/// Takes out the key at these steps, or the nearest one around it. Which one that was.
fn take_out(node: &mut Node, mut steps: Vec<Segment>) -> Option<Vec<Segment>> {
    while !steps.is_empty() {
        if node.remove(&steps) {
            return Some(steps);
        }
        steps.pop();
    }
    None
}
