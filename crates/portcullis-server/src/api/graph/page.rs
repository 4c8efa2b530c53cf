//! The page of the graph: `/debug/resource-dependency-graph`.
//!
//! ```text
//! query -> Asked -> Shown (which vertices, within bounds) -> write (HTML)
//! ```

mod write;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue};

use super::super::call::{Answering, Call};
use super::super::endpoint::{QueryParameter, text};
use super::super::pages;
use super::super::query::Query;
use super::searches::search;
use super::{PROFILE, TARGET, profile, reading, unanswered};
use crate::http::error::{HttpError, with_type};
use portcullis_gate::graph_answers::{GraphView, Key};

/// Vertices on a page at most. Without a filter and with more, only those of the target kind are shown.
const VERTICES: usize = 2000;
/// Neighbours of a vertex at most, in each direction.
const NEIGHBOURS: usize = 1000;
/// Neighbours on a page at most.
const LINES: usize = 20_000;

const STYLE: &str = include_str!("../../../assets/graph/page.css");

/// Only this page's own style, by its hash; nothing is fetched, nothing runs.
static POLICY: LazyLock<Option<HeaderValue>> = LazyLock::new(|| {
    let hash = STANDARD.encode(digest(&SHA256, STYLE.as_bytes()));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'"
    );
    HeaderValue::try_from(policy).ok()
});

pub(super) const DESCRIPTION: &str = "Vertices with the edges that come in and go out, as links to narrower views. \
    Without a filter and with more than 2,000 vertices only those of the target kind are shown.";

pub(super) const QUERY: &[QueryParameter] = &[
    PROFILE,
    TARGET,
    text("kind", "Only this kind.", "Shoot"),
    text("namespace", "Only this namespace.", "garden-my-project"),
    text("name", "Only this name.", "my-shoot"),
];

/// What the user wants to see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Asked {
    target: Option<String>,
    kind: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
}

/// What is shown.
#[derive(Debug)]
struct Shown {
    /// The kind that is shown, chosen or not.
    kind: Option<String>,
    vertices: Vec<Key>,
    /// Whether there are more.
    is_cut: bool,
    /// Whether the kind was chosen for there being too many vertices.
    is_chosen: bool,
}

/// `GET /debug/resource-dependency-graph`
pub(super) fn page(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        reading(&call).await?;
        let mut query = Query::of(call.head);
        let graphs = &call.gate.graphs;
        let profile = profile(graphs, &mut query)?;
        let mut take = |name| Ok::<_, HttpError>(query.take(name)?.filter(|text| !text.is_empty()));
        let asked = Asked {
            target: take("target")?,
            kind: take("kind")?,
            namespace: take("namespace")?,
            name: take("name")?,
        };
        query.done()?;
        let state = profile.authorizer.state();
        let view = GraphView::new(state, asked.target.as_deref()).map_err(unanswered)?;
        let names = graphs.iter().map(|one| one.name.clone()).collect();
        let page = write::Page {
            is_caught_up: state.is_caught_up(),
            profile: profile.name.clone(),
            profiles: names,
            view,
            asked,
        };
        let text = search(move || page.text()).await?;
        let content_type = "text/html; charset=utf-8";
        let mut response = with_type(StatusCode::OK, text.into_bytes(), content_type);
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let policy = POLICY.clone().ok_or_else(HttpError::internal)?;
        headers.insert(CONTENT_SECURITY_POLICY, policy);
        for (name, value) in pages::HEADERS {
            let name = HeaderName::from_static(name);
            headers.insert(name, HeaderValue::from_static(value));
        }
        Ok(response)
    })
}

/// The vertices that fit, within bounds.
fn shown(view: &GraphView, asked: &Asked, most: usize) -> Shown {
    let kinds = &view.profile().kinds;
    let list = |kind| {
        let (namespace, name) = (asked.namespace.as_deref(), asked.name.as_deref());
        view.list(kind, namespace, name, most.saturating_add(1))
    };
    let mut shown = Shown {
        kind: asked.kind.clone(),
        vertices: Vec::new(),
        is_cut: false,
        is_chosen: false,
    };
    match asked.kind.as_deref().map(|name| kinds.id(name)) {
        // There is no such kind, so there is nothing of it.
        Some(None) => {}
        Some(kind) => shown.vertices = list(kind),
        None => {
            shown.vertices = list(None);
            let is_filtered = asked.namespace.is_some() || asked.name.is_some();
            let target = view.first_target();
            if !is_filtered && shown.vertices.len() > most && target.is_some() {
                shown.is_chosen = true;
                shown.kind = target.map(|id| kinds.name(id).to_owned());
                shown.vertices = list(target);
            }
        }
    }
    shown.is_cut = shown.vertices.len() > most;
    shown.vertices.truncate(most);
    shown
}
