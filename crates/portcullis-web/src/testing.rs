//! A server for tests of pages: it answers what it is told, and refuses what it is told.

use std::collections::BTreeMap;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use serde_json::Value;

use crate::backend::{Backend, Pending, Person, Place, Problem, Verb};
use crate::request::Reply;
use crate::router::{Found, find};

/// Answers by path and query; what is not told is not found.
#[derive(Debug)]
pub(crate) struct Fake {
    person: Person,
    answers: BTreeMap<String, Result<Value, Problem>>,
    refused: Vec<String>,
}

impl Fake {
    /// Knows nothing, and allows everything.
    pub(crate) fn new() -> Self {
        Self {
            person: Person {
                name: "ann".to_owned(),
                csrf: "csrf-1".to_owned(),
                can_sign_out: true,
            },
            answers: BTreeMap::new(),
            refused: Vec::new(),
        }
    }

    /// Answers this at a path with its query.
    pub(crate) fn on(mut self, path: &str, answer: Value) -> Self {
        self.answers.insert(path.to_owned(), Ok(answer));
        self
    }

    /// Answers with an error there.
    pub(crate) fn fails(mut self, path: &str, status: u16, message: &str) -> Self {
        let message = message.to_owned();
        let problem = Problem { status, message };
        self.answers.insert(path.to_owned(), Err(problem));
        self
    }

    /// Refuses what needs this permission.
    pub(crate) fn refuses(mut self, permission: &str) -> Self {
        self.refused.push(permission.to_owned());
        self
    }

    /// The page at a path with its query, which has this status.
    #[track_caller]
    pub(crate) fn page(&self, path: &str, status: u16) -> String {
        let (bare, query) = path.split_once('?').unwrap_or((path, ""));
        let Found::Page(page) = find(bare, false) else {
            panic!("no page at {bare}");
        };
        let answer = now(page.answer(self, (bare, query), Vec::new()));
        match answer {
            Reply::Page { status: got, html } => {
                assert_eq!(got, status, "{html}");
                html
            }
            Reply::SeeOther(to) => panic!("leads to {to}"),
        }
    }
}

impl Backend for Fake {
    fn person(&self) -> &Person {
        &self.person
    }

    fn call<'a>(
        &'a self,
        _: Verb,
        path: &'a str,
        _: Option<Value>,
    ) -> Pending<'a, Result<Value, Problem>> {
        let answer = self.answers.get(path).cloned();
        let answer = answer.unwrap_or_else(|| Err(Problem::not_found(format!("no {path}"))));
        Box::pin(std::future::ready(answer))
    }

    fn refusal(&self, permission: &str, _: Place<'_>) -> Option<String> {
        let is_refused = self.refused.iter().any(|one| one == permission);
        is_refused.then(|| format!("none of your roles here permits `{permission}`"))
    }

    fn has_playground(&self) -> bool {
        false
    }
}

/// The result of something that never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a fake never waits"),
    }
}

#[test]
fn only_what_is_refused_is_refused() {
    let fake = Fake::new().refuses("read-graph");
    assert!(fake.refusal("read-graph", Place::Root).is_some());
    assert_eq!(fake.refusal("read", Place::Root), None);
}
