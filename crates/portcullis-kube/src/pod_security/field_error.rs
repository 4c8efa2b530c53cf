//! Faults in a named field, printed as Kubernetes prints them.

use std::fmt;

use super::text::go_quoted;

/// A field with a value that will not do.
///
/// Prints as `defaults.enforce: Invalid value: "x": must be one of ...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldError {
    /// Path of the field.
    pub field: String,
    /// What sort of fault.
    pub kind: FieldErrorKind,
    /// The value found.
    pub value: String,
    /// What the value has to be; may be empty.
    pub detail: String,
}

/// Sorts of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldErrorKind {
    /// Not one of the accepted values.
    Invalid,
    /// The same value a second time in a list.
    Duplicate,
}

impl FieldErrorKind {
    /// The reason in a status' list of causes.
    #[must_use]
    pub(crate) fn cause(self) -> &'static str {
        match self {
            Self::Invalid => "FieldValueInvalid",
            Self::Duplicate => "FieldValueDuplicate",
        }
    }
}

impl FieldError {
    pub(super) fn invalid(field: String, value: &str, detail: impl fmt::Display) -> Self {
        Self {
            field,
            kind: FieldErrorKind::Invalid,
            value: value.to_owned(),
            detail: detail.to_string(),
        }
    }

    pub(super) fn duplicate(field: String, value: &str) -> Self {
        Self {
            field,
            kind: FieldErrorKind::Duplicate,
            value: value.to_owned(),
            detail: String::new(),
        }
    }

    /// The message without the field's path, as in a status' list of causes.
    #[must_use]
    pub(crate) fn body(&self) -> String {
        let kind = match self.kind {
            FieldErrorKind::Invalid => "Invalid value",
            FieldErrorKind::Duplicate => "Duplicate value",
        };
        let value = go_quoted(&self.value);
        if self.detail.is_empty() {
            format!("{kind}: {value}")
        } else {
            format!("{kind}: {value}: {}", self.detail)
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.field, self.body())
    }
}

impl std::error::Error for FieldError {}

/// Several faults as one text: one alone stands for itself, more are listed in
/// brackets.
#[must_use]
pub(crate) fn join_field_errors(errors: &[FieldError]) -> String {
    match errors {
        [only] => only.to_string(),
        _ => {
            let mut texts: Vec<String> = Vec::with_capacity(errors.len());
            for text in errors.iter().map(ToString::to_string) {
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
            match texts.as_slice() {
                [only] => only.clone(),
                _ => format!("[{}]", texts.join(", ")),
            }
        }
    }
}
