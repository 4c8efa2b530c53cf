//! The relationship graph over REST, and as a page: paths, neighbours, whole graphs, access checks.
//!
//! All of it is for those who may read the graph at the root of the API. Searches run in threads that may
//! block, a few at once.

mod can_i;
mod export;
mod page;
mod profiles;
mod searches;

use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use portcullis_core::clock::Stopwatch;
use portcullis_graph::Vertex;
use portcullis_roles::{Condition, Parameters, Permission};
use serde_json::json;

use self::searches::search;
use super::access::at_root;
use super::action::Action;
use super::answer;
use super::call::{Answering, Call};
use super::endpoint::{Endpoint, QueryParameter, Success, Tag, get, schema_of, text};
use super::query::Query;
use crate::http::error::HttpError;
use portcullis_gate::graph_answers::{GraphView, Neighbors, PathAnswer, Unanswered, Vertices};
use portcullis_gate::graphs::{Graphs, ProfileInForce};

/// Neighbours in an answer at most, in each direction.
const MOST_NEIGHBOURS: usize = 10_000;
/// Longer texts name no vertex.
const LONGEST: usize = 1024;
/// Vertices that a search lists, by default and at most.
const FOUND: usize = 100;
const MOST_FOUND: usize = 1000;
/// How long a search may take.
const SEARCH_WITHIN: Duration = Duration::from_millis(500);

/// Reads the graph.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadGraph;

impl Action for ReadGraph {
    const PERMISSION: Permission = Permission::ReadGraph;
    const CONDITIONS: &'static [Condition] = &[];

    fn parameters(&self) -> Parameters<'_> {
        Parameters::new()
    }
}

const PROFILE: QueryParameter = text(
    "profile",
    "The profile, by its name in the configuration; by default the first.",
    "gardener",
);
const TARGET: QueryParameter = text(
    "target",
    "Only the graph of this target; by default all graphs of the profile.",
    "Seed",
);

/// What may not be there.
const NO_PROFILE: (u16, &str) = (404, "The profile is unknown, or none is configured.");
const NO_VERTEX: (u16, &str) = (404, "The profile or the vertex is unknown.");

/// What may be asked of the graph.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        ..get(
            ("/api/v1/graph/profiles", "graphProfiles"),
            Tag::Graph,
            at_root::<ReadGraph>(),
            (
                "List profiles and authorizers",
                "In the order of the configuration, with the size of each graph.",
            ),
            Success::Json {
                description: "The profiles and authorizers.",
                schema: schema_of::<profiles::Profiles>,
            },
            profiles::list,
        )
    },
    Endpoint {
        query: &[
            PROFILE,
            TARGET,
            text(
                "from",
                "Where the path begins: `Kind:namespace/name` or `Kind:name`. Required.",
                "Secret:garden/backup",
            ),
            text("to", "Where it ends. Required.", "Seed:my-seed"),
        ],
        refusals: &[NO_VERTEX],
        ..get(
            ("/api/v1/graph/path", "graphPath"),
            Tag::Graph,
            at_root::<ReadGraph>(),
            (
                "Find a path between two vertices",
                "A shortest path, or what the first vertex leads to instead.",
            ),
            Success::Json {
                description: "The path, or that no path exists.",
                schema: schema_of::<PathAnswer>,
            },
            path,
        )
    },
    Endpoint {
        query: &[
            PROFILE,
            TARGET,
            text(
                "vertex",
                "The vertex: `Kind:namespace/name` or `Kind:name`. Required.",
                "Seed:my-seed",
            ),
        ],
        refusals: &[NO_VERTEX],
        ..get(
            ("/api/v1/graph/neighbors", "graphNeighbors"),
            Tag::Graph,
            at_root::<ReadGraph>(),
            (
                "List the neighbours of a vertex",
                "At most 10,000 neighbours in each direction.",
            ),
            Success::Json {
                description: "The neighbours.",
                schema: schema_of::<Neighbors>,
            },
            neighbors,
        )
    },
    Endpoint {
        query: &[
            PROFILE,
            TARGET,
            text(
                "text",
                "Words, each of which is somewhere in `Kind:namespace/name`, in upper or lower case. Required.",
                "pod shop/web",
            ),
            QueryParameter {
                name: "limit",
                description: "Vertices in the answer, 1 to 1000; by default 100.",
                schema: limit_schema,
                example: "100",
            },
        ],
        refusals: &[NO_PROFILE],
        ..get(
            ("/api/v1/graph/vertices", "graphVertices"),
            Tag::Graph,
            at_root::<ReadGraph>(),
            (
                "Search vertices by a part of their names",
                "Those with exactly this name first, then those whose name begins with it. The search ends after half a second.",
            ),
            Success::Json {
                description: "The vertices.",
                schema: schema_of::<Vertices>,
            },
            vertices,
        )
    },
    Endpoint {
        query: export::QUERY,
        refusals: &[NO_PROFILE],
        ..get(
            ("/api/v1/graph/export", "graphExport"),
            Tag::Graph,
            at_root::<ReadGraph>(),
            ("Export a graph", export::DESCRIPTION),
            Success::Json {
                description: "All vertices and edges, with the object that each edge comes from.",
                schema: schema_of::<export::Exported>,
            },
            export::export,
        )
    },
    Endpoint {
        query: can_i::QUERY,
        refusals: &[(404, "The authorizer is unknown, or none is configured.")],
        ..get(
            ("/api/v1/graph/can-i", "graphCanI"),
            Tag::Graph,
            at_root::<ReadGraph>(),
            ("Check whether a user may do something", can_i::DESCRIPTION),
            Success::Json {
                description: "The answers of the authorizers, with reasons.",
                schema: schema_of::<portcullis_gate::graph_answers::CanI>,
            },
            can_i::can_i,
        )
    },
    Endpoint {
        query: page::QUERY,
        refusals: &[NO_PROFILE],
        ..get(
            ("/debug/resource-dependency-graph", "graphPage"),
            Tag::Graph,
            at_root::<ReadGraph>(),
            ("Show the graph as a page", page::DESCRIPTION),
            Success::Other {
                description: "A page.",
                content_type: "text/html; charset=utf-8",
            },
            page::page,
        )
        .with_web()
    },
];

/// `GET /api/v1/graph/path`
fn path(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        reading(&call).await?;
        let mut query = Query::of(call.head);
        let (view, problems) = view(&call, &mut query)?;
        let (from, to) = (vertex(&mut query, "from")?, vertex(&mut query, "to")?);
        query.done()?;
        let found = search(move || view.path(&from, &to)).await?;
        let found = found.map_err(|why| without(why, &problems))?;
        answer::ok(&PathAnswer { problems, ..found })
    })
}

/// `GET /api/v1/graph/neighbors`
fn neighbors(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        reading(&call).await?;
        let mut query = Query::of(call.head);
        let (view, problems) = view(&call, &mut query)?;
        let vertex = vertex(&mut query, "vertex")?;
        query.done()?;
        let found = search(move || view.neighbors(&vertex, MOST_NEIGHBOURS)).await?;
        let found = found.map_err(|why| without(why, &problems))?;
        answer::ok(&Neighbors { problems, ..found })
    })
}

/// `GET /api/v1/graph/vertices`
fn vertices(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        reading(&call).await?;
        let mut query = Query::of(call.head);
        let (view, problems) = view(&call, &mut query)?;
        let text = query.take("text")?.unwrap_or_default();
        let limit = query.take("limit")?.filter(|limit| !limit.is_empty());
        query.done()?;
        if text.trim().is_empty() {
            return Err(HttpError::bad_request("text is required"));
        }
        if text.len() > LONGEST {
            return Err(HttpError::bad_request("text is too long"));
        }
        let limit = limit.map_or(Some(FOUND), |limit| limit.parse().ok());
        let limit = limit.filter(|limit| (1..=MOST_FOUND).contains(limit));
        let wrong = || HttpError::bad_request(format!("invalid limit: expected 1 to {MOST_FOUND}"));
        let limit = limit.ok_or_else(wrong)?;
        let watch = Stopwatch::start();
        let goes_on = move || watch.elapsed() < SEARCH_WITHIN;
        let found = search(move || view.search(&text, limit, goes_on)).await?;
        answer::ok(&Vertices { problems, ..found })
    })
}

fn limit_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "integer", "minimum": 1, "maximum": MOST_FOUND})
}

/// Goes on only if the caller may read the graph.
async fn reading(call: &Call<'_>) -> Result<(), HttpError> {
    let root = call.gate.access.roles.root();
    call.authorize(root, ReadGraph).await.map(drop)
}

/// The profile that the query names, or the first.
fn profile<'a>(
    graphs: &'a Graphs,
    query: &mut Query,
) -> Result<&'a Arc<ProfileInForce>, HttpError> {
    let name = query.take("profile")?.filter(|name| !name.is_empty());
    let found = match &name {
        Some(name) => graphs.get(name),
        None => graphs.first(),
    };
    found.ok_or_else(|| {
        let message = match name {
            Some(_) => "unknown graph profile",
            None => "no graph profile is configured",
        };
        HttpError::new(StatusCode::NOT_FOUND, "unknown_profile", message)
    })
}

/// The graphs that the query is about, once they have caught up, and what is wrong with their objects.
fn view(call: &Call<'_>, query: &mut Query) -> Result<(GraphView, Vec<String>), HttpError> {
    let profile = profile(&call.gate.graphs, query)?;
    let target = query.take("target")?.filter(|target| !target.is_empty());
    let view = GraphView::caught_up(profile.authorizer.state(), target.as_deref());
    Ok((view.map_err(unanswered)?, profile.troubles()))
}

fn vertex(query: &mut Query, name: &'static str) -> Result<Vertex, HttpError> {
    let Some(text) = query.take(name)? else {
        return Err(HttpError::bad_request(format!("{name} is required")));
    };
    if text.len() > LONGEST {
        return Err(HttpError::bad_request(format!("{name} is too long")));
    }
    let vertex = text.parse::<Vertex>();
    vertex.map_err(|wrong| HttpError::bad_request(format!("{name}: {wrong}")))
}

/// Why there is no answer, and what is wrong with the objects: it may be the cause.
fn without(why: Unanswered, problems: &[String]) -> HttpError {
    let error = unanswered(why);
    match problems.is_empty() {
        true => error,
        false => error.with_details(&json!({"problems": problems})),
    }
}

fn unanswered(why: Unanswered) -> HttpError {
    match why {
        Unanswered::UnknownTarget(text) => HttpError::bad_request(text),
        Unanswered::UnknownVertex(text) => {
            HttpError::new(StatusCode::NOT_FOUND, "unknown_vertex", text)
        }
        Unanswered::NotCaughtUp => HttpError::busy("the graph has not caught up yet"),
    }
}
