//! The form that grants an exemption.

use serde_json::Value;

use crate::request::Request;

/// The fields, as they were typed.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) fields: Vec<(&'static str, String)>,
}

/// The names of the REST API.
const NAMES: &[&str] = &[
    "project",
    "user",
    "controller",
    "policy",
    "reason",
    "until",
    "ticket",
];

impl Draft {
    /// What a form has.
    pub(super) fn of(request: &Request<'_>) -> Self {
        let fields = NAMES.iter();
        let fields = fields.map(|name| (*name, request.field(name).to_owned()));
        Self {
            fields: fields.collect(),
        }
    }

    /// What was typed there.
    pub(super) fn get(&self, name: &str) -> &str {
        let found = self.fields.iter().find(|(own, _)| *own == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// What the API takes: what is empty is absent, and the time is UTC.
    pub(super) fn body(&self) -> Value {
        let given = self.fields.iter().filter(|(_, value)| !value.is_empty());
        let given = given.map(|(name, value)| match *name {
            "until" => ("until".to_owned(), Value::from(utc(value))),
            name => (name.to_owned(), Value::from(value.as_str())),
        });
        Value::Object(given.collect())
    }
}

/// A time as browsers send it, without seconds or a zone, as the API reads it. Anything else stays as it is.
fn utc(typed: &str) -> String {
    let is_local = typed
        .chars()
        .all(|c| c.is_ascii_digit() || "-T:.".contains(c));
    match (is_local, typed.matches(':').count()) {
        (true, 1) => format!("{typed}:00Z"),
        (true, 2) => format!("{typed}Z"),
        _ => typed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_browsers_are_utc() {
        assert_eq!(utc("2026-11-18T14:30"), "2026-11-18T14:30:00Z");
        assert_eq!(utc("2026-11-18T14:30:05"), "2026-11-18T14:30:05Z");
        assert_eq!(utc("2026-11-18T14:30:05.250"), "2026-11-18T14:30:05.250Z");
        for kept in ["2026-11-18T14:30:05Z", "2026-11-18T14:30:05+01:00", "soon"] {
            assert_eq!(utc(kept), kept);
        }
    }
}
