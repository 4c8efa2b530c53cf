//! The client against small servers.

mod tls;

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderName, HeaderValue, USER_AGENT};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UnixListener};
use tokio::task::JoinHandle;

use super::*;
use crate::Deadline;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

/// Limits that no well-behaved server exceeds.
const LIMITS: Limits = Limits {
    deadline: Deadline::After(Duration::from_secs(30)),
    body: 100,
};

/// Reads a head and a body of that length, answers, and gives what was asked.
async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, answer: &str) -> String {
    let mut seen = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&seen);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let mut lines = head.lines();
            let length = lines.find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                break;
            }
        }
        match stream.read(&mut piece).await {
            Ok(count) if count > 0 => seen.extend_from_slice(&piece[..count]),
            _ => return String::new(),
        }
    }
    // A client that has enough goes away.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
    String::from_utf8(seen).unwrap()
}

/// Serves one connection over TCP; gives its port and what was asked.
async fn server(answer: impl Into<String>) -> (u16, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, answer) = (listener.local_addr().unwrap().port(), answer.into());
    let served = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        serve(stream, &answer).await
    });
    (port, served)
}

fn client(url: &str) -> Client {
    let address = Address::parse(url).unwrap();
    Client::new(address, Protocol::Http1, &Trust::system()).unwrap()
}

async fn exchange(url: &str, request: &Request) -> Result<HttpResponse, Error> {
    client(url).exchange(request, LIMITS).await
}

/// Why a server that answers so gives no answer.
async fn failure(answer: impl Into<String>) -> Error {
    let (port, _served) = server(answer).await;
    let url = format!("http://127.0.0.1:{port}");
    exchange(&url, &Request::get()).await.unwrap_err()
}

#[tokio::test]
async fn a_request_goes_out_with_its_headers_and_body() {
    let (port, served) = server(OK).await;
    let name = HeaderName::from_static("x-hub-signature-256");
    let request = Request::post("application/json", "{\"a\":1}")
        .with_header(name, HeaderValue::from_static("sha256=00"));
    let url = format!("http://127.0.0.1:{port}/hook?x=1");
    let answer = exchange(&url, &request).await.unwrap();
    assert_eq!(
        (answer.status, &answer.body[..]),
        (StatusCode::OK, &b"{}"[..])
    );
    let asked = served.await.unwrap();
    assert!(asked.starts_with("POST /hook?x=1 HTTP/1.1\r\n"), "{asked}");
    let version = env!("CARGO_PKG_VERSION");
    for line in [
        "content-type: application/json".to_owned(),
        "x-hub-signature-256: sha256=00".to_owned(),
        format!("host: 127.0.0.1:{port}"),
        format!("user-agent: portcullis/{version}"),
    ] {
        assert!(asked.contains(&format!("\r\n{line}\r\n")), "{asked}");
    }
    assert!(asked.ends_with("\r\n\r\n{\"a\":1}"), "{asked}");
}

#[tokio::test]
async fn a_request_may_have_its_own_path_and_host() {
    let (port, served) = server(OK).await;
    let request = Request::get()
        .with_path("/other")
        .with_header(HOST, HeaderValue::from_static("unix"))
        .with_header(USER_AGENT, HeaderValue::from_static("x"));
    let url = format!("http://127.0.0.1:{port}/hook");
    exchange(&url, &request).await.unwrap();
    let asked = served.await.unwrap();
    assert!(asked.starts_with("GET /other HTTP/1.1\r\n"), "{asked}");
    assert_eq!(asked.matches("host: ").count(), 1, "{asked}");
    assert!(asked.contains("host: unix\r\n"), "{asked}");
    assert!(asked.contains("user-agent: x\r\n"), "{asked}");
    let odd = Request::get().with_path("/a b");
    let (port, _served) = server(OK).await;
    let refused = exchange(&format!("http://127.0.0.1:{port}"), &odd).await;
    assert!(matches!(refused, Err(Error::Request(_))), "{refused:?}");
}

#[tokio::test]
async fn redirects_are_answers_and_nothing_is_decompressed() {
    let head = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Encoding: gzip\r\n";
    let (port, _served) = server(format!("{head}Content-Length: 1\r\n\r\nx")).await;
    let answer = exchange(&format!("http://localhost:{port}"), &Request::get()).await;
    let answer = answer.unwrap();
    assert_eq!(
        (answer.status, &answer.body[..]),
        (StatusCode::FOUND, &b"x"[..])
    );
}

#[tokio::test]
async fn answers_have_limits() {
    let most = format!("Content-Length: 100\r\n\r\n{}", "x".repeat(100));
    let (port, _served) = server(format!("HTTP/1.1 200 OK\r\n{most}")).await;
    let url = format!("http://127.0.0.1:{port}");
    assert_eq!(
        exchange(&url, &Request::get()).await.unwrap().body.len(),
        100
    );
    for large in [
        format!("Content-Length: 101\r\n\r\n{}", "x".repeat(101)),
        format!("\r\n{}", "x".repeat(10_000)),
    ] {
        let error = failure(format!("HTTP/1.1 200 OK\r\n{large}")).await;
        assert_eq!(error.to_string(), "the answer has more than 100 bytes");
    }
    let head = format!("X: {}\r\n", "x".repeat(300_000));
    let many = "X: x\r\n".repeat(129);
    for head in [head, many] {
        let error = failure(format!(
            "HTTP/1.1 200 OK\r\n{head}Content-Length: 0\r\n\r\n"
        ))
        .await;
        assert!(matches!(error, Error::Exchange(_)), "{error}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_none() {
    for answer in [
        "",
        "SSH-2.0-OpenSSH\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nx",
    ] {
        let error = failure(answer).await;
        assert!(error.to_string().starts_with("request failed: "), "{error}");
        assert_eq!(
            error.is_without_http(),
            answer.starts_with("SSH"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn who_never_answers_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = client(&format!("http://{}", listener.local_addr().unwrap()));
    let short = Duration::from_millis(10);
    for (deadline, text) in [
        (Deadline::After(short), "no answer within 10ms"),
        (
            Deadline::At((tokio::time::Instant::now() + short).into_std()),
            "no answer before the deadline",
        ),
    ] {
        let limits = Limits { deadline, ..LIMITS };
        let late = client.exchange(&Request::get(), limits).await;
        assert_eq!(late.unwrap_err().to_string(), text);
    }
}

#[tokio::test]
async fn over_a_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.sock");
    let url = format!("unix://{}", path.display());
    let error = exchange(&url, &Request::get()).await.unwrap_err();
    assert!(error.to_string().starts_with("can't connect: "), "{error}");
    let listener = UnixListener::bind(&path).unwrap();
    let served = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        serve(stream, OK).await
    });
    assert_eq!(exchange(&url, &Request::get()).await.unwrap().body, "{}");
    let asked = served.await.unwrap();
    assert!(asked.starts_with("GET / HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains("host: localhost\r\n"), "{asked}");
}

#[tokio::test]
async fn a_client_of_the_public_internet_connects_to_nothing_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.sock");
    let _socket = UnixListener::bind(&path).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    for url in [
        format!("http://127.0.0.1:{port}"),
        format!("http://localhost:{port}"),
        format!("http://[::ffff:127.0.0.1]:{port}"),
        format!("unix://{}", path.display()),
    ] {
        let client = client(&url).public_only();
        let refused = client.exchange(&Request::get(), LIMITS).await;
        assert!(
            matches!(refused, Err(Error::NotPublic)),
            "{url}: {refused:?}"
        );
    }
    let came = tokio::time::timeout(Duration::ZERO, listener.accept()).await;
    assert!(came.is_err(), "it was connected to");
}

#[tokio::test]
async fn an_answer_comes_in_pieces() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let (port, _served) = server(format!("{head}1\r\na\r\n2\r\nbc\r\n0\r\n\r\n")).await;
    let mut connection = client(&format!("http://127.0.0.1:{port}"))
        .connect()
        .await
        .unwrap();
    assert!(connection.is_ready().await);
    let response = connection.send(&Request::get()).await.unwrap();
    let mut pieces = Pieces::new(response, connection);
    let mut all = Vec::new();
    while let Some(piece) = pieces.next(Duration::from_secs(30)).await.unwrap() {
        all.extend_from_slice(&piece);
    }
    assert_eq!(all, b"abc");
}

#[tokio::test]
async fn a_stream_that_falls_silent_or_breaks_off_is_noticed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = client(&format!("http://{}", listener.local_addr().unwrap()));
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n";
        stream.write_all(head).await.unwrap();
        stream
    });
    let mut connection = client.connect().await.unwrap();
    let response = connection.send(&Request::get()).await.unwrap();
    let mut pieces = Pieces::new(response, connection);
    let first = pieces.next(Duration::from_secs(30)).await.unwrap();
    assert_eq!(first.as_deref(), Some(&b"a"[..]));
    let silent = pieces.next(Duration::from_millis(10)).await;
    assert_eq!(silent.unwrap_err().to_string(), "no data for 10ms");
    drop(served.await.unwrap());
    let broken = pieces.next(Duration::from_secs(30)).await;
    assert!(matches!(broken, Err(Error::Exchange(_))), "{broken:?}");
}

#[tokio::test]
async fn http2_has_trailers() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let answer = service_fn(|request: hyper::Request<Incoming>| async move {
            let seen = format!("{} {}", request.method(), request.uri());
            let trailers = async { Some(Ok([("grpc-status", "7")].iter().map(header).collect())) };
            let body = Full::new(Bytes::from(seen)).with_trailers(trailers);
            Ok::<_, std::convert::Infallible>(hyper::Response::new(body))
        });
        let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        let _ = server.serve_connection(TokioIo::new(stream), answer).await;
    });
    let url = Address::parse(&format!("http://{address}/x")).unwrap();
    let client = Client::new(url, Protocol::Http2, &Trust::system()).unwrap();
    let mut connection = client.connect().await.unwrap();
    for path in ["/first", "/second"] {
        let request = Request::post("application/grpc", "x").with_path(path);
        let response = connection.send(&request).await.unwrap();
        let answer = read(response, 100).await.unwrap();
        assert_eq!(answer.body, format!("POST http://{address}{path}"));
        assert_eq!(answer.trailers["grpc-status"], "7");
    }
}

fn header((name, value): &(&'static str, &'static str)) -> (HeaderName, HeaderValue) {
    (
        HeaderName::from_static(name),
        HeaderValue::from_static(value),
    )
}

#[tokio::test]
async fn secrets_are_not_shown() {
    let mut value = HeaderValue::from_static("Bearer geheim");
    value.set_sensitive(true);
    let request = Request::post("text/plain", "geheim").with_header(HOST, value);
    assert!(!format!("{request:?}").contains("geheim"));
}
