//! The difference of two JSON trees as an RFC 6902 patch.
//!
//! Patches are minimal, deterministic and touch only what changed: a list that gained one element
//! gets one `add`, not a new list. Only `add`, `remove` and `replace` are made; applying patches is
//! the business of whoever asked.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One step of a patch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum PatchOperation {
    /// Puts a value at a place; in a list, before what is there.
    Add {
        /// Where, as a JSON pointer.
        path: String,
        /// What.
        value: Value,
    },
    /// Takes away what is at a place.
    Remove {
        /// Where, as a JSON pointer.
        path: String,
    },
    /// Puts a value in the place of another.
    Replace {
        /// Where, as a JSON pointer.
        path: String,
        /// What.
        value: Value,
    },
}

/// Above this product of lengths two lists are compared place by place instead of aligned.
const ALIGNMENT_LIMIT: usize = 40_000;

/// The steps that make `to` of `from`, to be applied in order.
pub fn diff(from: &Value, to: &Value) -> Vec<PatchOperation> {
    let mut differ = Differ {
        path: String::new(),
        operations: Vec::new(),
    };
    differ.values(from, to);
    differ.operations
}

struct Differ {
    path: String,
    operations: Vec<PatchOperation>,
}

impl Differ {
    fn values(&mut self, from: &Value, to: &Value) {
        match (from, to) {
            (Value::Object(a), Value::Object(b)) => self.objects(a, b),
            (Value::Array(a), Value::Array(b)) => self.lists(a, b),
            (a, b) if a == b => {}
            (_, b) => self.operations.push(PatchOperation::Replace {
                path: self.path.clone(),
                value: b.clone(),
            }),
        }
    }

    fn objects(&mut self, from: &Map<String, Value>, to: &Map<String, Value>) {
        for key in from.keys().filter(|k| !to.contains_key(*k)) {
            self.below(|p| push_key(p, key), Self::remove);
        }
        for (key, new) in to {
            self.below(
                |p| push_key(p, key),
                |d| match from.get(key) {
                    Some(old) => d.values(old, new),
                    None => d.add(new),
                },
            );
        }
    }

    /// Works from left to right, so that `place` is right in the list as patched so far.
    fn lists(&mut self, from: &[Value], to: &[Value]) {
        let mut place = 0;
        let (mut old, mut new) = (0, 0);
        for (old_until, new_until) in common_elements(from, to) {
            self.gap(
                &mut place,
                slice(from, old, old_until),
                slice(to, new, new_until),
            );
            (old, new, place) = (old_until + 1, new_until + 1, place + 1);
        }
        self.gap(
            &mut place,
            slice(from, old, from.len()),
            slice(to, new, to.len()),
        );
    }

    /// A run of elements that have no equal on the other side: pairs are compared, the rest goes
    /// or comes.
    fn gap(&mut self, place: &mut usize, olds: &[Value], news: &[Value]) {
        let pairs = olds.len().min(news.len());
        for (old, new) in olds.iter().zip(news) {
            self.below(|p| push_index(p, *place), |d| d.values(old, new));
            *place += 1;
        }
        for _ in olds.iter().skip(pairs) {
            self.below(|p| push_index(p, *place), Self::remove);
        }
        for new in news.iter().skip(pairs) {
            self.below(|p| push_index(p, *place), |d| d.add(new));
            *place += 1;
        }
    }

    fn remove(&mut self) {
        self.operations.push(PatchOperation::Remove {
            path: self.path.clone(),
        });
    }

    fn add(&mut self, value: &Value) {
        self.operations.push(PatchOperation::Add {
            path: self.path.clone(),
            value: value.clone(),
        });
    }

    fn below(&mut self, extend: impl FnOnce(&mut String), act: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        extend(&mut self.path);
        act(self);
        self.path.truncate(length);
    }
}

fn slice(list: &[Value], from: usize, to: usize) -> &[Value] {
    list.get(from..to).unwrap_or_default()
}

fn push_key(path: &mut String, key: &str) {
    path.push('/');
    for c in key.chars() {
        match c {
            '~' => path.push_str("~0"),
            '/' => path.push_str("~1"),
            c => path.push(c),
        }
    }
}

fn push_index(path: &mut String, index: usize) {
    let _ = write!(path, "/{index}");
}

/// Places (in `a`, in `b`) of elements that both lists have, in order: common ends first, then the
/// longest common subsequence of what is between them.
fn common_elements(a: &[Value], b: &[Value]) -> Vec<(usize, usize)> {
    let prefix = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a_rest, b_rest) = (a.iter().skip(prefix), b.iter().skip(prefix));
    let suffix = a_rest
        .rev()
        .zip(b_rest.rev())
        .take_while(|(x, y)| x == y)
        .count();
    let middle_a = slice(a, prefix, a.len() - suffix);
    let middle_b = slice(b, prefix, b.len() - suffix);

    let mut common: Vec<_> = (0..prefix).map(|i| (i, i)).collect();
    let between = longest_common_subsequence(middle_a, middle_b);
    common.extend(between.into_iter().map(|(i, j)| (i + prefix, j + prefix)));
    common.extend(
        (0..suffix)
            .rev()
            .map(|i| (a.len() - 1 - i, b.len() - 1 - i)),
    );
    common
}

fn longest_common_subsequence(a: &[Value], b: &[Value]) -> Vec<(usize, usize)> {
    if a.is_empty() || b.is_empty() || a.len().saturating_mul(b.len()) > ALIGNMENT_LIMIT {
        return Vec::new();
    }
    let width = b.len() + 1;
    let mut lengths = vec![0_u32; (a.len() + 1) * width];
    let at = |lengths: &[u32], i: usize, j: usize| lengths.get(i * width + j).copied().unwrap_or(0);
    for (i, x) in a.iter().enumerate().rev() {
        for (j, y) in b.iter().enumerate().rev() {
            let best = if x == y {
                at(&lengths, i + 1, j + 1) + 1
            } else {
                at(&lengths, i + 1, j).max(at(&lengths, i, j + 1))
            };
            if let Some(cell) = lengths.get_mut(i * width + j) {
                *cell = best;
            }
        }
    }
    let (mut i, mut j, mut common) = (0, 0, Vec::new());
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x == y {
            common.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if at(&lengths, i + 1, j) >= at(&lengths, i, j + 1) {
            i += 1;
        } else {
            j += 1;
        }
    }
    common
}

#[cfg(test)]
mod tests;
