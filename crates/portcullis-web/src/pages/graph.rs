//! The relationship graph: a vertex with its neighbours, or a path. The whole graph is never drawn.

mod picture;

use serde::Deserialize;

use self::picture::Picture;
use crate::backend::{Backend, Pending, Problem};
use crate::frame::Frame;
use crate::query::Query;
use crate::reply::{Reply, page_with};
use crate::request::Request;
use crate::route::Route;
use crate::shown::sentence;

pub(super) const ROUTES: &[Route] = &[Route::page("/graph", show)];

const ASKED: &[&str] = &["profile", "vertex", "from", "to"];

/// Neighbours in a list; more are counted.
const LISTED: usize = 200;

#[derive(Debug, Deserialize)]
struct Profiles {
    profiles: Vec<Profile>,
}

#[derive(Debug, Deserialize)]
struct Profile {
    name: String,
    description: Option<String>,
    is_caught_up: bool,
    graphs: Vec<Size>,
    problems: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Size {
    target: String,
    vertices: u64,
    edges: u64,
}

#[derive(Debug, Deserialize)]
struct Neighbors {
    vertex: String,
    is_object: bool,
    incoming: Vec<Neighbor>,
    outgoing: Vec<Neighbor>,
    is_cut: bool,
}

#[derive(Debug, Deserialize)]
struct Neighbor {
    vertex: String,
    owners: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct FoundPath {
    from: String,
    to: String,
    found: bool,
    path: Vec<String>,
    leads_to: Vec<String>,
}

/// One side of a vertex.
#[derive(Debug)]
struct Side {
    title: &'static str,
    none: &'static str,
    neighbors: Vec<Neighbor>,
    /// How many are not listed.
    more: String,
}

/// A vertex as it is shown.
#[derive(Debug)]
struct ShownVertex {
    name: String,
    is_object: bool,
    sides: [Side; 2],
    picture: Picture,
}

/// A path as it is shown.
#[derive(Debug)]
struct ShownPath {
    answer: FoundPath,
    picture: Picture,
}

#[derive(Debug, askama::Template)]
#[template(path = "graph.html")]
struct GraphPage {
    frame: Frame,
    query: Query,
    profiles: Vec<Profile>,
    wrong: Option<String>,
    vertex: Option<ShownVertex>,
    path: Option<ShownPath>,
}

impl GraphPage {
    /// The page of a vertex in the same profile.
    fn of(&self, vertex: &str) -> String {
        of(&self.query, vertex)
    }
}

fn of(query: &Query, vertex: &str) -> String {
    let query = query.with("from", "").with("to", "");
    query.with("vertex", vertex).of("/graph")
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        let query = request.query(ASKED)?;
        let backend = request.backend;
        let known: Profiles = backend.get("/api/v1/graph/profiles").await?;
        let mut page = GraphPage {
            frame: request.frame(title(&query)),
            profiles: known.profiles,
            wrong: None,
            vertex: None,
            path: None,
            query,
        };
        let mut status = 200;
        if let Err(problem) = ask(&mut page, backend).await {
            status = problem.status;
            page.wrong = Some(sentence(&problem.message));
        }
        page_with(status, &page)
    })
}

fn title(query: &Query) -> String {
    match (query.get("vertex"), query.get("from"), query.get("to")) {
        ("", "", _) | ("", _, "") => "Graph".to_owned(),
        ("", from, to) => format!("Path from {from} to {to}"),
        (vertex, ..) => format!("Graph of {vertex}"),
    }
}

/// Asks what the query wants to know.
async fn ask(page: &mut GraphPage, backend: &dyn Backend) -> Result<(), Problem> {
    let query = page.query.clone();
    let is_known = |profile: &Profile| profile.name == query.get("profile");
    if !query.get("profile").is_empty() && !page.profiles.iter().any(is_known) {
        return Err(Problem::not_found("unknown graph profile"));
    }
    if !query.get("vertex").is_empty() {
        let asked = query.with("from", "").with("to", "");
        let found: Neighbors = backend.get(&asked.of("/api/v1/graph/neighbors")).await?;
        page.vertex = Some(shown(&query, found));
    }
    if !query.get("from").is_empty() || !query.get("to").is_empty() {
        let asked = query.with("vertex", "");
        let answer: FoundPath = backend.get(&asked.of("/api/v1/graph/path")).await?;
        let picture = Picture::of_path(&answer.path, |vertex| of(&query, vertex));
        page.path = Some(ShownPath { answer, picture });
    }
    Ok(())
}

fn shown(query: &Query, found: Neighbors) -> ShownVertex {
    let names =
        |side: &[Neighbor]| -> Vec<String> { side.iter().map(|one| one.vertex.clone()).collect() };
    let (incoming, outgoing) = (names(&found.incoming), names(&found.outgoing));
    let picture = Picture::of_neighbors(&found.vertex, (&incoming, &outgoing), |vertex| {
        of(query, vertex)
    });
    let side = |title, none, mut neighbors: Vec<Neighbor>| {
        let rest = neighbors.len().saturating_sub(LISTED);
        neighbors.truncate(LISTED);
        let more = match (rest, found.is_cut) {
            (0, _) => String::new(),
            (rest, false) => format!("{rest} more"),
            (rest, true) => format!("at least {rest} more"),
        };
        Side {
            title,
            none,
            neighbors,
            more,
        }
    };
    ShownVertex {
        name: found.vertex,
        is_object: found.is_object,
        sides: [
            side("Incoming", "Nothing leads here.", found.incoming),
            side("Outgoing", "It leads nowhere.", found.outgoing),
        ],
        picture,
    }
}

#[cfg(test)]
mod tests;
