//! Paths into a tree, as people write them: `spec.resources[0].name`, `metadata.annotations['a.b/c']`,
//! `status.*.text`.

use std::fmt;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// A member of this name; of a list, the entry of this number.
    Member(String),
    /// Any member or entry.
    Any,
}

impl Step {
    /// Whether this step leads to the member of this name.
    pub(crate) fn fits(&self, name: &str) -> bool {
        match self {
            Self::Member(member) => member == name,
            Self::Any => true,
        }
    }

    /// Whether this step leads to the entry of this number.
    pub(crate) fn fits_index(&self, index: usize) -> bool {
        match self {
            Self::Member(member) => member.parse() == Ok(index),
            Self::Any => true,
        }
    }
}

/// A path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Path(pub(crate) Vec<Step>);

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            match step {
                Step::Member(name) => f.write_str(name)?,
                Step::Any => f.write_str("*")?,
            }
        }
        Ok(())
    }
}

impl Path {
    /// Reads a path.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut steps = Vec::new();
        let mut rest = text;
        let mut first = true;
        while first || !rest.is_empty() {
            if let Some(inside) = rest.strip_prefix('[') {
                let (step, after) =
                    bracket(inside).ok_or_else(|| format!("invalid path `{text}`"))?;
                steps.push(step);
                rest = after;
            } else {
                let member = if first {
                    rest
                } else {
                    let stripped = rest.strip_prefix('.');
                    stripped.ok_or_else(|| format!("invalid path `{text}`"))?
                };
                let end = member.find(['.', '[']).unwrap_or(member.len());
                let (name, after) = member.split_at(end);
                if name.is_empty() {
                    return Err(format!("invalid path `{text}`: a member has no name"));
                }
                steps.push(step(name));
                rest = after;
            }
            first = false;
        }
        if steps.len() > 32 {
            return Err(format!("`{text}` is too long for a path"));
        }
        Ok(Self(steps))
    }
}

fn step(name: &str) -> Step {
    if name == "*" {
        Step::Any
    } else {
        Step::Member(name.to_owned())
    }
}

/// What is in brackets, and what comes after them.
fn bracket(inside: &str) -> Option<(Step, &str)> {
    for quote in ['\'', '"'] {
        if let Some(quoted) = inside.strip_prefix(quote) {
            let (name, after) = quoted.split_once(quote)?;
            return Some((Step::Member(name.to_owned()), after.strip_prefix(']')?));
        }
    }
    let (name, after) = inside.split_once(']')?;
    let is_index = !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
    (is_index || name == "*").then(|| (step(name), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str) -> Step {
        Step::Member(name.to_owned())
    }

    #[test]
    fn paths_are_read() {
        let read = |text| Path::parse(text).map(|p| p.0);
        assert_eq!(read("spec"), Ok(vec![member("spec")]));
        assert_eq!(
            read("spec.resources[0].name"),
            Ok(vec![
                member("spec"),
                member("resources"),
                member("0"),
                member("name")
            ])
        );
        assert_eq!(
            read("metadata.annotations['a.b/c'].*"),
            Ok(vec![
                member("metadata"),
                member("annotations"),
                member("a.b/c"),
                Step::Any
            ])
        );
        for wrong in [
            "", ".", "a.", "a..b", ".a", "a[", "a[x]", "a['b", "a['b'c", "a[]",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
