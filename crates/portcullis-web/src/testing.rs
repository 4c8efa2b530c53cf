//! A server of tests: it answers from JSON, and remembers what it was asked.

use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use serde_json::Value;

use crate::backend::{Backend, Pending, Person, Place, Problem, Verb};
use crate::reply::Reply;
use crate::router::{Found, find};

/// A call that changes something: method, path and body.
type Call = (Verb, String, Value);

/// The server.
pub(crate) struct Fake {
    person: Person,
    answers: Vec<(Verb, String, Result<Value, Problem>)>,
    refused: Vec<&'static str>,
    has_playground: bool,
    changes: Mutex<Vec<Call>>,
}

impl Fake {
    /// One that knows nothing, and permits everything.
    pub(crate) fn new() -> Self {
        Self {
            person: Person {
                name: "ada".to_owned(),
                csrf: "token-of-the-session".to_owned(),
                can_sign_out: true,
            },
            answers: Vec::new(),
            refused: Vec::new(),
            has_playground: false,
            changes: Mutex::default(),
        }
    }

    /// The same with something to read.
    pub(crate) fn with(self, path: &str, answer: Value) -> Self {
        self.answering(Verb::Get, path, Ok(answer))
    }

    /// The same, which knows besides what another one does. What is known already stays.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.answers.extend(other.answers);
        self
    }

    /// The same with an answer.
    pub(crate) fn answering(
        mut self,
        verb: Verb,
        path: &str,
        answer: Result<Value, Problem>,
    ) -> Self {
        self.answers.push((verb, path.to_owned(), answer));
        self
    }

    /// The same with an error there.
    pub(crate) fn failing(self, path: &str, status: u16, message: &str) -> Self {
        let message = message.to_owned();
        self.answering(Verb::Get, path, Err(Problem { status, message }))
    }

    /// The same for someone who lacks a permission.
    pub(crate) fn refusing(mut self, permission: &'static str) -> Self {
        self.refused.push(permission);
        self
    }

    /// The same where policies may be tried.
    pub(crate) fn with_playground(self) -> Self {
        Self {
            has_playground: true,
            ..self
        }
    }

    /// What was changed.
    pub(crate) fn changes(&self) -> Vec<Call> {
        self.changes.lock().unwrap().clone()
    }

    /// The page at a path, which may have a query.
    pub(crate) fn page(&self, path: &str) -> (u16, String) {
        match self.ask(path, false, &[]) {
            Reply::Page { status, html } => (status, html),
            Reply::SeeOther(to) => panic!("{path} leads to {to}"),
        }
    }

    /// The same page, which has this status.
    #[track_caller]
    pub(crate) fn page_with(&self, path: &str, status: u16) -> String {
        let (got, html) = self.page(path);
        assert_eq!(got, status, "{html}");
        html
    }

    /// What a form leads to.
    pub(crate) fn send(&self, path: &str, form: &[(&str, &str)]) -> Reply {
        self.ask(path, true, form)
    }

    fn ask(&self, path: &str, is_form: bool, form: &[(&str, &str)]) -> Reply {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let Found::Page(page) = find(path, is_form) else {
            panic!("there is no page {path}");
        };
        let form = form.iter();
        let form = form.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        ready(page.answer(self, (path, query), form.collect()))
    }
}

impl Backend for Fake {
    fn person(&self) -> &Person {
        &self.person
    }

    fn call<'a>(
        &'a self,
        verb: Verb,
        path: &'a str,
        body: Option<Value>,
    ) -> Pending<'a, Result<Value, Problem>> {
        let mut answers = self.answers.iter();
        let found = answers.find(|(own, at, _)| *own == verb && at == path);
        let unknown = || Err(Problem::not_found(format!("{verb:?} {path} is unknown")));
        let answer = found.map_or_else(unknown, |(_, _, answer)| answer.clone());
        if verb != Verb::Get {
            let change = (verb, path.to_owned(), body.unwrap_or_default());
            self.changes.lock().unwrap().push(change);
        }
        Box::pin(std::future::ready(answer))
    }

    fn has_playground(&self) -> bool {
        self.has_playground
    }

    fn refusal(&self, permission: &str, _place: Place<'_>) -> Option<String> {
        let is_refused = self.refused.contains(&permission);
        is_refused.then(|| format!("none of your roles here permits `{permission}`"))
    }
}

/// What a future that never waits is worth.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the page waits for something"),
    }
}
