//! The one shape of errors at every door: `{error: {code, message, details?}, request_id}`.

use std::num::NonZero;

use hyper::StatusCode;
use hyper::ext::ReasonPhrase;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use portcullis_core::text::start;
use portcullis_core::{DecisionId, clock};
use portcullis_document::Fault;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Response;
use super::answer::Answer;
use super::budget::OutOfMemory;

/// A request that gets no answer but why.
#[derive(Debug, Clone)]
pub(crate) struct HttpError {
    status: StatusCode,
    code: &'static str,
    message: String,
    details: Option<Value>,
    allow: Option<&'static str>,
    /// Where to sign in, for 401.
    realm: Option<String>,
    /// Whether the status line says it too.
    is_in_status_line: bool,
    /// Seconds to wait.
    retry_after: Option<NonZero<u16>>,
}

impl HttpError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            details: None,
            allow: None,
            realm: None,
            is_in_status_line: false,
            retry_after: None,
        }
    }

    /// Says it in the status line too: `zuul-client` shows its users nothing else.
    pub(crate) fn in_status_line(self) -> Self {
        Self {
            is_in_status_line: true,
            ..self
        }
    }

    pub(crate) fn malformed(fault: &portcullis_core::json::JsonFault) -> Self {
        let place = serde_json::json!({"line": fault.line, "column": fault.column});
        let error = Self::new(StatusCode::BAD_REQUEST, "malformed", fault.to_string());
        Self {
            details: Some(place),
            ..error
        }
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub(crate) fn method_not_allowed(allow: &'static str) -> Self {
        let message = format!("method not allowed: expected {allow}");
        let error = Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            message,
        );
        Self {
            allow: Some(allow),
            ..error
        }
    }

    pub(crate) fn unsupported_media_type(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            message,
        )
    }

    pub(crate) fn body_too_large(limit: u64) -> Self {
        let message = format!("the body is larger than {limit} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message)
    }

    pub(crate) fn headers_too_large(limit: u64) -> Self {
        let message = format!("the request line and headers are larger than {limit} bytes");
        Self::new(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            "headers_too_large",
            message,
        )
    }

    /// A request of which not even the head could be read.
    pub(crate) fn unreadable(status: u16, headers: usize) -> Self {
        match StatusCode::from_u16(status) {
            Ok(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE) => {
                Self::headers_too_large(headers as u64)
            }
            Ok(StatusCode::URI_TOO_LONG) => Self::new(
                StatusCode::URI_TOO_LONG,
                "path_too_long",
                "the path is too long",
            ),
            _ => Self::bad_request("not an HTTP/1.1 request"),
        }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed", message)
    }

    pub(crate) fn too_slow(message: &'static str) -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "timeout", message)
    }

    pub(crate) fn busy(message: &'static str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
    }

    /// The request is well-formed, but its content is not: every fault with the path of its field.
    pub(crate) fn unprocessable(faults: &[Fault]) -> Self {
        let said = |fault: &Fault| match fault.path.as_str() {
            "" => fault.message.clone(),
            path => format!("{path}: {}", fault.message),
        };
        let message = match faults {
            [] => "the content is invalid".to_owned(),
            [one] => said(one),
            [first, others @ ..] => format!("{} (and {} more)", said(first), others.len()),
        };
        let listed = faults.iter().map(
            |fault| serde_json::json!({"path": fault.path.as_str(), "message": fault.message}),
        );
        let details = serde_json::json!({"faults": listed.collect::<Vec<_>>()});
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message).with_details(&details)
    }

    /// It can't be done in the present state of things.
    pub(crate) fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }

    /// Too much at once: how many seconds to wait.
    pub(crate) fn too_many_requests(message: impl Into<String>, seconds: u64) -> Self {
        Self {
            retry_after: NonZero::new(u16::try_from(seconds).unwrap_or(u16::MAX)),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message)
        }
    }

    /// The caller is known, and may not do this.
    pub(crate) fn forbidden(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, message)
    }

    /// The caller is not known: worded as RFC 6750 requires.
    pub(crate) fn unauthorized(
        code: &'static str,
        message: impl Into<String>,
        realm: impl Into<String>,
    ) -> Self {
        Self {
            realm: Some(realm.into()),
            ..Self::new(StatusCode::UNAUTHORIZED, code, message)
        }
    }

    /// The same with something that programs read.
    pub(crate) fn with_details(self, details: &impl Serialize) -> Self {
        Self {
            details: serde_json::to_value(details).ok(),
            ..self
        }
    }

    /// The status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// What is said to people.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn internal() -> Self {
        let message = "the request could not be answered";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    /// A machine-readable word for it.
    pub(crate) fn code(&self) -> &'static str {
        self.code
    }

    /// The body alone, for answers written without HTTP machinery.
    pub(crate) fn body(&self) -> Vec<u8> {
        let error = ErrorReason {
            code: self.code,
            message: &self.message,
            details: self.details.as_ref(),
        };
        let request_id = DecisionId::new(clock::wall()).to_string();
        serde_json::to_vec(&ErrorBody { error, request_id }).unwrap_or_default()
    }

    pub(crate) fn into_response(self) -> Response {
        let mut response = json(self.status, self.body());
        if self.is_in_status_line {
            let phrase = quotable(&self.message);
            if let Ok(phrase) = ReasonPhrase::try_from(start(&phrase, 200).as_bytes()) {
                response.extensions_mut().insert(phrase);
            }
        }
        let headers = response.headers_mut();
        if let Some(allow) = self.allow {
            headers.insert(ALLOW, HeaderValue::from_static(allow));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, self.challenge());
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds.get()));
        }
        response
    }

    /// As RFC 6750 requires: a request without credentials gets no error code.
    fn challenge(&self) -> HeaderValue {
        let realm = quotable(self.realm.as_deref().unwrap_or("portcullis"));
        let error = match self.code {
            "missing_token" => String::new(),
            "invalid_format" => r#", error="invalid_request""#.to_owned(),
            _ => {
                let description = quotable(&self.message);
                format!(r#", error="invalid_token", error_description="{description}""#)
            }
        };
        HeaderValue::try_from(format!(r#"Bearer realm="{realm}"{error}"#))
            .unwrap_or(HeaderValue::from_static("Bearer"))
    }

    /// The whole answer as bytes of HTTP/1.1, for connections that never became requests.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let body = self.body();
        let reason = self.status.canonical_reason().unwrap_or_default();
        let head = format!(
            "HTTP/1.1 {} {reason}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            self.status.as_u16(),
            body.len(),
        );
        [head.into_bytes(), body].concat()
    }
}

impl From<OutOfMemory> for HttpError {
    fn from(_: OutOfMemory) -> Self {
        Self::busy("too much memory is in use by requests under way")
    }
}

/// The body of every error.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub(crate) struct ErrorBody<'a> {
    /// What is wrong.
    error: ErrorReason<'a>,
    /// The id of the answer, to find it in logs.
    request_id: String,
}

/// What is wrong.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorReason")]
pub(crate) struct ErrorReason<'a> {
    /// A machine-readable code.
    code: &'a str,
    /// A human-readable message.
    message: &'a str,
    /// Machine-readable details, depending on the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    details: Option<&'a Value>,
}

/// A text for a quoted string in a header: what must not be there is left out.
fn quotable(text: &str) -> String {
    text.chars()
        .filter(|c| matches!(c, ' '..='~') && !matches!(c, '"' | '\\'))
        .collect()
}

/// A response with a JSON body.
pub(crate) fn json(status: StatusCode, body: Vec<u8>) -> Response {
    with_type(status, body, "application/json")
}

/// A response with a body of this type.
pub(crate) fn with_type(status: StatusCode, body: Vec<u8>, content_type: &'static str) -> Response {
    let mut response = Response::new(Answer::whole(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
