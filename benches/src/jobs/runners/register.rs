//! Registers runners.

use serde_json::{Value, json};

use super::super::gate::Gate;
use super::super::requests::{TAG_SETS, tag_set};
use crate::asker::{Asker, request};
use crate::clock;
use crate::failure::{Context, Failure, Result};
use crate::http1::Answer;
use crate::load::runtime;
use crate::transport::Transport;

/// Connections over which runners are registered.
const CONNECTIONS: usize = 16;

/// Tokens of runners.
#[derive(Debug)]
pub(super) struct Registered {
    /// Of those that can take jobs of the backlog, by their set of tags in turns.
    pub(super) takers: Vec<String>,
    /// Of those that no job is for.
    pub(super) idlers: Vec<String>,
    /// Of those that wait for the jobs that are submitted then.
    pub(super) waiters: Vec<String>,
    pub(super) per_second: f64,
}

/// The tag of jobs that only waiting runners of this set can take.
pub(super) fn waiting_tag(number: usize) -> String {
    format!("wait{}", number % TAG_SETS)
}

/// So many runners for the backlog, as many to wait, and a few that are never given a job.
pub(super) fn all(gate: &Gate, count: usize) -> Result<Registered> {
    let takers = (0..count).map(|number| vec!["linux".to_owned(), tag_set(number)]);
    let idlers = (0..TAG_SETS).map(|number| vec![format!("idle{number}")]);
    let waiters = (0..count).map(|number| vec![waiting_tag(number)]);
    let began = clock::now();
    let [takers, idlers, waiters] = [takers.collect(), idlers.collect(), waiters.collect()]
        .map(|tags: Vec<Vec<String>>| register(gate, &tags));
    let seconds = clock::now().saturating_duration_since(began).as_secs_f64();
    Ok(Registered {
        takers: takers?,
        idlers: idlers?,
        waiters: waiters?,
        per_second: (2 * count + TAG_SETS) as f64 / seconds,
    })
}

/// Registers a runner with each of these tags; their tokens, in this order.
fn register(gate: &Gate, tags: &[Vec<String>]) -> Result<Vec<String>> {
    runtime()?.block_on(async {
        let mut parts = Vec::with_capacity(CONNECTIONS);
        for first in 0..CONNECTIONS {
            let mut asker = Asker::connect(&gate.places, Transport::Tcp).await?;
            let requests: Vec<Vec<u8>> = tags
                .iter()
                .skip(first)
                .step_by(CONNECTIONS)
                .map(|tags| body(tags, &gate.header))
                .collect();
            parts.push(tokio::spawn(async move {
                let mut tokens = Vec::with_capacity(requests.len());
                for request in &requests {
                    let token = asker.ask_for(request, token).await?;
                    tokens.push(token.map_err(|wrong| {
                        Failure::new(format!("registering a runner: expected 201, got {wrong}"))
                    })?);
                }
                Ok::<_, Failure>(tokens)
            }));
        }
        let mut tokens = vec![String::new(); tags.len()];
        for (first, part) in parts.into_iter().enumerate() {
            let part = part.await.context("a client broke")??;
            let places = tokens.iter_mut().skip(first).step_by(CONNECTIONS);
            places.zip(part).for_each(|(place, token)| *place = token);
        }
        Ok(tokens)
    })
}

fn body(tags: &[String], header: &str) -> Vec<u8> {
    let body = json!({"runner_type": "instance_type", "tag_list": tags, "run_untagged": false});
    request("POST", "/api/v4/user/runners", header, &body.to_string())
}

fn token(answer: &Answer<'_>) -> Option<String> {
    let body: Value = serde_json::from_slice(&answer.body).ok()?;
    let token = body.get("token").and_then(Value::as_str)?;
    (answer.status == 201).then(|| token.to_owned())
}
