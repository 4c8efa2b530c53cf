//! The page as HTML: a form, and the vertices laid out as text.
//!
//! INVARIANT: whatever comes from objects, the query or the configuration goes through [`escaped`] or
//! [`Page::link`].

use std::collections::HashSet;
use std::fmt::Write as _;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use portcullis_graph::Vertex;

use super::{Asked, LINES, NEIGHBOURS, STYLE, Shown, VERTICES, shown};
use crate::api::html::escaped;
use portcullis_gate::graph_answers::{GraphView, Key, Neighborhood};

const RULE: &str =
    "--------------------------------------------------------------------------------";

/// What can't stand in an id or in the part of an address that names it.
const FRAGMENT: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'\'')
    .add(b'<')
    .add(b'>')
    .add(b'`')
    .add(b'&')
    .add(b'%')
    .add(b'#');

/// Everything that a page shows.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) is_caught_up: bool,
    pub(super) profile: String,
    /// Names of all profiles.
    pub(super) profiles: Vec<String>,
    pub(super) view: GraphView,
    pub(super) asked: Asked,
}

impl Page {
    pub(super) fn text(&self) -> String {
        self.bounded(VERTICES, LINES)
    }

    pub(super) fn bounded(&self, vertices: usize, lines: usize) -> String {
        let shown = shown(&self.view, &self.asked, vertices);
        let mut text = String::new();
        self.head(&mut text);
        self.form(&shown, &mut text);
        self.notes(&shown, vertices, &mut text);
        self.graph(&shown, lines, &mut text);
        text.push_str("</main></body></html>\n");
        text
    }

    fn head(&self, text: &mut String) {
        let profile = escaped(&self.profile);
        let (vertices, edges) = self.view.counts();
        let graphs = match self.view.targets() {
            1 => "",
            _ => ", counted in each of its graphs",
        };
        let _ = write!(
            text,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <title>{profile}: resource dependency graph</title><style>{STYLE}</style></head>\n\
             <body><main><h1>Resource dependency graph</h1>\n\
             <p>Profile <strong>{profile}</strong>: {vertices} vertices, {edges} edges{graphs}.</p>\n"
        );
    }

    fn form(&self, shown: &Shown, text: &mut String) {
        text.push_str("<form method=\"get\" aria-label=\"Filter\">");
        let profile = &self.view.profile();
        let kinds = &profile.kinds;
        if self.profiles.len() > 1 {
            let names = self.profiles.iter().map(String::as_str);
            choice(text, "profile", None, names, Some(&self.profile));
        }
        if profile.targets.len() > 1 {
            let names = profile.targets.iter().map(|id| kinds.name(*id));
            choice(
                text,
                "target",
                Some("<all>"),
                names,
                self.asked.target.as_deref(),
            );
        }
        let names = kinds.iter().map(|(_, kind)| kind.name.as_str());
        choice(text, "kind", Some("<all>"), names, shown.kind.as_deref());
        entry(text, "namespace", self.asked.namespace.as_deref());
        entry(text, "name", self.asked.name.as_deref());
        text.push_str("<button>go</button></form>\n");
    }

    fn notes(&self, shown: &Shown, most: usize, text: &mut String) {
        let mut note = |said: String| {
            let _ = writeln!(text, "<p class=\"note\">{said}</p>");
        };
        if !self.is_caught_up {
            note("The graph has not caught up yet: it may be incomplete.".to_owned());
        }
        if shown.is_chosen {
            let kind = escaped(shown.kind.as_deref().unwrap_or_default());
            note(format!(
                "There are more than {most} vertices, so only those of kind {kind} are shown. Filter to see others."
            ));
        }
        if shown.is_cut {
            note(format!(
                "Only the first {most} vertices are shown. Filter to see others."
            ));
        }
        if shown.vertices.is_empty() {
            note("There is no such vertex.".to_owned());
        }
    }

    fn graph(&self, shown: &Shown, lines: usize, text: &mut String) {
        let here: HashSet<&Key> = shown.vertices.iter().collect();
        let mut left = lines;
        text.push_str(
            "<div class=\"graph\" role=\"region\" aria-label=\"Vertices\" tabindex=\"0\">",
        );
        for key in &shown.vertices {
            let Some(around) = self.view.around(key, NEIGHBOURS + 1) else {
                continue;
            };
            self.vertex(key, &around, &here, &mut left, text);
        }
        if !shown.vertices.is_empty() {
            let _ = write!(text, "<p class=\"draw\" aria-hidden=\"true\">{RULE}</p>");
        }
        text.push_str("</div>");
    }

    fn vertex(
        &self,
        key: &Key,
        around: &Neighborhood,
        here: &HashSet<&Key>,
        left: &mut usize,
        text: &mut String,
    ) {
        let vertex = self.view.vertex(key);
        let id = anchor(&vertex);
        let _ = write!(
            text,
            "<article id=\"{id}\"><p class=\"draw\" aria-hidden=\"true\">{RULE}\n|</p>\
             <h2><span class=\"draw\" aria-hidden=\"true\">| # </span>"
        );
        self.parts(&vertex, text);
        if self.view.lacks_object(key, around) {
            text.push_str("<span class=\"draw\"> (referenced, but no such object)</span>");
        }
        text.push_str("</h2>");
        let sides = [
            ("&lt;-", "incoming", &around.incoming),
            ("-&gt;", "outgoing", &around.outgoing),
        ];
        for (arrow, word, side) in sides {
            if side.is_empty() {
                continue;
            }
            let more = if side.len() > NEIGHBOURS {
                "more than "
            } else {
                ""
            };
            let count = side.len().min(NEIGHBOURS);
            let _ = write!(
                text,
                "<h3><span class=\"draw\" aria-hidden=\"true\">|   {arrow}</span>\
                 <span class=\"hidden\">{word}</span> ({more}{count})</h3><ul>"
            );
            let listed = count.min(*left);
            *left -= listed;
            for neighbour in side.keys().take(listed) {
                text.push_str("<li><span class=\"draw\" aria-hidden=\"true\">|     </span>");
                let vertex = self.view.vertex(neighbour);
                self.parts(&vertex, text);
                if here.contains(neighbour) {
                    let (to, name) = (anchor(&vertex), escaped(&vertex.to_string()));
                    let _ = write!(
                        text,
                        " <a href=\"#{to}\" aria-label=\"jump to {name}\">\u{2193}</a>"
                    );
                }
                text.push_str("</li>");
            }
            if listed < side.len() {
                text.push_str("<li><span class=\"draw\" aria-hidden=\"true\">|     </span>");
                let reason = match listed < count {
                    true => {
                        "the page is full: filter by kind, namespace and name to see the others"
                    }
                    false => "the others are left out",
                };
                let _ = write!(text, "<span class=\"cut\">{reason}</span></li>");
            }
            text.push_str("</ul>");
        }
        text.push_str("<p class=\"draw\" aria-hidden=\"true\">|</p></article>");
    }

    /// `Kind:namespace/name`, each part a link to less.
    fn parts(&self, vertex: &Vertex, text: &mut String) {
        let kind = [("kind", vertex.kind.as_str())];
        let namespace = [("namespace", vertex.namespace.as_str())];
        let name = [("name", vertex.name.as_str())];
        self.link(&[&kind[..]].concat(), &vertex.kind, text);
        text.push(':');
        if !vertex.namespace.is_empty() {
            self.link(&[&kind[..], &namespace].concat(), &vertex.namespace, text);
            text.push('/');
        }
        self.link(&[&kind[..], &namespace, &name].concat(), &vertex.name, text);
    }

    /// A link to this page with another filter.
    fn link(&self, filter: &[(&str, &str)], shown: &str, text: &mut String) {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if self.profiles.len() > 1 {
            query.append_pair("profile", &self.profile);
        }
        if let Some(target) = &self.asked.target {
            query.append_pair("target", target);
        }
        query.extend_pairs(filter.iter().filter(|(_, value)| !value.is_empty()));
        let (to, shown) = (escaped(&query.finish()), escaped(shown));
        let _ = write!(text, "<a href=\"?{to}\">{shown}</a>");
    }
}

/// The id of a vertex on the page, which may stand in an attribute as it is, and in the address of a link:
/// browsers compare that with ids before they decode it.
fn anchor(vertex: &Vertex) -> String {
    utf8_percent_encode(&vertex.to_string(), FRAGMENT).to_string()
}

fn choice<'a>(
    text: &mut String,
    name: &str,
    all: Option<&str>,
    values: impl Iterator<Item = &'a str>,
    chosen: Option<&str>,
) {
    let _ = write!(text, "<label>{name}<select name=\"{name}\">");
    if let Some(all) = all {
        let _ = write!(text, "<option value=\"\">{}</option>", escaped(all));
    }
    for value in values {
        let is_chosen = if chosen == Some(value) {
            " selected"
        } else {
            ""
        };
        let value = escaped(value);
        let _ = write!(
            text,
            "<option value=\"{value}\"{is_chosen}>{value}</option>"
        );
    }
    text.push_str("</select></label>");
}

fn entry(text: &mut String, name: &str, value: Option<&str>) {
    let value = escaped(value.unwrap_or_default());
    let _ = write!(
        text,
        "<label>{name}<input name=\"{name}\" value=\"{value}\" autocomplete=\"off\" spellcheck=\"false\"></label>"
    );
}
