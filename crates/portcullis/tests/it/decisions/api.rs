//! A small server that returns decisions as the REST API does.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};

use portcullis_testing::{Reply, Request, Server};
use serde_json::{Value, json};

use super::summary;
use crate::harness::{PATIENCE, Pki};

/// The server.
pub(super) struct Api {
    pub(super) url: String,
    server: Server,
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
}

const TOKEN: &str = "geheim";
/// The most that is given at once.
const CAP: usize = 3;

impl Api {
    pub(super) fn http(lines: &[String]) -> Self {
        Self::start(lines, true, |state| Server::http(state))
    }

    pub(super) fn https(pki: &Pki, lines: &[String]) -> Self {
        let mut api = Self::start(lines, true, |state| Server::https(&pki.server, state));
        api.url.push_str("/below");
        api
    }

    pub(super) fn unix(path: &Path, lines: &[String]) -> Self {
        Self::start(lines, false, |state| Server::unix(path, state))
    }

    fn start(
        lines: &[String],
        wants_token: bool,
        serve: impl FnOnce(Box<dyn Fn(&Request) -> Reply + Send + Sync>) -> Server,
    ) -> Self {
        let state = Arc::new(State::default());
        state.told.lock().unwrap().lines = lines.to_vec();
        let answering = Arc::clone(&state);
        let server = serve(Box::new(move |request| {
            let path = request.target();
            let path = path.strip_prefix("/below").unwrap_or(path);
            let is_known = !wants_token || request.token() == Some(TOKEN);
            let (status, body) = answering.answer(path, is_known);
            if status == 200 && path.starts_with("/api/v1/decisions/stream") {
                let state = Arc::clone(&answering);
                return Reply::Stream(Arc::new(move |out| state.stream(out)));
            }
            Reply::Status(status, "", body)
        }));
        Self {
            url: server.url(),
            server,
            state,
        }
    }

    /// What was asked for so far.
    pub(super) fn asked(&self) -> Vec<String> {
        self.state.told.lock().unwrap().asked.clone()
    }

    /// How many connections there were.
    pub(super) fn connections(&self) -> usize {
        self.server.connections()
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
    fn stream(&self, out: &mut dyn Write) -> io::Result<()> {
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
