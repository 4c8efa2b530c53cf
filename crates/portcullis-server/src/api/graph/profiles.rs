//! Which profiles and authorizers there are.

use portcullis_graph::Graph;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::answer;
use super::super::call::{Answering, Call};
use super::super::query::Query;
use super::reading;
use portcullis_gate::graphs::ProfileInForce;

/// What there is, in the order of the configuration.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Profiles {
    /// Profiles of the graph.
    profiles: Vec<ProfileAnswer>,
    /// Names of all authorizers, profiles among them.
    authorizers: Vec<String>,
}

/// A profile in force.
#[derive(Serialize, JsonSchema)]
struct ProfileAnswer {
    /// Its name in the configuration.
    name: String,
    /// What it is for.
    description: Option<String>,
    /// Whether the graph has caught up with its objects.
    is_caught_up: bool,
    /// Its graphs, one for each target.
    graphs: Vec<GraphAnswer>,
    /// What is wrong with its objects: files that can't be read, watches that fail.
    problems: Vec<String>,
}

/// The graph of a target.
#[derive(Serialize, JsonSchema)]
struct GraphAnswer {
    /// The kind that agents stand for.
    target: String,
    /// How many vertices there are.
    vertices: usize,
    /// How many edges there are.
    edges: usize,
}

/// `GET /api/v1/graph/profiles`
pub(super) fn list(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        reading(&call).await?;
        Query::of(call.head).done()?;
        let gate = call.gate;
        answer::ok(&Profiles {
            profiles: gate.graphs.iter().map(|one| describe(one)).collect(),
            authorizers: gate.all_authorizers.names().map(str::to_owned).collect(),
        })
    })
}

fn describe(profile: &ProfileInForce) -> ProfileAnswer {
    let state = profile.authorizer.state();
    let graph = |graph: &Graph| {
        let (vertices, edges) = graph.counts();
        let target = state.profile().kinds.name(graph.shape().target);
        GraphAnswer {
            target: target.to_owned(),
            vertices,
            edges,
        }
    };
    ProfileAnswer {
        name: profile.name.clone(),
        description: state.profile().description.clone(),
        is_caught_up: state.is_caught_up(),
        graphs: state.graphs().iter().map(graph).collect(),
        problems: profile.troubles(),
    }
}
