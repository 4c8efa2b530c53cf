//! What to try next with a demonstration.

use super::super::decisions::Summary;
use super::super::queue::Queue;

/// Something to try.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) path: String,
    pub(super) text: &'static str,
}

/// What there is to try now.
pub(super) fn next(denials: &[Summary], queue: Option<&Queue>) -> Vec<Step> {
    let step = |path: &str, text| Step {
        path: path.to_owned(),
        text,
    };
    let denied = denials.first().map(|one| Step {
        path: format!("/decisions/{}", one.id),
        text: "See why a request was denied",
    });
    let waits = queue.is_some_and(Queue::has_held);
    let waiting = waits.then(|| {
        step(
            "/jobs?status=preparing",
            "See what a CI job waits for, and which jobs wait",
        )
    });
    let policies = step("/policies", "Read the policies that judged these requests");
    let playground = step(
        "/playground",
        "Change a policy in the playground, and try it",
    );
    let graph = step(
        "/graph?vertex=Node%3Anode-2",
        "Look up in the graph what a node needs, and why",
    );
    let api = step("/docs", "Call the REST API");
    let first = denied.into_iter().chain(waiting);
    first.chain([policies, playground, graph, api]).collect()
}
