//! Forms: what a person may do in a page, and the fields that were sent.

use serde_json::{Map, Value};

use crate::backend::{Backend, Place, Problem};
use crate::request::Request;

/// Something a person can do with a button.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Action {
    /// Where the form goes.
    pub(crate) path: String,
    /// What it says besides.
    pub(crate) fields: Vec<(&'static str, String)>,
    /// What the button says.
    pub(crate) label: &'static str,
    /// Why the person may not; nothing if they may.
    pub(crate) denied: Option<String>,
    /// Whether another page asks first, because it can't be undone.
    pub(crate) asks: bool,
}

impl Action {
    /// What needs this permission there.
    pub(crate) fn new(
        backend: &dyn Backend,
        label: &'static str,
        path: impl Into<String>,
        (permission, place): (&str, Place<'_>),
    ) -> Self {
        Self {
            path: path.into(),
            fields: Vec::new(),
            label,
            denied: backend.refusal(permission, place),
            asks: false,
        }
    }

    /// The same about something.
    pub(crate) fn about(self, fields: Vec<(&'static str, String)>) -> Self {
        Self { fields, ..self }
    }

    /// The same, which can't be undone.
    pub(crate) fn asking(self) -> Self {
        Self { asks: true, ..self }
    }

    /// The same, which is possible only if there is no such reason against it.
    pub(crate) fn unless(self, reason: Option<&str>) -> Self {
        let denied = reason.map(str::to_owned).or(self.denied);
        Self { denied, ..self }
    }
}

impl Request<'_> {
    /// A field of the form, trimmed; empty if it is absent.
    pub(crate) fn field(&self, name: &str) -> &str {
        self.raw_field(name).trim()
    }

    /// A field of the form as it was typed; empty if it is absent.
    pub(crate) fn raw_field(&self, name: &str) -> &str {
        let found = self.form.iter().find(|(own, _)| own == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// Fields of the form as an object; empty ones are absent.
    pub(crate) fn fields(&self, names: &[&str]) -> Map<String, Value> {
        let given = names.iter().map(|name| (*name, self.field(name)));
        given
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name.to_owned(), Value::from(value)))
            .collect()
    }

    /// A field that is a number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Problem> {
        match self.field(name) {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| {
                Problem::bad_request(format!("invalid {name}: expected a whole number"))
            }),
        }
    }
}

/// A text with its lines ended as in files: forms end them as mail does.
pub(crate) fn lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}
