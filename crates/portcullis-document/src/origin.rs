//! A part of a document, kept to give faults that are found later a place.

use std::sync::Arc;

use super::{
    document::{Document, Node},
    fault::Fault,
    path,
    source::Source,
};

/// Where a part of a document stands, to give faults found later a place.
#[derive(Debug, Clone)]
pub struct Origin {
    source: Arc<Source>,
    path: String,
    node: Option<Node>,
}

impl Origin {
    /// A part of a document.
    pub fn of(document: &Document, path: &str) -> Self {
        Self {
            source: Arc::clone(&document.source),
            path: path.to_owned(),
            node: Some(document.root.nearest(path).clone()),
        }
    }

    /// A flag or environment variable.
    pub fn named(label: &str) -> Self {
        Self {
            source: Source::named(label),
            path: String::new(),
            node: None,
        }
    }

    /// A fault at a path inside this part, like `defaults.enforce`; the empty
    /// path is the part itself.
    pub fn fault(&self, path: &str, message: impl Into<String>) -> Fault {
        self.locate(Fault::at(path, message))
    }

    /// A fault whose path begins at this part, at its place in the document.
    pub fn locate(&self, fault: Fault) -> Fault {
        let node = self.node.as_ref();
        let position = node.map(|node| node.nearest(&fault.path).position);
        let path = path::join(&self.path, &fault.path);
        self.source.locate_at(position, Fault { path, ..fault })
    }

    /// The file, or the flag or environment variable.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The place as `file:line:column`.
    pub fn place(&self) -> String {
        match &self.node {
            Some(node) => format!(
                "{}:{}:{}",
                self.source.label(),
                node.position.line,
                node.position.column
            ),
            None => self.source.label().to_owned(),
        }
    }
}
