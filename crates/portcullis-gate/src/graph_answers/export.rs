//! Whole graphs as text, piece by piece: a large graph is never in memory as one text.
//!
//! Vertices come first, kind by kind, then the edges of each. It is not a snapshot: what changes while
//! it is written may be seen in part.

use std::fmt::Write as _;

use portcullis_core::text::{is_odd, printable};
use portcullis_graph::KindId;
use serde_json::json;

use super::view::{GraphView, Key};

/// A piece is full when it has so many bytes.
const PIECE: usize = 64 << 10;

/// How a graph is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// `{"vertices": [{kind, namespace, name}], "edges": [{from, to, owner}]}`, and `"problems": [text]` if
    /// there are any.
    Json,
    /// For Graphviz. Problems are comments.
    Dot,
}

/// The text of a graph, piece by piece.
#[derive(Debug)]
pub struct Export {
    view: GraphView,
    name: String,
    format: ExportFormat,
    /// What is wrong with the objects.
    problems: Vec<String>,
    /// What is being written; none when all is.
    part: Option<Section>,
    /// Kinds that are left in this part, the next one last.
    kinds: Vec<KindId>,
    /// Vertices that are left of the kind, the next one last.
    vertices: Vec<Key>,
    /// Whether the part has something already.
    has_items: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Head,
    Vertices,
    Edges,
}

impl Export {
    /// The graphs of a view, under a name.
    pub fn new(view: GraphView, name: &str, format: ExportFormat) -> Self {
        Self {
            view,
            name: name.to_owned(),
            format,
            problems: Vec::new(),
            part: Some(Section::Head),
            kinds: Vec::new(),
            vertices: Vec::new(),
            has_items: false,
        }
    }

    /// The same, and what is wrong with the objects.
    #[must_use]
    pub fn with_problems(self, problems: Vec<String>) -> Self {
        Self { problems, ..self }
    }

    /// Ends a part and begins the next.
    fn advance(&mut self, text: &mut String) {
        let (said, next) = match (self.part, self.format) {
            (Some(Section::Head), ExportFormat::Json) => {
                ("{\"vertices\":[".into(), Section::Vertices)
            }
            (Some(Section::Head), ExportFormat::Dot) => {
                let comment = |one: &String| format!("// problem: {}\n", printable(one));
                let comments: String = self.problems.iter().map(comment).collect();
                let head = format!("{comments}digraph {} {{\n", quoted(&self.name));
                (head, Section::Vertices)
            }
            (Some(Section::Vertices), ExportFormat::Json) => {
                ("\n],\n\"edges\":[".into(), Section::Edges)
            }
            (Some(Section::Vertices), ExportFormat::Dot) => (String::new(), Section::Edges),
            (Some(Section::Edges) | None, format) => {
                match format {
                    ExportFormat::Json if self.problems.is_empty() => text.push_str("\n]}\n"),
                    ExportFormat::Json => {
                        let problems = json!(self.problems);
                        let _ = writeln!(text, "\n],\n\"problems\":{problems}}}");
                    }
                    ExportFormat::Dot => text.push_str("}\n"),
                }
                self.part = None;
                return;
            }
        };
        text.push_str(&said);
        self.part = Some(next);
        self.has_items = false;
        self.kinds = self.view.profile().kinds.iter().map(|(id, _)| id).collect();
        self.kinds.reverse();
    }

    /// The next vertex of the part.
    fn next_vertex(&mut self) -> Option<Key> {
        loop {
            if let Some(key) = self.vertices.pop() {
                return Some(key);
            }
            let kind = self.kinds.pop()?;
            self.vertices = self.view.list(Some(kind), None, None, usize::MAX);
            self.vertices.reverse();
        }
    }

    fn write(&mut self, key: &Key, text: &mut String) {
        if self.part == Some(Section::Vertices) {
            let vertex = self.view.vertex(key);
            let item = match self.format {
                ExportFormat::Json => {
                    let (kind, namespace, name) = (vertex.kind, vertex.namespace, vertex.name);
                    json!({"kind": kind, "namespace": namespace, "name": name}).to_string()
                }
                ExportFormat::Dot => quoted(&vertex.to_string()),
            };
            self.item(&item, text);
            return;
        }
        let Some(around) = self.view.around(key, usize::MAX) else {
            return;
        };
        let from = self.view.text(key);
        for (to, owners) in &around.outgoing {
            let to = self.view.text(to);
            for owner in owners {
                let owner = self.view.text(owner);
                let item = match self.format {
                    ExportFormat::Json => {
                        json!({"from": from, "to": to, "owner": owner}).to_string()
                    }
                    ExportFormat::Dot => {
                        let owner = quoted(&format!("by {owner}"));
                        format!("{} -> {} [tooltip={owner}]", quoted(&from), quoted(&to))
                    }
                };
                self.item(&item, text);
            }
        }
    }

    fn item(&mut self, item: &str, text: &mut String) {
        match (self.format, self.has_items) {
            (ExportFormat::Json, true) => text.push_str(",\n"),
            (ExportFormat::Json, false) => text.push('\n'),
            (ExportFormat::Dot, _) => text.push_str("  "),
        }
        text.push_str(item);
        if self.format == ExportFormat::Dot {
            text.push_str(";\n");
        }
        self.has_items = true;
    }
}

impl Iterator for Export {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut text = String::new();
        while text.len() < PIECE {
            match self.part {
                None => break,
                Some(Section::Head) => self.advance(&mut text),
                Some(Section::Vertices | Section::Edges) => match self.next_vertex() {
                    Some(key) => self.write(&key, &mut text),
                    None => self.advance(&mut text),
                },
            }
        }
        (!text.is_empty()).then_some(text)
    }
}

/// A text between quotes, as Graphviz takes it: it can't end early, and says nothing special.
fn quoted(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 2);
    safe.push('"');
    for character in text.chars() {
        match character {
            '"' => safe.push_str("\\\""),
            '\\' => safe.push_str("\\\\"),
            c if is_odd(c) => {
                // The backslash is doubled, so that it is shown as it is written here.
                let _ = write!(safe, "\\\\u{{{:x}}}", u32::from(c));
            }
            c => safe.push(c),
        }
    }
    safe.push('"');
    safe
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::sample;
    use super::*;

    fn text(format: ExportFormat, target: Option<&str>) -> String {
        let view = GraphView::new(&sample::state(), target).unwrap();
        Export::new(view, "sample", format).collect()
    }

    #[test]
    fn json_has_every_vertex_and_edge_once() {
        let value: Value = serde_json::from_str(&text(ExportFormat::Json, None)).unwrap();
        let vertices = value["vertices"].as_array().unwrap();
        assert_eq!(vertices.len(), 6);
        assert!(vertices.contains(&json!({"kind": "Robot", "namespace": "", "name": "r2"})));
        let edge =
            |from: &str, to: &str, owner: &str| json!({"from": from, "to": to, "owner": owner});
        let mut edges = value["edges"].as_array().unwrap().clone();
        edges.sort_by_key(Value::to_string);
        let mut wanted = vec![
            edge("Badge:hq/b1", "Desk:hq/d1", "Desk:hq/d1"),
            edge("Desk:hq/d1", "Floor:f1", "Desk:hq/d1"),
            edge("Desk:hq/d1", "Robot:r1", "Desk:hq/d1"),
            edge("Desk:hq/d2", "Robot:r2", "Desk:hq/d2"),
        ];
        wanted.sort_by_key(Value::to_string);
        assert_eq!(edges, wanted);
        let floors = text(ExportFormat::Json, Some("Floor"));
        assert!(!floors.contains("Robot:r1\""), "{floors}");
    }

    #[test]
    fn an_empty_graph_is_written_too() {
        let state = portcullis_graph::State::new(sample::profile().into(), None);
        let view = GraphView::new(&state.into(), None).unwrap();
        let text: String = Export::new(view.clone(), "x", ExportFormat::Json).collect();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value, json!({"vertices": [], "edges": []}));
        let text: String = Export::new(view, "x", ExportFormat::Dot).collect();
        assert_eq!(text, "digraph \"x\" {\n}\n");
    }

    #[test]
    fn problems_are_told_in_both_formats() {
        let view = GraphView::new(&sample::state(), None).unwrap();
        let with = |format| -> String {
            let problems = vec!["a.yaml: \"odd\"\nx".to_owned()];
            let export = Export::new(view.clone(), "x", format);
            export.with_problems(problems).collect()
        };
        let value: Value = serde_json::from_str(&with(ExportFormat::Json)).unwrap();
        assert_eq!(value["problems"], json!(["a.yaml: \"odd\"\nx"]));
        assert_eq!(value["vertices"].as_array().unwrap().len(), 6);
        let dot = with(ExportFormat::Dot);
        assert!(
            dot.starts_with("// problem: a.yaml: \"odd\"\\nx\ndigraph \"x\" {\n"),
            "{dot}"
        );
    }

    #[test]
    fn dot_names_vertices_as_people_write_them() {
        let text = text(ExportFormat::Dot, None);
        assert!(
            text.starts_with("digraph \"sample\" {\n") && text.ends_with("}\n"),
            "{text}"
        );
        for line in [
            "  \"Robot:r1\";",
            "  \"Badge:hq/b1\" -> \"Desk:hq/d1\" [tooltip=\"by Desk:hq/d1\"];",
        ] {
            assert!(text.lines().any(|own| own == line), "{line}: {text}");
        }
    }

    #[test]
    fn no_name_ends_a_quoted_text() {
        assert_eq!(quoted(r#"a"b\c"#), r#""a\"b\\c""#);
        assert_eq!(quoted("a\nb\u{1b}"), r#""a\\u{a}b\\u{1b}""#);
        assert_eq!(quoted("\\"), "\"\\\\\"");
    }
}
