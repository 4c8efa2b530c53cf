//! One connection to a receiver, kept as long as it holds: OTLP over HTTP/1.1, or gRPC.

use std::error::Error;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, RETRY_AFTER, TE, USER_AGENT};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use portcullis_core::clock;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

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

/// Sends requests to one receiver.
#[derive(Debug)]
pub(crate) struct Transport {
    settings: SignalSettings,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    sender: Sender,
    /// Ends with the connection.
    _driver: JoinSet<()>,
}

#[derive(Debug)]
enum Sender {
    Http(http1::SendRequest<Full<Bytes>>),
    Grpc(http2::SendRequest<Full<Bytes>>),
}

impl Transport {
    pub(crate) fn new(settings: SignalSettings) -> Self {
        Self {
            settings,
            open: None,
        }
    }

    /// Where it sends to, for the log.
    pub(crate) fn place(&self) -> &str {
        &self.settings.endpoint.authority
    }

    /// Sends a request, and says how many of its items were refused.
    pub(crate) async fn send(&mut self, request: &Bytes) -> Result<u64, Failure> {
        let limit = self.settings.timeout;
        let sent = timeout(limit, self.exchange(request)).await;
        let sent = sent.unwrap_or_else(|_| Err(Failure::passing("no answer in time")));
        if sent.is_err() {
            self.open = None;
        }
        sent
    }

    async fn exchange(&mut self, request: &Bytes) -> Result<u64, Failure> {
        // A connection that was kept may have ended meanwhile; that is not the receiver's fault.
        if let Some(mut kept) = self.open.take()
            && kept.sender.is_ready().await
            && let Ok(answer) = kept.sender.ask(self.request(request)?).await
        {
            self.open = Some(kept);
            return self.judge(answer).await;
        }
        let mut fresh = self.connect().await.map_err(Failure::passing)?;
        let answer = fresh.sender.ask(self.request(request)?).await;
        let answer = answer.map_err(|error| Failure::passing(with_cause(&error)))?;
        self.open = Some(fresh);
        self.judge(answer).await
    }

    fn request(&self, content: &Bytes) -> Result<Request<Full<Bytes>>, Failure> {
        let settings = &self.settings;
        let endpoint = &settings.endpoint;
        let mut request = Request::builder().method(Method::POST).header(
            USER_AGENT,
            concat!("portcullis/", env!("CARGO_PKG_VERSION")),
        );
        request = match settings.protocol {
            Protocol::Http => request
                .uri(&endpoint.path)
                .header(HOST, &endpoint.authority)
                .header(CONTENT_TYPE, "application/x-protobuf"),
            Protocol::Grpc => {
                let scheme = if endpoint.is_secure { "https" } else { "http" };
                request
                    .uri(format!(
                        "{scheme}://{}{}",
                        endpoint.authority, endpoint.path
                    ))
                    .header(TE, "trailers")
                    .header(CONTENT_TYPE, "application/grpc")
            }
        };
        for (name, value) in &settings.headers {
            request = request.header(name, value);
        }
        let body = match settings.protocol {
            Protocol::Http => content.clone(),
            Protocol::Grpc => framed(content),
        };
        let request = request.body(Full::new(body));
        request.map_err(|_| Failure::lasting("the address can't be asked for"))
    }

    async fn connect(&self) -> Result<Open, String> {
        let endpoint = &self.settings.endpoint;
        let stream = TcpStream::connect((endpoint.host.as_str(), endpoint.port)).await;
        let stream = stream.map_err(|error| format!("can't connect: {error}"))?;
        let _ = stream.set_nodelay(true);
        let Some(trust) = &self.settings.trust else {
            return self.shake_hands(stream).await;
        };
        let name = ServerName::try_from(endpoint.host.clone())
            .map_err(|_| "no certificate can be for this name".to_owned())?;
        let connector = TlsConnector::from(std::sync::Arc::clone(trust));
        let stream = connector.connect(name, stream).await;
        let stream = stream.map_err(|error| format!("TLS failed: {error}"))?;
        self.shake_hands(stream).await
    }

    async fn shake_hands(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Result<Open, String> {
        let stream = TokioIo::new(stream);
        let mut driver = JoinSet::new();
        let sender = match self.settings.protocol {
            Protocol::Http => {
                let made = http1::handshake(stream).await;
                let (sender, connection) = made.map_err(|error| with_cause(&error))?;
                driver.spawn(async move {
                    let _ = connection.await;
                });
                Sender::Http(sender)
            }
            Protocol::Grpc => {
                let made = http2::handshake(TokioExecutor::new(), stream).await;
                let (sender, connection) = made.map_err(|error| with_cause(&error))?;
                driver.spawn(async move {
                    let _ = connection.await;
                });
                Sender::Grpc(sender)
            }
        };
        Ok(Open {
            sender,
            _driver: driver,
        })
    }

    async fn judge(&mut self, answer: Response<Incoming>) -> Result<u64, Failure> {
        let (head, body) = answer.into_parts();
        let Ok(collected) = Limited::new(body, ANSWER).collect().await else {
            // What can't be read to its end can't be asked again.
            self.open = None;
            return match head.status.is_success() && self.settings.protocol == Protocol::Http {
                true => Ok(0),
                false => Err(Failure::passing("the answer broke off")),
            };
        };
        if !head.status.is_success() {
            return Err(refused(head.status, &head.headers));
        }
        match self.settings.protocol {
            Protocol::Http => Ok(otlp::rejected(&collected.to_bytes())),
            Protocol::Grpc => {
                let status = collected
                    .trailers()
                    .and_then(grpc_status)
                    .or_else(|| grpc_status(&head.headers));
                grpc_outcome(status)?;
                // One byte that says how it is compressed, four of length.
                let body = collected.to_bytes();
                Ok(otlp::rejected(body.get(5..).unwrap_or_default()))
            }
        }
    }
}

impl Sender {
    async fn is_ready(&mut self) -> bool {
        match self {
            Self::Http(sender) => sender.ready().await.is_ok(),
            Self::Grpc(sender) => sender.ready().await.is_ok(),
        }
    }

    async fn ask(&mut self, request: Request<Full<Bytes>>) -> hyper::Result<Response<Incoming>> {
        match self {
            Self::Http(sender) => sender.send_request(request).await,
            Self::Grpc(sender) => sender.send_request(request).await,
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
        None => Err(Failure::lasting("the answer is not one of gRPC")),
    }
}

/// An error with what caused it.
fn with_cause(error: &(dyn Error + 'static)) -> String {
    match error.source() {
        Some(cause) => format!("the exchange failed: {error}: {cause}"),
        None => format!("the exchange failed: {error}"),
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
