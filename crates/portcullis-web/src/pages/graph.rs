//! The relationship graph: a search, a vertex with its neighbours, or a path. The whole graph is never drawn.

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

const ASKED: &[&str] = &["profile", "search", "vertex", "from", "to"];

/// The page that lists vertices with their neighbours.
const LISTS: &str = "/debug/resource-dependency-graph";

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

/// Vertices by a part of their names.
#[derive(Debug, Deserialize)]
struct Found {
    items: Vec<String>,
    is_cut: bool,
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
    /// Where up to a thousand neighbours are listed.
    all: String,
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
    found: Option<Found>,
    vertex: Option<ShownVertex>,
    path: Option<ShownPath>,
}

impl GraphPage {
    /// Where the last part of the name of a vertex is searched that is not there; empty if none was asked for.
    fn search_instead(&self) -> String {
        let vertex = self.query.get("vertex");
        let name = vertex.rsplit([':', '/']).next().unwrap_or_default();
        match name.trim() {
            "" => String::new(),
            name => {
                let others = self
                    .query
                    .with("vertex", "")
                    .with("from", "")
                    .with("to", "");
                others.with("search", name).of("/graph")
            }
        }
    }

    /// The page of a vertex in the same profile.
    fn of(&self, vertex: &str) -> String {
        of(&self.query, vertex)
    }
}

fn of(query: &Query, vertex: &str) -> String {
    let query = query.with("search", "").with("from", "").with("to", "");
    query.with("vertex", vertex).of("/graph")
}

/// The page that lists vertices, with this one alone.
fn all_of(query: &Query, vertex: &str) -> String {
    let (kind, rest) = vertex.split_once(':').unwrap_or((vertex, ""));
    let (namespace, name) = rest.split_once('/').unwrap_or(("", rest));
    let asked = [
        ("profile", query.get("profile")),
        ("kind", kind),
        ("namespace", namespace),
        ("name", name),
    ];
    let asked = asked.into_iter();
    let asked = asked.fold(Query::default(), |query, (key, value)| {
        query.with(key, value)
    });
    asked.of(LISTS)
}

impl Profile {
    /// The page that lists the vertices of one of its graphs.
    fn list(&self, size: &Size) -> String {
        let query = Query::default().with("profile", &self.name);
        query.with("target", &size.target).of(LISTS)
    }
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
            found: None,
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
        ("", "", _) | ("", _, "") => match query.get("search") {
            "" => "Graph".to_owned(),
            text => format!("Search for {text}"),
        },
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
    let profile = Query::default().with("profile", query.get("profile"));
    let mut vertex = query.get("vertex").to_owned();
    if !query.get("search").is_empty() {
        let asked = profile.with("text", query.get("search"));
        let found: Found = backend.get(&asked.of("/api/v1/graph/vertices")).await?;
        if let ([only], "") = (found.items.as_slice(), vertex.as_str()) {
            vertex.clone_from(only);
        }
        page.found = Some(found);
    }
    if !vertex.is_empty() {
        let asked = profile.with("vertex", &vertex);
        let found: Neighbors = backend.get(&asked.of("/api/v1/graph/neighbors")).await?;
        page.vertex = Some(shown(&query, found));
    }
    if !query.get("from").is_empty() || !query.get("to").is_empty() {
        let asked = query.with("search", "").with("vertex", "");
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
        all: all_of(query, &found.vertex),
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
