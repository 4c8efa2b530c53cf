//! The difference of two JSON trees as an RFC 6902 patch, and patches applied.
//!
//! Patches are small, deterministic and touch only what changed: a list that gained one element
//! gets one `add`, not a new list, wherever the element is and however long the list. A list or object
//! whose changes would take more text than it has is replaced as a whole. Only `add`, `remove` and
//! `replace` are made; patches of others may have every operation, and `foreign` applies them.

mod align;
mod apply;
mod foreign;
mod size;

use std::hash::Hash;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use apply::{Misfit, apply};
pub use foreign::{ForeignPatchError, apply_foreign};

use crate::pointer;

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

/// Nothing is replaced as a whole to save this many operations or fewer: they say more to people who
/// read them, and the text they could save is short.
const FEW: usize = 16;

/// How many bytes may be counted to find out what is shorter; each level of an object counts again.
const EFFORT: usize = 32 << 20;

/// Members that identify the elements of a list, as Kubernetes merges lists; the first that an
/// element has counts.
const KEYS: [&str; 8] = [
    "mountPath",
    "containerPort",
    "name",
    "id",
    "key",
    "topologyKey",
    "type",
    "ip",
];

/// The steps that make `to` of `from`, to be applied in order.
pub fn diff(from: &Value, to: &Value) -> Vec<PatchOperation> {
    let mut differ = Differ {
        path: String::new(),
        operations: Vec::new(),
        effort: EFFORT,
    };
    differ.values(from, to);
    differ.operations
}

struct Differ {
    path: String,
    operations: Vec<PatchOperation>,
    /// How many bytes may still be counted.
    effort: usize,
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
        let before = self.operations.len();
        for key in from.keys().filter(|k| !to.contains_key(*k)) {
            self.below(|p| pointer::push(p, key), Self::remove);
        }
        for (key, new) in to {
            self.below(
                |p| pointer::push(p, key),
                |d| match from.get(key) {
                    Some(old) => d.values(old, new),
                    None => d.add(new),
                },
            );
        }
        if self.operations.len() - before > FEW {
            self.replace_if_smaller(before, to);
        }
    }

    /// INVARIANT: goes from left to right, so that `place` is right in the list as patched so far,
    /// and where something is added or replaced it is the place in the new list.
    fn lists(&mut self, from: &[Value], to: &[Value]) {
        let before = self.operations.len();
        let mut place = 0;
        let (mut old, mut new) = (0, 0);
        for (old_until, new_until) in equal_elements(from, to) {
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
        if self.operations.len() - before > FEW {
            self.replace_if_smaller(before, to);
        }
    }

    /// A run of elements that have no equal on the other side: those with the same key are compared.
    fn gap(&mut self, place: &mut usize, olds: &[Value], news: &[Value]) {
        let (mut old, mut new) = (0, 0);
        for (old_until, new_until) in elements_of_one_key(olds, news) {
            self.strangers(
                place,
                slice(olds, old, old_until),
                slice(news, new, new_until),
            );
            if let Some((a, b)) = olds.get(old_until).zip(news.get(new_until)) {
                self.below(|p| pointer::push_index(p, *place), |d| d.values(a, b));
            }
            (old, new, *place) = (old_until + 1, new_until + 1, *place + 1);
        }
        self.strangers(
            place,
            slice(olds, old, olds.len()),
            slice(news, new, news.len()),
        );
    }

    /// A run of elements without the same key on the other side: as far as there are pairs, one takes
    /// the place of the other; the rest goes or comes.
    fn strangers(&mut self, place: &mut usize, olds: &[Value], news: &[Value]) {
        let pairs = olds.len().min(news.len());
        for (old, new) in olds.iter().zip(news) {
            self.below(
                |p| pointer::push_index(p, *place),
                |d| {
                    let before = d.operations.len();
                    d.values(old, new);
                    if d.operations.len() - before > 1 {
                        d.replace_if_smaller(before, new);
                    }
                },
            );
            *place += 1;
        }
        for _ in olds.iter().skip(pairs) {
            self.below(|p| pointer::push_index(p, *place), Self::remove);
        }
        for new in news.iter().skip(pairs) {
            self.below(|p| pointer::push_index(p, *place), |d| d.add(new));
            *place += 1;
        }
    }

    /// Replaces the value here as a whole if that takes less text than the operations made for it.
    /// The document itself never is: not everybody takes a patch of it.
    fn replace_if_smaller<V>(&mut self, before: usize, value: &V)
    where
        V: Serialize + ToOwned + ?Sized,
        Value: From<V::Owned>,
    {
        let made = self.operations.get(before..).unwrap_or_default();
        let Some(size) = size::within(self.effort, made).filter(|_| !self.path.is_empty()) else {
            return;
        };
        let whole = [size::Replacement::new(&self.path, value)];
        let shorter = size::within(size.saturating_sub(1), &whole);
        self.effort = self.effort.saturating_sub(size + shorter.unwrap_or(size));
        if shorter.is_some() {
            self.operations.truncate(before);
            self.operations.push(PatchOperation::Replace {
                path: self.path.clone(),
                value: value.to_owned().into(),
            });
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

/// Places (in `a`, in `b`) of elements that both lists have, in order: common ends first, then a
/// longest common subsequence of what is between them.
fn equal_elements(a: &[Value], b: &[Value]) -> Vec<(usize, usize)> {
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
    // Two single elements are known to differ.
    if middle_a.len().saturating_mul(middle_b.len()) > 1 {
        let between = aligned(middle_a, middle_b, Some);
        common.extend(between.into_iter().map(|(i, j)| (i + prefix, j + prefix)));
    }
    common.extend(
        (0..suffix)
            .rev()
            .map(|i| (a.len() - 1 - i, b.len() - 1 - i)),
    );
    common
}

/// Places of elements that are the same thing, changed.
fn elements_of_one_key(olds: &[Value], news: &[Value]) -> Vec<(usize, usize)> {
    aligned(olds, news, |element| {
        let members = element.as_object()?;
        let key = KEYS.into_iter().find(|key| members.contains_key(*key))?;
        Some((key, members.get(key)?))
    })
}

fn aligned<'a, L: Hash + Eq>(
    olds: &'a [Value],
    news: &'a [Value],
    label: impl Fn(&'a Value) -> Option<L>,
) -> Vec<(usize, usize)> {
    if olds.is_empty() || news.is_empty() {
        return Vec::new();
    }
    let labels = |list: &'a [Value]| list.iter().map(&label).collect::<Vec<_>>();
    align::align(&labels(olds), &labels(news))
}

#[cfg(test)]
mod tests;
