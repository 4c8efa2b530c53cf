//! A small server that speaks of decisions as the REST API does.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use super::summary;
use crate::harness::{PATIENCE, Pki};

/// The server; its threads end with the process.
pub(super) struct Api {
    pub(super) url: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    told: Mutex<Told>,
    changed: Condvar,
}

#[derive(Default)]
struct Told {
    /// Whole decisions, oldest first.
    lines: Vec<String>,
    /// What was asked for: method and path.
    asked: Vec<String>,
    /// Answered to everybody.
    refusal: Option<(u16, String)>,
    /// Raised to end every stream.
    ended: usize,
    /// How many streams are open.
    streams: usize,
    /// How many connections there were.
    connections: usize,
}

const TOKEN: &str = "geheim";
/// The most that is given at once.
const CAP: usize = 3;

impl Api {
    pub(super) fn http(lines: &[String]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let accept = move || listener.accept().map(|(stream, _)| stream);
        Self::start(url, lines, accept, |stream: TcpStream| Ok(stream), true)
    }

    pub(super) fn https(pki: &Pki, lines: &[String]) -> Self {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let chain = vec![pki.server.certificate.clone()];
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, pki.server.key.clone_key())
            .unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("https://{}/below", listener.local_addr().unwrap());
        let accept = move || listener.accept().map(|(stream, _)| stream);
        let open = move |stream: TcpStream| {
            let session = ServerConnection::new(Arc::clone(&config)).map_err(io::Error::other)?;
            Ok(StreamOwned::new(session, stream))
        };
        Self::start(url, lines, accept, open, true)
    }

    pub(super) fn unix(path: &Path, lines: &[String]) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        let url = format!("unix://{}", path.display());
        let accept = move || listener.accept().map(|(stream, _)| stream);
        Self::start(url, lines, accept, |stream: UnixStream| Ok(stream), false)
    }

    fn start<Raw: Send + 'static, Stream: Read + Write>(
        url: String,
        lines: &[String],
        accept: impl Fn() -> io::Result<Raw> + Send + 'static,
        open: impl Fn(Raw) -> io::Result<Stream> + Send + Sync + 'static,
        wants_token: bool,
    ) -> Self {
        let state = Arc::new(State::default());
        state.told.lock().unwrap().lines = lines.to_vec();
        let (all, open) = (Arc::clone(&state), Arc::new(open));
        std::thread::spawn(move || {
            while let Ok(raw) = accept() {
                let (one, open) = (Arc::clone(&all), Arc::clone(&open));
                one.told.lock().unwrap().connections += 1;
                std::thread::spawn(move || open(raw).and_then(|s| one.serve(s, wants_token)));
            }
        });
        Self { url, state }
    }

    /// What was asked for so far.
    pub(super) fn asked(&self) -> Vec<String> {
        self.state.told.lock().unwrap().asked.clone()
    }

    /// How many connections there were.
    pub(super) fn connections(&self) -> usize {
        self.state.told.lock().unwrap().connections
    }

    /// Something new was decided.
    pub(super) fn decide(&self, line: &str) {
        self.state.told.lock().unwrap().lines.push(line.to_owned());
        self.state.changed.notify_all();
    }

    /// Answers everything like this from now on.
    pub(super) fn refuse(&self, status: u16, body: &str) {
        self.state.told.lock().unwrap().refusal = Some((status, body.to_owned()));
    }

    /// Breaks all streams off.
    pub(super) fn break_streams(&self) {
        self.state.told.lock().unwrap().ended += 1;
        self.state.changed.notify_all();
    }

    /// How many streams are open.
    pub(super) fn streams(&self) -> usize {
        self.state.told.lock().unwrap().streams
    }
}

impl State {
    /// Answers one request after the other.
    fn serve(&self, stream: impl Read + Write, wants_token: bool) -> io::Result<()> {
        let mut stream = BufReader::new(stream);
        loop {
            let (mut first, mut line, mut token) = (String::new(), String::new(), None);
            if stream.read_line(&mut first)? == 0 {
                return Ok(());
            }
            loop {
                line.clear();
                if stream.read_line(&mut line)? == 0 || line.trim().is_empty() {
                    break;
                }
                if let Some((name, value)) = line.split_once(':')
                    && name.eq_ignore_ascii_case("authorization")
                {
                    token = value.trim().strip_prefix("Bearer ").map(str::to_owned);
                }
            }
            let path = first.split(' ').nth(1).unwrap_or_default();
            let path = path.strip_prefix("/below").unwrap_or(path);
            let is_known = !wants_token || token.as_deref() == Some(TOKEN);
            let out = stream.get_mut();
            let is_stream = path.starts_with("/api/v1/decisions/stream");
            let (status, body) = self.answer(path, is_known);
            if status == 200 && is_stream {
                return self.stream(out);
            }
            let length = body.len();
            let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n\r\n{body}");
            out.write_all(answer.as_bytes())?;
            out.flush()?;
        }
    }

    fn answer(&self, path: &str, is_known: bool) -> (u16, String) {
        let mut told = self.told.lock().unwrap();
        told.asked.push(path.to_owned());
        if let Some(refusal) = &told.refusal {
            return refusal.clone();
        }
        if !is_known {
            return wrong(401, "missing_token", "a token is needed");
        }
        let Some(rest) = path.strip_prefix("/api/v1/decisions") else {
            return wrong(404, "not_found", "no such path");
        };
        if let Some(id) = rest.strip_prefix('/') {
            let found = told.lines.iter().find(|line| summary(line).id == id);
            return match found {
                Some(line) => (200, format!("{line}\n")),
                None if id.starts_with("stream") => (200, String::new()),
                None => wrong(404, "not_found", "no such decision"),
            };
        }
        let query = |name: &str| {
            let pairs = rest.strip_prefix('?')?.split('&');
            let mut pairs = pairs.filter_map(|pair| pair.split_once('='));
            pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
        };
        let fits = |item: &&Value| {
            query("after").is_none_or(|after| item["id"].as_str().unwrap() < after)
                && query("verdict").is_none_or(|verdict| item["verdict"] == verdict)
        };
        let all: Vec<Value> = told
            .lines
            .iter()
            .rev()
            .map(|line| serde_json::to_value(summary(line)).unwrap())
            .collect();
        let fitting: Vec<&Value> = all.iter().filter(fits).collect();
        let limit: usize = query("limit").unwrap().parse().unwrap();
        let items = &fitting[..limit.min(CAP).min(fitting.len())];
        let next = items.last().filter(|_| items.len() < fitting.len());
        let next = next.map_or(Value::Null, |last| last["id"].clone());
        (200, json!({"items": items, "next": next}).to_string())
    }

    /// Tells what is decided from now on.
    fn stream(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n\n")?;
        out.flush()?;
        let mut told = self.told.lock().unwrap();
        told.streams += 1;
        let (mut sent, ended) = (told.lines.len(), told.ended);
        loop {
            let waited = self.changed.wait_timeout_while(told, PATIENCE, |told| {
                told.lines.len() == sent && told.ended == ended
            });
            told = waited.unwrap().0;
            if told.ended != ended {
                told.streams -= 1;
                return Ok(());
            }
            for line in &told.lines[sent..] {
                let item = summary(line);
                let data = serde_json::to_string(&item).unwrap();
                let event = format!("event: decision\nid: {}\ndata: {data}\n\n", item.id);
                out.write_all(event.as_bytes())?;
            }
            out.write_all(b": keep-alive\n\n")?;
            out.flush()?;
            sent = told.lines.len();
        }
    }
}

fn wrong(status: u16, code: &str, message: &str) -> (u16, String) {
    let body = json!({"error": {"code": code, "message": message}, "request_id": "01A"});
    (status, body.to_string())
}
