//! Selectors that open lists: what a rule asks for, and whether a request has it.
//!
//! The API server requires all of a request's requirements, so one that is narrow enough narrows the
//! whole. Only a requirement that a key has one certain value is narrow enough. Upstream's answers
//! (`compat: upstream`) differ: a label requirement counts when an object with that one label would pass
//! it, so `x!=y` on any other key opens the list; and where a rule asks for several, one is enough (but for
//! the name of the object).

use portcullis_core::access::{Requirement, ResourceTarget};
use portcullis_core::text::printable;

use super::Compat;
use super::captures::Values;
use super::template::Template;

/// The field that is the name of the object.
const NAME_FIELD: &str = "metadata.name";

/// What a rule asks for.
#[derive(Debug, Clone)]
pub(super) enum Selector {
    Label { key: Template, value: Template },
    Field { path: Box<str>, value: Template },
    All(Vec<Selector>),
}

impl Selector {
    /// Whether the selectors of a request have it.
    pub(super) fn is_met(
        &self,
        values: &impl Values,
        target: &ResourceTarget,
        compat: Compat,
    ) -> bool {
        match self {
            Self::Label { key, value } => {
                let mut all = target.label_selector.iter();
                match compat {
                    Compat::Strict => all.any(|r| {
                        r.operator == "In" && is_single(r, values, value) && key.is(values, &r.key)
                    }),
                    Compat::Upstream => all.any(|r| lets_pass(r, values, key, value)),
                }
            }
            Self::Field { path, value } => {
                let equals = |r: &Requirement| matches!(r.operator.as_str(), "In" | "=" | "==");
                let mut all = target.field_selector.iter();
                all.any(|r| equals(r) && *r.key == **path && is_single(r, values, value))
            }
            Self::All(parts) => match compat {
                Compat::Strict => parts.iter().all(|part| part.is_met(values, target, compat)),
                // A name alone never opens a list: it is only asked for together with something else.
                Compat::Upstream => parts
                    .iter()
                    .any(|part| !part.is_about_name() && part.is_met(values, target, compat)),
            },
        }
    }

    /// In words: `label a=b`, `field c=d`.
    pub(super) fn in_words(&self, values: &impl Values) -> String {
        self.written(values, &|what, pair| format!("{what} {pair}"))
    }

    /// As flags of the command line: `-l a=b`, `--field-selector c=d`.
    pub(super) fn as_flags(&self, values: &impl Values) -> String {
        self.written(values, &|what, pair| match what {
            "label" => format!("-l {pair}"),
            _ => format!("--field-selector {pair}"),
        })
    }

    fn written(&self, values: &impl Values, how: &dyn Fn(&str, &str) -> String) -> String {
        let pair = |key: &str, value: &Template| format!("{key}={}", value.expand(values));
        match self {
            Self::Label { key, value } => {
                let pair = pair(&key.expand(values), value);
                how("label", &printable(&pair))
            }
            Self::Field { path, value } => how("field", &printable(&pair(path, value))),
            // Flags of one kind are joined by a comma.
            Self::All(parts) => {
                let fields = parts.iter().map(|part| match part {
                    Self::Field { path, value } => Some(pair(path, value)),
                    Self::Label { .. } | Self::All(_) => None,
                });
                match fields.collect::<Option<Vec<_>>>() {
                    Some(fields) => how("field", &printable(&fields.join(","))),
                    None => {
                        let parts = parts.iter().map(|part| part.written(values, how));
                        parts.collect::<Vec<_>>().join(" ")
                    }
                }
            }
        }
    }

    /// Whether it asks for the name of the object.
    pub(super) fn is_about_name(&self) -> bool {
        match self {
            Self::Label { .. } => false,
            Self::Field { path, .. } => &**path == NAME_FIELD,
            Self::All(parts) => parts.iter().any(Self::is_about_name),
        }
    }

    /// Whether it asks for this very name, and for nothing else.
    pub(super) fn asks_for_name(&self, values: &impl Values, name: &str) -> bool {
        match self {
            Self::Field { path, value } => &**path == NAME_FIELD && value.is(values, name),
            Self::Label { .. } | Self::All(_) => false,
        }
    }
}

fn is_single(requirement: &Requirement, values: &impl Values, value: &Template) -> bool {
    matches!(requirement.values.as_slice(), [only] if value.is(values, only))
}

/// Whether an object that has just this label passes a requirement.
fn lets_pass(
    requirement: &Requirement,
    values: &impl Values,
    key: &Template,
    value: &Template,
) -> bool {
    let own = key.is(values, &requirement.key);
    let has_value = || requirement.values.iter().any(|v| value.is(values, v));
    match requirement.operator.as_str() {
        "In" => own && has_value(),
        "NotIn" => !own || !has_value(),
        "Exists" => own,
        "DoesNotExist" => !own,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::captures::{CaptureNames, Captured, NAME};
    use super::*;

    fn requirements(all: &[(&str, &str, &[&str])]) -> Vec<Requirement> {
        let one = |(key, operator, values): &(&str, &str, &[&str])| Requirement {
            key: (*key).to_owned(),
            operator: (*operator).to_owned(),
            values: values.iter().map(|v| (*v).to_owned()).collect(),
        };
        all.iter().map(one).collect()
    }

    fn template(text: &str) -> Template {
        Template::parse(text, &CaptureNames::default()).unwrap()
    }

    fn field(path: &str, value: &str) -> Selector {
        Selector::Field {
            path: path.into(),
            value: template(value),
        }
    }

    /// Whether it is met: strictly, and as upstream has it.
    fn met(selector: &Selector, target: &ResourceTarget) -> (bool, bool) {
        let mut values = Captured::default();
        values.set(NAME, "s1");
        let met = |compat| selector.is_met(&values, target, compat);
        (met(Compat::Strict), met(Compat::Upstream))
    }

    #[test]
    fn labels() {
        let own = "seed/s1";
        let selector = Selector::Label {
            key: template("seed/{name}"),
            value: template("true"),
        };
        for (all, strict, upstream) in [
            (&[(own, "In", &["true"][..])][..], true, true),
            (&[("x", "Exists", &[]), (own, "In", &["true"])], true, true),
            (&[], false, false),
            (&[(own, "In", &["false"])], false, false),
            (&[(own, "In", &["true", "x"])], false, true),
            (&[(own, "In", &[])], false, false),
            (&[(own, "NotIn", &["false"])], false, true),
            (&[(own, "NotIn", &["true"])], false, false),
            (&[(own, "Exists", &[])], false, true),
            (&[(own, "DoesNotExist", &[])], false, false),
            (&[("seed/s2", "In", &["true"])], false, false),
            (&[("x", "NotIn", &["y"])], false, true),
            (&[("x", "DoesNotExist", &[])], false, true),
            (&[("x", "Exists", &[])], false, false),
            (&[(own, "Equals", &["true"])], false, false),
            (&[(own, "in", &["true"])], false, false),
            (&[(own, "", &["true"])], false, false),
        ] {
            let target = ResourceTarget {
                label_selector: requirements(all),
                field_selector: requirements(&[(own, "In", &["true"])]),
                ..Default::default()
            };
            assert_eq!(met(&selector, &target), (strict, upstream), "{all:?}");
        }
    }

    #[test]
    fn fields() {
        let path = "spec.seedName";
        for (all, wanted) in [
            (&[(path, "In", &["s1"][..])][..], true),
            (&[(path, "=", &["s1"])], true),
            (&[(path, "==", &["s1"])], true),
            (&[(path, "In", &["s2"]), (path, "In", &["s1"])], true),
            (&[(path, "In", &["s2"])], false),
            (&[(path, "In", &["s1", "s2"])], false),
            (&[(path, "In", &["s1", "s1"])], false),
            (&[(path, "NotIn", &["s1"])], false),
            (&[(path, "!=", &["s2"])], false),
            (&[(path, "Exists", &[])], false),
            (&[("spec.x", "NotIn", &["s1"])], false),
            (&[("spec.x", "In", &["s1"])], false),
            (&[], false),
        ] {
            let target = ResourceTarget {
                field_selector: requirements(all),
                label_selector: requirements(&[(path, "In", &["s1"])]),
                ..Default::default()
            };
            assert_eq!(
                met(&field(path, "{name}"), &target),
                (wanted, wanted),
                "{all:?}"
            );
        }
    }

    #[test]
    fn all_of_several() {
        let both = Selector::All(vec![field("a", "{name}"), field("b", "x")]);
        for (all, strict, upstream) in [
            (
                &[("a", "In", &["s1"][..]), ("b", "In", &["x"])][..],
                true,
                true,
            ),
            (&[("a", "In", &["s1"])], false, true),
            (&[("b", "In", &["x"])], false, true),
            (&[("a", "In", &["s2"]), ("b", "In", &["y"])], false, false),
        ] {
            let target = ResourceTarget {
                field_selector: requirements(all),
                ..Default::default()
            };
            assert_eq!(met(&both, &target), (strict, upstream), "{all:?}");
        }
    }
}
