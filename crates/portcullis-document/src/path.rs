//! Dotted paths: `admission.order[1]`, `chains["a.b"]`.
//!
//! They are written in faults, and read to find the place of a fault that
//! is reported by path only.

use std::fmt::Write as _;

use super::document::{Node, Value};

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Into a map.
    Key(String),
    /// Into a list.
    Index(usize),
}

/// Appends a step to a written path.
pub fn push(path: &mut String, segment: &Segment) {
    // Writing to a string can't fail.
    let _ = match segment {
        Segment::Index(index) => write!(path, "[{index}]"),
        Segment::Key(key) if key.is_empty() || key.contains(['.', '[', ']', '"', ' ']) => {
            write!(path, "[{key:?}]")
        }
        Segment::Key(key) if path.is_empty() => write!(path, "{key}"),
        Segment::Key(key) => write!(path, ".{key}"),
    };
}

/// The path of a key below a path.
#[must_use]
pub fn key(base: &str, key: &str) -> String {
    let mut path = base.to_owned();
    push(&mut path, &Segment::Key(key.to_owned()));
    path
}

/// The path of an item of the list at a path.
#[must_use]
pub fn index(base: &str, index: usize) -> String {
    format!("{base}[{index}]")
}

/// Appends a whole written path to another.
pub fn join(base: &str, rest: &str) -> String {
    let rest = rest.trim_start_matches('.');
    match (base, rest) {
        ("", rest) => rest.to_owned(),
        (base, "") => base.to_owned(),
        (base, rest) if rest.starts_with('[') => format!("{base}{rest}"),
        (base, rest) => format!("{base}.{rest}"),
    }
}

/// The steps of a written path; what can't be understood ends it.
pub(crate) fn parse(path: &str) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix("[\"") {
            let Some((key, after)) = quoted.split_once("\"]") else {
                break;
            };
            segments.push(Segment::Key(key.replace("\\\"", "\"")));
            rest = after;
        } else if let Some(bracket) = rest.strip_prefix('[') {
            let Some((inside, after)) = bracket.split_once(']') else {
                break;
            };
            segments.push(match inside.parse() {
                Ok(index) => Segment::Index(index),
                Err(_) => Segment::Key(inside.to_owned()),
            });
            rest = after;
        } else {
            let bare = rest.strip_prefix('.').unwrap_or(rest);
            let (key, after) = bare.split_at(bare.find(['.', '[']).unwrap_or(bare.len()));
            if !key.is_empty() {
                segments.push(Segment::Key(key.to_owned()));
            }
            rest = after;
        }
    }
    segments
}

impl Node {
    /// The value under a key of this map.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Map(entries) => entries
                .iter()
                .find(|(name, _)| name.value == key)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// The value under a key of this map, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        match &mut self.value {
            Value::Map(entries) => entries
                .iter_mut()
                .find(|(name, _)| name.value == key)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// The node at a path like `defaults.enforce` or `plugins[0].x`.
    pub fn at_path(&self, path: &str) -> Option<&Node> {
        parse(path)
            .iter()
            .try_fold(self, |node, segment| node.step(segment))
    }

    /// The node at a path, or the nearest one above it that exists.
    pub fn nearest(&self, path: &str) -> &Node {
        let mut found = self;
        for segment in parse(path) {
            match found.step(&segment) {
                Some(inner) => found = inner,
                None => break,
            }
        }
        found
    }

    /// Takes out what is at these steps. Whether there was anything.
    pub(crate) fn remove(&mut self, steps: &[Segment]) -> bool {
        let Some((last, before)) = steps.split_last() else {
            return false;
        };
        let mut found = self;
        for step in before {
            let next = match step {
                Segment::Key(key) => found.get_mut(key),
                Segment::Index(index) => match &mut found.value {
                    Value::Seq(items) => items.get_mut(*index),
                    _ => None,
                },
            };
            let Some(next) = next else {
                return false;
            };
            found = next;
        }
        let (Segment::Key(key), Value::Map(entries)) = (last, &mut found.value) else {
            return false;
        };
        let count = entries.len();
        entries.retain(|(name, _)| name.value != *key);
        entries.len() < count
    }

    fn step(&self, segment: &Segment) -> Option<&Node> {
        match (segment, &self.value) {
            (Segment::Key(key), Value::Map(_)) => self.get(key),
            (Segment::Index(index), Value::Seq(items)) => items.get(*index),
            // `exemptions.namespaces.0`, as some libraries write it.
            (Segment::Key(key), Value::Seq(items)) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(segments: &[Segment]) -> String {
        let mut path = String::new();
        for segment in segments {
            push(&mut path, segment);
        }
        path
    }

    #[test]
    fn a_written_path_is_read_back() {
        let key = |text: &str| Segment::Key(text.to_owned());
        for segments in [
            vec![key("admission"), key("order"), Segment::Index(1)],
            vec![key("chains"), key("a.b"), Segment::Index(0)],
            vec![Segment::Index(3), key(""), key("x y")],
            vec![key("labels"), key("app.kubernetes.io/name")],
        ] {
            assert_eq!(parse(&written(&segments)), segments);
        }
    }

    #[test]
    fn paths_are_joined_whatever_they_begin_with() {
        assert_eq!(join("a[0].b", "c.d"), "a[0].b.c.d");
        assert_eq!(join("a", "[1]"), "a[1]");
        assert_eq!(join("", "c"), "c");
        assert_eq!(join("a", "."), "a");
    }
}
