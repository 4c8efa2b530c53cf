//! Signing in with a browser on this machine, which comes back to a port of loopback (RFC 8252).
//!
//! The listener answers what the browser brings back, once, with a plain page. What comes to other paths is not found,
//! and what doesn't belong to this sign-in ends it.

use std::time::Duration;

use portcullis_authn::{BrowserSignIn, LoginError, TerminalLogin, Tokens};
use portcullis_core::clock::wall;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{timeout, timeout_at};

use super::refused::failed;
use crate::commands::failure::Failure;
use crate::exit::Exit;
use crate::output;

/// The path that the browser comes back to.
const PATH: &str = "/callback";
/// Longer heads are not those of a browser.
const LARGEST_HEAD: usize = 32 << 10;
/// How long one request may take to arrive.
const ONE_REQUEST: Duration = Duration::from_secs(5);

/// Prints the address, opens a browser, and waits until it comes back.
pub(super) async fn sign_in(
    client: &TerminalLogin,
    opens_browser: bool,
    patience: Duration,
) -> Result<Tokens, Failure> {
    let cannot = |error: std::io::Error| {
        let why = output::reason(&error);
        Failure::new(Exit::Failed, format!("cannot listen on loopback: {why}"))
    };
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(cannot)?;
    let host = listener.local_addr().map_err(cannot)?.to_string();
    let begun = client
        .begin_in_browser(&format!("http://{host}{PATH}"), wall())
        .await;
    let begun = begun.map_err(|error| failed(&error))?;
    // Without it nobody could sign in, so that --quiet doesn't leave it out.
    output::tell(&format!(
        "To sign in, open this address in a browser on this machine:\n\n    {}\n",
        begun.location
    ));
    if opens_browser && let Err(why) = crate::browser::open(&begun.location) {
        output::tell(&format!("warning: cannot open a browser: {why}"));
    }
    let deadline = tokio::time::Instant::now() + patience;
    let waited = timeout_at(deadline, answered(&listener, &host, client, &begun)).await;
    waited.unwrap_or_else(|_| {
        let message = "the browser did not come back in time: sign in again, or use --device";
        Err(Failure::new(Exit::NotSignedIn, message))
    })
}

/// Waits for the browser, and answers it.
async fn answered(
    listener: &TcpListener,
    host: &str,
    client: &TerminalLogin,
    begun: &BrowserSignIn,
) -> Result<Tokens, Failure> {
    loop {
        let Ok((mut stream, _)) = listener.accept().await else {
            continue;
        };
        let Ok(Some(head)) = timeout(ONE_REQUEST, head(&mut stream)).await else {
            continue;
        };
        match asked(&head, host) {
            Asked::Callback(query) => {
                let finished = client.finish_in_browser(begun, query, wall()).await;
                reply(&mut stream, &finished).await;
                return finished.map_err(|error| failed(&error));
            }
            Asked::Other(status) => send(&mut stream, status, "Not found").await,
        }
    }
}

/// What a request is for.
#[derive(Debug, PartialEq, Eq)]
enum Asked<'a> {
    /// The end of the sign-in, with this query.
    Callback(&'a str),
    /// Something else; it is answered with this status.
    Other(&'static str),
}

/// A page of another name that leads here is not the provider's doing.
fn asked<'a>(head: &'a str, host: &str) -> Asked<'a> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let named = lines.filter_map(|line| line.split_once(':'));
    let mut hosts = named.filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    let is_ours =
        hosts.next().is_some_and(|(_, value)| value.trim() == host) && hosts.next().is_none();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    match (method, path) {
        _ if !is_ours => Asked::Other("400 Bad Request"),
        ("GET", PATH) => Asked::Callback(query),
        (_, PATH) => Asked::Other("405 Method Not Allowed"),
        _ => Asked::Other("404 Not Found"),
    }
}

/// The head of a request; nothing if it can't be one.
async fn head(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let count = stream.read(&mut piece).await.ok()?;
        bytes.extend_from_slice(piece.get(..count)?);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            bytes.truncate(end);
            return String::from_utf8(bytes).ok();
        }
        if count == 0 || bytes.len() > LARGEST_HEAD {
            return None;
        }
    }
}

async fn reply(stream: &mut TcpStream, finished: &Result<Tokens, LoginError>) {
    let (status, text) = match finished {
        Ok(_) => (
            "200 OK",
            "You are signed in. You can close this page and go back to the terminal.",
        ),
        Err(_) => ("400 Bad Request", "Sign-in failed. The terminal says why."),
    };
    send(stream, status, text).await;
}

/// A plain page, of which nothing comes from the request.
async fn send(stream: &mut TcpStream, status: &str, text: &str) {
    let length = text.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\
         Connection: close\r\n\r\n{text}"
    );
    // The browser may be gone: the terminal says how it ended.
    let sent = timeout(ONE_REQUEST, async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    });
    let _ = sent.await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_way_back_is_taken() {
        let host = "127.0.0.1:4711";
        let ask = |first: &str, host_line: &str| {
            let head = format!("{first} HTTP/1.1\r\n{host_line}\r\nAccept: */*");
            match asked(&head, host) {
                Asked::Callback(query) => query.to_owned(),
                Asked::Other(status) => status.split(' ').next().unwrap().to_owned(),
            }
        };
        let ours = "Host: 127.0.0.1:4711";
        assert_eq!(ask("GET /callback?code=a&state=b", ours), "code=a&state=b");
        assert_eq!(ask("GET /callback", "hOST:127.0.0.1:4711"), "");
        assert_eq!(ask("POST /callback?code=a", ours), "405");
        assert_eq!(ask("GET /favicon.ico", ours), "404");
        assert_eq!(ask("GET /callback?code=a", "Host: evil.example"), "400");
        assert_eq!(ask("GET /callback?code=a", "X: y"), "400");
        assert_eq!(
            ask("GET /callback?code=a", &format!("{ours}\r\n{ours}")),
            "400"
        );
        assert_eq!(ask("", ours), "404");
    }
}
