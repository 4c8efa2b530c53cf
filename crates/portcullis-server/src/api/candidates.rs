//! Another text for a policy in force, or a whole candidate set: what it would have changed in recorded decisions.

mod set;

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_config::Policies;
use portcullis_core::{Door, clock};
use portcullis_document::Faults;
use portcullis_gate::playground::{self, Candidate, Fault, Feed, Replayed, Unanswered};
use portcullis_js::WorkerCommand;
use portcullis_roles::{AccessDecision, Parameters, Permission};
use portcullis_store::{Filter, Page, Store, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;

use super::access::at_root;
use super::answer;
use super::body;
use super::call::{Answering, Call};
use super::decisions::unread;
use super::endpoint::{Content, Endpoint, Success, Tag, post, schema_of};
use super::playground::{TOO_LARGE, TryPolicies, is_on, too_large};
use crate::http::error::HttpError;
use crate::playground::in_place;

/// Bytes of a body, at most.
const MOST_BYTES: u64 = 256 << 10;
/// Bytes of a policy, at most.
const MOST_TEXT: usize = 64 << 10;
/// Decisions that are looked at, by default and at most.
const LIMIT: usize = 1000;
const MOST: usize = 5000;
/// How far back, by default.
const SINCE: &str = "24h";
/// How long decisions are taken.
const WITHIN: Duration = Duration::from_secs(20);
/// Examples of each kind of change.
const EXAMPLES: usize = 5;
/// Decisions in a page of the store.
const PAGE: usize = 200;

/// Another text for a policy.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CandidateBody")]
struct CandidateBody {
    /// The text, at most 64 KiB.
    text: String,
    /// Decisions not before: a time as in RFC 3339, or how long ago; by default `24h`.
    #[serde(default)]
    since: Option<String>,
    /// Decisions that are looked at, the newest, 1 to 5000; by default 1000.
    #[serde(default)]
    limit: Option<usize>,
}

/// Which decisions are looked at.
#[derive(Debug)]
struct Over {
    filter: Filter,
    limit: usize,
}

impl Over {
    /// Those that a body asks for.
    fn of(since: Option<&str>, limit: Option<usize>) -> Result<Self, HttpError> {
        let limit = limit.unwrap_or(LIMIT);
        if !(1..=MOST).contains(&limit) {
            let message = format!("invalid limit: expected 1 to {MOST}");
            return Err(HttpError::bad_request(message));
        }
        let since = since.filter(|since| !since.is_empty());
        let since = portcullis_document::since::parse(since.unwrap_or(SINCE), clock::wall());
        let since = since.map_err(|why| HttpError::bad_request(format!("since: {why}")))?;
        let filter = Filter {
            since: Some(since),
            ..Filter::default()
        };
        Ok(Self { filter, limit })
    }
}

/// What would change.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "CandidateReport")]
struct CandidateReport {
    /// How many recorded requests were decided again, the newest first.
    looked_at: u64,
    /// Whether these are all since then; otherwise the limit or the time was reached.
    is_complete: bool,
    /// Counts, as `portcullis replay -o json` has them.
    summary: Value,
    /// What changes, with examples.
    changes: Value,
    /// What can't be told, by reason.
    unknown: Value,
    /// Records that make no sense.
    failed: Value,
    /// What is wrong with texts; then nothing was decided.
    faults: Vec<Fault>,
}

/// What may be tried with policies in force.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        success: CHANGED,
        ..post(
            ("/api/v1/policies/{name}/replay", "replayPolicy"),
            Tag::Decisions,
            at_root::<TryPolicies>(),
            (
                "Replay with another text for a policy",
                "Decides recorded requests again with this text in place of the policy's, in a process of its own; the other \
             policies stay, and what built-in plug-ins did is taken from the record. Nothing in force changes. Also needs \
             `read-decisions`. One replay runs at a time, for 20 seconds at most.",
            ),
            Content {
                schema: schema_of::<CandidateBody>,
                example: r#"{"text": "return true", "since": "24h", "limit": 1000}"#,
            },
            &[
                (404, "The playground is off, or the policy is unknown."),
                TOO_LARGE,
                REPLAYING,
            ],
            replay,
        )
    },
    set::ENDPOINT,
];

/// What a replay answers.
const CHANGED: Success = Success::Json {
    description: "What would have changed.",
    schema: schema_of::<CandidateReport>,
};

/// There is one replay at a time.
const REPLAYING: (u16, &str) = (429, "Another replay is running.");

/// `POST /api/v1/policies/{name}/replay`
fn replay(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let root = call.gate.access.roles.root();
        call.admit::<TryPolicies>(root)?;
        may_read(&call)?;
        is_on(&call)?;
        let given: CandidateBody = body::parse(&call.take_bytes(MOST_BYTES).await?)?;
        call.authorize(root, TryPolicies).await?;
        if given.text.len() > MOST_TEXT {
            return Err(too_large("text", &format!("{MOST_TEXT} bytes")));
        }
        let over = Over::of(given.since.as_deref(), given.limit)?;
        let name = call.values.get("name").to_owned();
        let mut policies = call.gate.replays.policies().list.iter();
        if !policies.any(|policy| policy.name == name) {
            return Err(HttpError::not_found("unknown policy"));
        }
        let report = replayed(&call, over, move |policies| {
            policies.with_text(&name, &given.text)
        });
        answer::ok(&report.await?)
    })
}

/// Decides recorded requests again by what is made of the policies in force.
async fn replayed(
    call: &Call<'_>,
    over: Over,
    made: impl FnOnce(&Policies) -> Result<Policies, Faults> + Send + 'static,
) -> Result<CandidateReport, HttpError> {
    let playground = &call.visitor.server.playground;
    let (command, place) = (playground.command()?, playground.for_replay()?);
    let gate = Arc::clone(call.gate);
    // Reading a text may take long, but runs nothing of it.
    let (place, read) = in_place(place, move || {
        let policies = made(gate.replays.policies());
        policies.map(|policies| Candidate::new(&policies, &gate.limits, WITHIN, EXAMPLES))
    })
    .await?;
    let candidate = match read {
        Ok(candidate) => candidate,
        Err(faults) => return Ok(invalid(Fault::of_policies(&faults.0))),
    };
    let work = Work {
        command,
        candidate,
        over,
        place,
    };
    let log = call.visitor.server.decisions.reader();
    let done = log.read(move |store| work.run(store)).await;
    let (replayed, sent) = done.map_err(|failure| unread(&failure))?;
    report(replayed?, &sent)
}

/// Goes on only if the caller may read decisions, which this tells of.
fn may_read(call: &Call<'_>) -> Result<(), HttpError> {
    let root = call.gate.access.roles.root();
    let (permission, parameters) = (Permission::ReadDecisions, Parameters::new());
    match root.check(call.caller.identity(), permission, &parameters) {
        AccessDecision::Allowed(_) => Ok(()),
        AccessDecision::Refused(refusal) => {
            Err(call.refused(Some(root), (permission, &parameters), refusal))
        }
    }
}

/// A replay on its way to a process.
struct Work {
    command: WorkerCommand,
    candidate: Candidate,
    over: Over,
    /// Held as long as it runs.
    #[expect(dead_code, reason = "others get the place when this is dropped")]
    place: OwnedSemaphorePermit,
}

/// What was sent to the process.
#[derive(Debug, Default)]
struct Sent {
    count: usize,
    /// Whether there were more.
    is_cut: bool,
}

impl Work {
    fn run(&self, store: &mut Store) -> Result<(Result<Replayed, Unanswered>, Sent), StoreError> {
        let mut sent = Sent::default();
        let until = clock::monotonic() + WITHIN;
        let replayed = playground::replay(&self.command, self.candidate.clone(), |feed| {
            self.send(store, feed, until, &mut sent)
        });
        match replayed {
            Ok(Ok(replayed)) => Ok((Ok(replayed), sent)),
            Ok(Err(error)) => Err(error),
            Err(why) => Ok((Err(why), sent)),
        }
    }

    /// Sends decisions that policies make, the newest first.
    fn send(
        &self,
        store: &mut Store,
        feed: &mut Feed<'_>,
        until: Instant,
        sent: &mut Sent,
    ) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let page = Page { after, limit: PAGE };
            let found = store.list(&self.over.filter, &page)?;
            let items = found.items.iter();
            for item in items.filter(|item| matches!(item.door, Door::Kubernetes | Door::Ci)) {
                if sent.count >= self.over.limit || clock::monotonic() >= until {
                    sent.is_cut = true;
                    return Ok(());
                }
                let Some(line) = store.get(&item.id)? else {
                    continue;
                };
                if !feed.send(&line) {
                    sent.is_cut = true;
                    return Ok(());
                }
                sent.count += 1;
            }
            match found.next {
                Some(next) => after = Some(next),
                None => return Ok(()),
            }
        }
    }
}

fn report(replayed: Replayed, sent: &Sent) -> Result<CandidateReport, HttpError> {
    let mut report = match replayed {
        Replayed::Report(report) => report,
        Replayed::Invalid(faults) => return Ok(invalid(faults)),
        Replayed::Unended(why) => {
            let fault = portcullis_document::Fault::at("text", why);
            return Err(HttpError::unprocessable(&[fault]));
        }
    };
    let mut take = |key: &str| report.get_mut(key).map(Value::take).unwrap_or_default();
    let summary = take("summary");
    let count = |key: &str| summary.get(key).and_then(Value::as_u64).unwrap_or_default();
    let looked_at = ["decisions", "notJudged", "passedOver", "failed"];
    let looked_at = looked_at.into_iter().map(count).sum();
    let sent_all = u64::try_from(sent.count).is_ok_and(|sent| sent == looked_at);
    Ok(CandidateReport {
        looked_at,
        is_complete: sent_all && !sent.is_cut,
        summary,
        changes: take("changes"),
        unknown: take("unknown"),
        failed: take("failed"),
        faults: Vec::new(),
    })
}

fn invalid(faults: Vec<Fault>) -> CandidateReport {
    CandidateReport {
        faults,
        ..CandidateReport::default()
    }
}
