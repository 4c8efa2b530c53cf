//! Decisions of a running server, over its REST API.

use std::ops::ControlFlow;
use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_core::percent::encoded;
use portcullis_net::Backoff;
use portcullis_record::Summary;
use serde::de::DeserializeOwned;

use super::recent::Recent;
use super::{Batch, DecisionSource, Followed, Listed, PAGE, SourceError};
use crate::arguments::Filter;
use crate::client::{AT_ONCE, ApiRequest, Client, ClientError, ServerAccess};
use crate::exit::Exit;

const PATH: &str = "/api/v1/decisions";
/// How often a stream that breaks at once is opened again.
const TRIES: u32 = 6;
/// A stream that lasted so long was a good one.
const GOOD: Duration = Duration::from_secs(30);
/// The first and the longest pause before a stream is opened again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(8));

/// A running server.
#[derive(Debug)]
pub(super) struct ServerSource {
    client: Client,
}

impl ServerSource {
    pub(super) fn new(access: &ServerAccess) -> Result<Self, SourceError> {
        let client = Client::new(access)?;
        Ok(Self { client })
    }

    fn ids(&mut self, filter: &Filter) -> Result<Vec<String>, SourceError> {
        let mut ids = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = self.list(filter, after.as_deref(), PAGE)?;
            ids.extend(page.items.into_iter().map(|item| item.id));
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        ids.reverse();
        Ok(ids)
    }

    /// The last decisions, oldest first; a server may give fewer at once.
    fn newest(&mut self, filter: &Filter, count: usize) -> Result<Vec<Summary>, SourceError> {
        let mut items = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = self.list(filter, after.as_deref(), count - items.len())?;
            items.extend(page.items);
            after = page.next;
            if items.len() >= count || after.is_none() {
                break;
            }
        }
        items.truncate(count);
        items.reverse();
        Ok(items)
    }

    /// Follows one stream to its end; false when the caller has stopped.
    fn stream(
        &mut self,
        filter: &Filter,
        first: usize,
        recent: &mut Recent,
        has_begun: &mut bool,
        take: &mut dyn FnMut(Followed) -> ControlFlow<()>,
    ) -> Result<bool, SourceError> {
        // The stream comes first, so that nothing falls between it and the list.
        let path = format!("{PATH}/stream{}", query(filter, &[]));
        let mut events = self.client.events(path).map_err(not_served)?;
        let items = self.newest(filter, first)?;
        *has_begun = true;
        if take(Followed::Items(recent.only_missed(items))).is_break() {
            return Ok(false);
        }
        while let Some(event) = events.next()? {
            if !matches!(event.kind.as_str(), "" | "message" | "decision") {
                continue;
            }
            let item: Summary = read("decision", event.data.as_bytes())?;
            let items = recent.only_new(vec![item]);
            if !items.is_empty() && take(Followed::Items(items)).is_break() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl DecisionSource for ServerSource {
    fn list(
        &mut self,
        filter: &Filter,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Listed, SourceError> {
        let limit = limit.clamp(1, PAGE).to_string();
        let mut more = vec![("limit", limit.as_str())];
        more.extend(after.map(|after| ("after", after)));
        let question = ApiRequest::get(format!("{PATH}{}", query(filter, &more)));
        let answer = self.client.ask(question).map_err(not_served)?;
        let listed: Listed = read("list of decisions", &answer)?;
        if listed.next.is_some() && listed.next.as_deref() == after {
            let wrong = "the server returned the same page of the list twice";
            return Err(SourceError::new(Exit::Failed, wrong));
        }
        Ok(listed)
    }

    fn get(&mut self, id: &str) -> Result<Option<String>, SourceError> {
        match self.client.ask(whole(id)) {
            Ok(answer) => Ok(Some(line(&answer)?)),
            Err(ClientError::NotFound(_)) => {
                // Without an API, a missing decision means nothing.
                self.list(&Filter::default(), None, 1)?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn follow(
        &mut self,
        filter: &Filter,
        first: usize,
        take: &mut dyn FnMut(Followed) -> ControlFlow<()>,
    ) -> Result<(), SourceError> {
        let mut recent = Recent::default();
        let (mut failures, mut has_begun) = (0, false);
        let mut backoff = Backoff::new(PAUSES.0, PAUSES.1);
        loop {
            let lasted = Stopwatch::start();
            let first = if has_begun { PAGE } else { first };
            let why = match self.stream(filter, first, &mut recent, &mut has_begun, take) {
                Ok(false) => return Ok(()),
                Ok(true) => SourceError::new(Exit::Failed, "the server ended the stream"),
                // What fails at the very beginning, or will always fail, is reported at once.
                Err(error) if error.exit != Exit::Failed || !has_begun => return Err(error),
                Err(error) => error,
            };
            failures += 1;
            if lasted.elapsed() >= GOOD {
                failures = 1;
                backoff.reset();
            }
            if failures >= TRIES {
                return Err(why);
            }
            if take(Followed::Interrupted(why.to_string())).is_break() {
                return Ok(());
            }
            std::thread::sleep(backoff.pause());
        }
    }

    fn lines(
        &mut self,
        filter: &Filter,
        take: &mut dyn FnMut(Batch) -> ControlFlow<()>,
    ) -> Result<(), SourceError> {
        let ids = self.ids(filter)?;
        let total = u64::try_from(ids.len()).unwrap_or(u64::MAX);
        for some in ids.chunks(AT_ONCE * 4) {
            let questions = some.iter().map(|id| whole(id)).collect();
            let mut lines = Vec::with_capacity(some.len());
            for answer in self.client.ask_all(questions) {
                match answer {
                    Ok(answer) => lines.push(line(&answer)?),
                    // It grew too old meanwhile.
                    Err(ClientError::NotFound(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            if take(Batch { lines, total }).is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn whole(id: &str) -> ApiRequest {
    ApiRequest::get(format!("{PATH}/{}", encoded(id)))
}

/// A decision on one line: outside of its texts, which have none, line ends say nothing.
fn line(answer: &[u8]) -> Result<String, SourceError> {
    let text = std::str::from_utf8(answer)
        .map_err(|_| SourceError::new(Exit::Failed, "the server's answer is not valid text"))?;
    let text = text.trim();
    Ok(match text.contains(['\n', '\r']) {
        true => text.replace(['\n', '\r'], " "),
        false => text.to_owned(),
    })
}

fn read<T: DeserializeOwned>(what: &str, answer: &[u8]) -> Result<T, SourceError> {
    let read = serde_json::from_slice(answer);
    read.map_err(|error| ClientError::senseless(what, &error).into())
}

/// A server that knows nothing of decisions.
fn not_served(error: ClientError) -> SourceError {
    match error {
        ClientError::NotFound(text) => SourceError::new(
            Exit::Failed,
            format!("{text}: decisions are read on a listener that serves `api`"),
        ),
        other => other.into(),
    }
}

/// The filter as a query, and more.
fn query(filter: &Filter, more: &[(&str, &str)]) -> String {
    let text = |text: &Option<String>| text.clone();
    let all = [
        ("door", filter.door.map(|door| door.to_string())),
        ("verdict", filter.verdict.map(|v| v.as_str().to_owned())),
        ("user", text(&filter.user)),
        ("kind", text(&filter.kind)),
        ("namespace", text(&filter.namespace)),
        ("policy", text(&filter.policy)),
        ("since", filter.since.as_ref().map(|m| m.text.clone())),
        ("until", filter.until.as_ref().map(|m| m.text.clone())),
    ];
    let given = all.iter().filter_map(|(k, v)| Some((*k, v.as_deref()?)));
    let parts = given.chain(more.iter().copied());
    let parts: Vec<String> = parts
        .map(|(key, value)| format!("{key}={}", encoded(value)))
        .collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!("?{}", parts.join("&")),
    }
}
