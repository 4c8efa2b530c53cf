//! Filters of decisions, and their SQL.

use std::borrow::Cow;
use std::time::SystemTime;

use portcullis_core::Door;
use portcullis_record::{Answer, Summary};

use super::{columns, ulid};
use crate::database::{Value, number, storable};

/// Which decisions; all by default. Texts are compared exactly; an empty one means decisions in which
/// it is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Made at this door.
    pub door: Option<Door>,
    /// With this answer.
    pub verdict: Option<Answer>,
    /// Asked by this user.
    pub user: Option<String>,
    /// About this kind, in any case; a resource like `pods` means its kind as well.
    pub kind: Option<String>,
    /// In this namespace.
    pub namespace: Option<String>,
    /// Where this plug-in or policy decided or had something to say.
    pub policy: Option<String>,
    /// Made at this time or later, to the millisecond.
    pub since: Option<SystemTime>,
    /// Made before this time, to the millisecond.
    pub until: Option<SystemTime>,
}

/// A filter as conditions on the columns of `decisions`.
#[derive(Debug, Default)]
pub(super) struct Conditions<'a> {
    sql: Vec<String>,
    texts: Vec<Cow<'a, str>>,
    numbers: Vec<(usize, i64)>,
}

impl Filter {
    pub(super) fn conditions(&self) -> Conditions<'_> {
        let mut conditions = Conditions::default();
        if let Some(door) = self.door {
            conditions.text("door = ?", door.as_str().into());
        }
        if let Some(verdict) = self.verdict {
            // A literal, so that the index of denials can be used.
            let name = verdict.as_str();
            conditions.sql.push(format!("verdict = '{name}'"));
        }
        let texts = [
            ("user_name = ?", &self.user),
            ("namespace = ?", &self.namespace),
        ];
        for (sql, text) in texts {
            if let Some(text) = text {
                conditions.text(sql, storable(text));
            }
        }
        if let Some(kind) = &self.kind {
            let names: Vec<String> = kinds(kind)
                .into_iter()
                .map(|name| format!("?{}", conditions.value(storable(&name).into_owned().into())))
                .collect();
            let names = names.join(", ");
            conditions.sql.push(format!("LOWER(kind) IN ({names})"));
        }
        if let Some(policy) = &self.policy {
            let plain = conditions.value(storable(policy));
            let listed = conditions.value(columns::list_item(policy).into());
            // What is cut out is what was looked for, if it is there at all. Both databases have it.
            conditions.sql.push(format!(
                "(plugin = ?{plain} OR policy = ?{plain} \
                 OR REPLACE(concerned, ?{listed}, '') <> concerned)"
            ));
        }
        if let Some(since) = self.since {
            conditions.text("id >= ?", ulid::lowest(since).into());
        }
        if let Some(until) = self.until {
            conditions.text("id < ?", ulid::lowest(until).into());
        }
        conditions
    }

    /// Whether a decision is meant.
    pub fn matches(&self, summary: &Summary) -> bool {
        let is = |wanted: &Option<String>, own: &str| wanted.as_deref().is_none_or(|w| w == own);
        let has = |policy: &String| {
            let one = [&summary.plugin, &summary.policy].into_iter().flatten();
            one.chain(&summary.concerned).any(|name| name == policy)
        };
        let (low, high) = self.id_range();
        self.door.is_none_or(|door| door == summary.door)
            && self
                .verdict
                .is_none_or(|verdict| verdict == summary.verdict)
            && is(&self.user, &summary.user)
            && self.kind.as_ref().is_none_or(|kind| {
                let own = summary.kind.to_ascii_lowercase();
                kinds(kind).contains(&own)
            })
            && is(&self.namespace, &summary.namespace)
            && self.policy.as_ref().is_none_or(has)
            && low.is_none_or(|low| summary.id >= low)
            && high.is_none_or(|high| summary.id < high)
    }

    /// The lowest id that can match, and the lowest of those too high.
    pub(super) fn id_range(&self) -> (Option<String>, Option<String>) {
        (self.since.map(ulid::lowest), self.until.map(ulid::lowest))
    }
}

/// A kind as it may be meant, in lower case: of a resource its kind, too.
fn kinds(given: &str) -> Vec<String> {
    let given = given.to_ascii_lowercase();
    // As Kubernetes makes the name of a resource of that of a kind.
    let singulars = [("ies", "y"), ("es", ""), ("s", "")];
    let singulars = singulars.into_iter().filter_map(|(ending, of_kind)| {
        let stem = given.strip_suffix(ending)?;
        (!stem.is_empty()).then(|| format!("{stem}{of_kind}"))
    });
    let singulars: Vec<String> = singulars.collect();
    std::iter::once(given).chain(singulars).collect()
}

impl<'a> Conditions<'a> {
    /// A condition with one value at its end.
    pub(super) fn text(&mut self, sql: &str, text: Cow<'a, str>) {
        let number = self.value(text);
        self.sql.push(format!("{sql}{number}"));
    }

    /// A condition with one number at its end.
    pub(super) fn number(&mut self, sql: &str, number: i64) {
        let place = self.plain_number(number);
        self.sql.push(format!("{sql}{place}"));
    }

    /// Adds a number that is not part of a condition; returns its place, from 1.
    pub(super) fn plain_number(&mut self, number: i64) -> usize {
        let place = self.value("".into());
        self.numbers.push((place - 1, number));
        place
    }

    /// The newest rows between two ids, with the columns that conditions and counts need, as a table to select from.
    pub(super) fn newest(&mut self, (low, high): (&'a str, &'a str), most: u64) -> String {
        let (low, high) = (self.value(low.into()), self.value(high.into()));
        let most = self.plain_number(number(most));
        format!(
            "(SELECT id, door, verdict, mutated, duration_us, kind, namespace, user_name, plugin, policy, concerned \
             FROM decisions WHERE id >= ?{low} AND id < ?{high} ORDER BY id DESC LIMIT ?{most}) AS newest"
        )
    }

    /// Adds a value; gives its place, from 1.
    fn value(&mut self, text: Cow<'a, str>) -> usize {
        self.texts.push(text);
        self.texts.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sql.is_empty()
    }

    /// `WHERE` and all conditions; empty when there are none.
    pub(super) fn sql(&self) -> String {
        match self.sql.is_empty() {
            true => String::new(),
            false => format!("WHERE {}", self.sql.join(" AND ")),
        }
    }

    pub(super) fn values(&self) -> Vec<Value<'_>> {
        let mut values: Vec<Value<'_>> = self.texts.iter().map(|text| Value::Text(text)).collect();
        for (place, number) in &self.numbers {
            if let Some(value) = values.get_mut(*place) {
                *value = Value::Number(*number);
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_means_its_kind_too() {
        for (kind, resource) in [
            ("Pod", "pods"),
            ("Ingress", "ingresses"),
            ("NetworkPolicy", "networkpolicies"),
            ("Endpoints", "endpoints"),
            ("Gateway", "gateways"),
        ] {
            let lower = kind.to_ascii_lowercase();
            assert!(kinds(resource).contains(&lower), "{resource}");
            assert!(kinds(&kind.to_ascii_uppercase()).contains(&lower), "{kind}");
        }
        assert_eq!(kinds(""), [""]);
        assert_eq!(kinds("Pod"), ["pod"]);
    }
}
