//! One connection to a receiver, kept as long as it holds: OTLP over HTTP/1.1, or gRPC.

use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use portcullis_core::clock;
use portcullis_net::header::{HeaderMap, HeaderValue, RETRY_AFTER, TE};
use portcullis_net::{Connection, Deadline, Error, HttpResponse, Request, StatusCode};

use crate::otlp;
use crate::settings::{Protocol, SignalSettings};

/// The most of an answer that is read.
const ANSWER: usize = 64 << 10;

/// Why a request was not taken.
#[derive(Debug)]
pub(crate) struct Failure {
    /// For the log; nothing of what the receiver wrote.
    pub(crate) problem: String,
    /// Whether it makes sense to try again.
    pub(crate) may_pass: bool,
    /// When, if the receiver says so.
    pub(crate) after: Option<Duration>,
}

impl Failure {
    fn passing(problem: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            may_pass: true,
            after: None,
        }
    }

    fn lasting(problem: impl Into<String>) -> Self {
        Self {
            may_pass: false,
            ..Self::passing(problem)
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Request(_) => Self::lasting(error.to_string()),
            other => Self::passing(other.to_string()),
        }
    }
}

/// Sends requests to one receiver.
#[derive(Debug)]
pub(crate) struct Transport {
    settings: SignalSettings,
    place: String,
    open: Option<Connection>,
}

impl Transport {
    pub(crate) fn new(settings: SignalSettings) -> Self {
        Self {
            place: settings.client.address().authority(),
            settings,
            open: None,
        }
    }

    /// Where it sends to, for the log.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Sends a request, and says how many of its items were rejected.
    pub(crate) async fn send(&mut self, request: &Bytes) -> Result<u64, Failure> {
        let deadline = Deadline::After(self.settings.timeout);
        let sent = deadline.bound(self.exchange(request)).await;
        let sent = sent.unwrap_or_else(|late| Err(Error::from(late).into()));
        if sent.is_err() {
            self.open = None;
        }
        sent
    }

    async fn exchange(&mut self, content: &Bytes) -> Result<u64, Failure> {
        let request = self.request(content);
        // A connection that was kept may have ended meanwhile; that is not the receiver's fault.
        let mut answered = None;
        if let Some(mut kept) = self.open.take()
            && kept.is_ready().await
            && let Ok(answer) = kept.send(&request).await
        {
            answered = Some((kept, answer));
        }
        let (connection, answer) = match answered {
            Some(answered) => answered,
            None => {
                let mut fresh = self.settings.client.connect().await?;
                let answer = fresh.send(&request).await?;
                (fresh, answer)
            }
        };
        let status = answer.status();
        let Ok(answer) = portcullis_net::read(answer, ANSWER).await else {
            // What can't be read to its end can't be asked again: the connection is gone.
            return match status.is_success() && self.settings.protocol == Protocol::Http {
                true => Ok(0),
                false => Err(Failure::passing("the response was incomplete")),
            };
        };
        self.open = Some(connection);
        judge(&answer, self.settings.protocol)
    }

    fn request(&self, content: &Bytes) -> Request {
        let settings = &self.settings;
        let mut request = match settings.protocol {
            Protocol::Http => Request::post("application/x-protobuf", content.clone()),
            Protocol::Grpc => Request::post("application/grpc", framed(content))
                .with_header(TE, HeaderValue::from_static("trailers")),
        };
        for (name, value) in &settings.headers {
            request = request.with_header(name.clone(), value.clone());
        }
        request
    }
}

/// How many items were rejected.
fn judge(answer: &HttpResponse, protocol: Protocol) -> Result<u64, Failure> {
    if !answer.status.is_success() {
        return Err(refused(answer.status, &answer.headers));
    }
    match protocol {
        Protocol::Http => Ok(otlp::rejected(&answer.body)),
        Protocol::Grpc => {
            let status = grpc_status(&answer.trailers).or_else(|| grpc_status(&answer.headers));
            grpc_outcome(status)?;
            // One byte that says how it is compressed, four of length.
            Ok(otlp::rejected(answer.body.get(5..).unwrap_or_default()))
        }
    }
}

/// A message as gRPC sends it: not compressed, its length, itself.
fn framed(content: &Bytes) -> Bytes {
    let mut frame = BytesMut::with_capacity(content.len() + 5);
    frame.put_u8(0);
    frame.put_u32(u32::try_from(content.len()).unwrap_or(u32::MAX));
    frame.put_slice(content);
    frame.freeze()
}

/// What a status other than success means.
fn refused(status: StatusCode, headers: &HeaderMap) -> Failure {
    let may_pass = matches!(status.as_u16(), 429 | 502 | 503 | 504);
    Failure {
        problem: format!("status {}", status.as_u16()),
        may_pass,
        after: headers
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok())
            .filter(|_| may_pass)
            .and_then(retry_after),
    }
}

/// In so many seconds, or at this time.
fn retry_after(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let time = httpdate::parse_http_date(text).ok()?;
    Some(time.duration_since(clock::wall()).unwrap_or_default())
}

fn grpc_status(headers: &HeaderMap) -> Option<u16> {
    headers.get("grpc-status")?.to_str().ok()?.parse().ok()
}

fn grpc_outcome(status: Option<u16>) -> Result<(), Failure> {
    match status {
        Some(0) => Ok(()),
        // Cancelled, deadline exceeded, resource exhausted, aborted, out of range, unavailable,
        // data loss: those that OTLP says may be tried again.
        Some(code @ (1 | 4 | 8 | 10 | 11 | 14 | 15)) => {
            Err(Failure::passing(format!("gRPC status {code}")))
        }
        Some(code) => Err(Failure::lasting(format!("gRPC status {code}"))),
        None => Err(Failure::lasting("not a gRPC response")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receivers_say_when_to_come_again() {
        assert_eq!(retry_after(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(
            retry_after("Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(Duration::ZERO)
        );
        assert!(retry_after("Fri, 31 Dec 9999 23:59:59 GMT") > Some(Duration::from_secs(1)));
        assert_eq!(retry_after("soon"), None);
    }

    #[test]
    fn some_refusals_pass() {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, "3".parse().unwrap());
        for status in [429, 502, 503, 504] {
            let failure = refused(StatusCode::from_u16(status).unwrap(), &headers);
            assert!(failure.may_pass);
            assert_eq!(failure.after, Some(Duration::from_secs(3)));
        }
        for status in [301, 400, 401, 404, 413, 500, 501] {
            assert!(!refused(StatusCode::from_u16(status).unwrap(), &headers).may_pass);
        }
        assert!(grpc_outcome(Some(0)).is_ok());
        assert!(grpc_outcome(Some(14)).unwrap_err().may_pass);
        assert!(!grpc_outcome(Some(16)).unwrap_err().may_pass);
        assert!(!grpc_outcome(None).unwrap_err().may_pass);
    }
}
