//! Every state that one job can reach, searched breadth first.
//!
//! The search is written out: stateright, which would do the same, brings an HTTP server and further versions
//! of crates that are already here.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::server::{ACTIONS, Action, Server, World};
use crate::JobStatus;

const MOST_STEPS: u64 = 3;
const MOST_ATTEMPTS: u32 = 2;

/// What distinguishes two states; how long ago something happened doesn't.
fn key(server: &Server) -> u64 {
    let mut hasher = DefaultHasher::new();
    let deadline = server.state.deadline.map(|d| d.since(server.now()));
    let state = &server.state;
    (state.status, state.attempt, state.failure_reason).hash(&mut hasher);
    (state.acknowledged, deadline).hash(&mut hasher);
    (server.is_suspended, server.was_pending, server.step).hash(&mut hasher);
    if let Some(admission) = &server.admission {
        let asked = admission.asked_at.is_some();
        (admission.state, admission.position, asked, &admission.tags).hash(&mut hasher);
        format!("{:?}{:?}", admission.lists, admission.carried).hash(&mut hasher);
        for decision in &admission.decisions {
            let verdict = (decision.attempt, &decision.controller, decision.verdict);
            verdict.hash(&mut hasher);
        }
    }
    hasher.finish()
}

#[test]
fn every_reachable_state_keeps_the_invariants_and_can_finish() {
    let world = World::new();
    let first = Server::new();
    let mut known: HashMap<u64, bool> = HashMap::from([(key(&first), false)]);
    let mut leads_to: HashMap<u64, Vec<u64>> = HashMap::new();
    let mut queue = VecDeque::from([first]);
    let mut statuses: Vec<JobStatus> = Vec::new();
    while let Some(server) = queue.pop_front() {
        let from = key(&server);
        if !statuses.contains(&server.state.status) {
            statuses.push(server.state.status);
        }
        for action in ACTIONS {
            let is_beyond = match action {
                Action::PassTime => server.step == MOST_STEPS,
                Action::Retry => server.state.attempt == MOST_ATTEMPTS,
                _ => false,
            };
            let Some(next) = server.after(*action, &world).filter(|_| !is_beyond) else {
                continue;
            };
            next.check(&server, *action);
            let to = key(&next);
            leads_to.entry(to).or_default().push(from);
            if let std::collections::hash_map::Entry::Vacant(entry) = known.entry(to) {
                entry.insert(next.state.status.is_finished());
                queue.push_back(next);
            }
        }
    }
    // Backwards from what is finished: everything else leads there.
    let mut can_finish: Vec<u64> = known
        .iter()
        .filter(|(_, done)| **done)
        .map(|(k, _)| *k)
        .collect();
    let mut reached: HashMap<u64, ()> = can_finish.iter().map(|key| (*key, ())).collect();
    while let Some(key) = can_finish.pop() {
        for before in leads_to.get(&key).into_iter().flatten() {
            if reached.insert(*before, ()).is_none() {
                can_finish.push(*before);
            }
        }
    }
    assert_eq!(reached.len(), known.len(), "every job can finish");
    assert_eq!(statuses.len(), 7, "all but skipped: {statuses:?}");
    assert!(known.len() > 1000, "only {} states", known.len());
}
