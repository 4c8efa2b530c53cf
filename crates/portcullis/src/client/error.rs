//! Errors of the client.

use portcullis_core::text::start;
use portcullis_net::{Error, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use crate::exit::Exit;

/// The most characters of what a server says that are repeated.
const LONGEST: usize = 500;
/// The most characters of a name that are repeated.
const LONGEST_WORD: usize = 200;
/// The most names of a kind that are repeated.
const MOST_LISTED: usize = 20;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ClientError {
    /// What was asked for makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The server or its authorities are not given rightly.
    #[error("{0}")]
    Location(String),
    /// The server doesn't know us, or doesn't let us.
    #[error("{0}")]
    NotSignedIn(String),
    /// It does not exist.
    #[error("{0}")]
    NotFound(String),
    /// It can't be done as things are now.
    #[error("{0}")]
    Conflict(String),
    /// The server can't be reached, or can't answer.
    #[error("{0}")]
    Unreachable(String),
}

impl ClientError {
    /// What the program ends with.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Location(_) => Exit::Invalid,
            Self::NotSignedIn(_) => Exit::NotSignedIn,
            Self::NotFound(_) => Exit::Nothing,
            Self::Conflict(_) => Exit::No,
            Self::Unreachable(_) => Exit::Failed,
        }
    }

    /// The answer did not arrive, for no known reason.
    pub(super) fn lost() -> Self {
        Self::Unreachable("the connection was lost before the answer arrived".to_owned())
    }

    /// Why there is no answer.
    pub(super) fn of(place: &str, error: &Error) -> Self {
        if error.is_without_tls() {
            let why = "the server does not speak TLS here; try http://";
            return Self::Unreachable(format!("{place}: {why}"));
        }
        if error.is_without_http() && place.starts_with("http:") {
            let why = "the server does not speak HTTP here; if it speaks TLS, try https://";
            return Self::Unreachable(format!("{place}: {why}"));
        }
        let text = format!("{place}: {error}");
        match error {
            Error::ServerName | Error::Request(_) => Self::Location(text),
            // A user who may not open the socket may not use the server.
            error if error.is_permission_denied() => Self::NotSignedIn(text),
            _ => Self::Unreachable(text),
        }
    }

    /// An answer that could be read, but makes no sense.
    pub(crate) fn senseless(what: &str, error: &serde_json::Error) -> Self {
        Self::Unreachable(format!("the server's answer is not valid {what}: {error}"))
    }

    /// An answer that says what is wrong, on one line; lines after it say what was missing.
    pub(super) fn refused(place: &str, status: StatusCode, body: &[u8], has_token: bool) -> Self {
        let said: Option<Body> = serde_json::from_slice(body).ok();
        let mut text = format!("{place} answers {}", status.as_u16());
        if let Some(body) = said {
            text.push_str(&format!(": {}", one_line(&body.error.message, LONGEST)));
            if let Some(id) = body.request_id.filter(|id| !id.is_empty()) {
                text.push_str(&format!(" (request {})", one_line(&id, 64)));
            }
            if status == StatusCode::FORBIDDEN
                && let Some(details) = &body.error.details
            {
                for line in forbidden(details) {
                    text.push_str(&format!("\n  {line}"));
                }
            }
            if status == StatusCode::UNPROCESSABLE_ENTITY
                && let Some(details) = body.error.details
            {
                for line in faults(&details) {
                    text.push_str(&format!("\n  {line}"));
                }
            }
        } else if let Some(reason) = status.canonical_reason() {
            text.push_str(&format!(": {reason}"));
        }
        if status == StatusCode::UNAUTHORIZED && !has_token {
            text.push_str("\n  no token was sent: give --token TOKEN, set PORTCULLIS_TOKEN, or sign in with `portcullis login`");
        }
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Self::NotSignedIn(text),
            StatusCode::NOT_FOUND => Self::NotFound(text),
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Self::Usage(text),
            StatusCode::CONFLICT => Self::Conflict(text),
            _ => Self::Unreachable(text),
        }
    }
}

#[derive(Deserialize)]
struct Body {
    error: ErrorObject,
    #[serde(default)]
    request_id: Option<String>,
}

#[derive(Deserialize)]
struct ErrorObject {
    message: String,
    #[serde(default)]
    details: Option<Value>,
}

/// Everything that is wrong with a body, where there is more than one fault.
fn faults(details: &Value) -> Vec<String> {
    let all = details.get("faults").and_then(Value::as_array);
    let all = all.filter(|all| all.len() > 1);
    let text = |fault: &Value, key: &str| {
        let text = fault.get(key).and_then(Value::as_str).unwrap_or_default();
        one_line(text, LONGEST_WORD)
    };
    let line = |fault: &Value| match text(fault, "path").as_str() {
        "" => text(fault, "message"),
        path => format!("{path}: {}", text(fault, "message")),
    };
    all.into_iter().flatten().map(line).collect()
}

/// What a 403 says about permissions, in words.
fn forbidden(details: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(|text| one_line(text, LONGEST_WORD));
    let list = |key: &str| {
        let items = details.get(key).and_then(Value::as_array)?;
        let names: Vec<String> = items.iter().filter_map(text).take(MOST_LISTED).collect();
        Some(match names.is_empty() {
            true => "none".to_owned(),
            false => names.join(", "),
        })
    };
    let mut lines = Vec::new();
    if let Some(permission) = details.get("permission").and_then(text) {
        lines.push(format!("required permission: {permission}"));
    }
    let conditions = details.get("conditions").and_then(Value::as_array);
    for condition in conditions.into_iter().flatten().take(MOST_LISTED) {
        let Some(name) = condition.get("name").and_then(text) else {
            continue;
        };
        let wanted = match condition.get("wanted") {
            Some(Value::Array(any)) => {
                let any: Vec<String> = any.iter().filter_map(text).take(MOST_LISTED).collect();
                any.join(" or ")
            }
            Some(one) => text(one).unwrap_or_default(),
            None => String::new(),
        };
        lines.push(match condition.get("got").and_then(text) {
            Some(got) => format!("your roles grant it where {name} is {wanted}; here it is {got}"),
            None => {
                format!("your roles grant it where {name} is {wanted}; the request has no {name}")
            }
        });
    }
    lines.extend(list("roles").map(|roles| format!("your roles here: {roles}")));
    lines.extend(list("rules").map(|rules| format!("rules that match you here: {rules}")));
    lines
}

/// At most so many characters, none of which begins another line.
fn one_line(text: &str, most: usize) -> String {
    start(text, most).replace(['\n', '\r'], " ")
}
