//! What is judged: the documents of all files, with the file they are from.

use std::path::Path;
use std::sync::Arc;

use portcullis_document::{Fault, Source};
use portcullis_gate::offline::{self, Content, Item, Manifest};

use super::Eval;

/// Everything that was found.
#[derive(Debug)]
pub(super) struct Inputs {
    /// To be judged, in order.
    pub(super) items: Vec<Input>,
    /// As they are before an update.
    pub(super) olds: Vec<Manifest>,
}

/// Something to judge, or why it can't be.
#[derive(Debug)]
pub(super) enum Input {
    /// A document of a file.
    Document(String, Item),
    /// A file that can't be read at all.
    File(String, Box<Fault>),
}

impl Inputs {
    /// Whether authorizers are needed.
    pub(super) fn have_access(&self) -> bool {
        self.items.iter().any(|input| {
            matches!(input, Input::Document(_, item) if matches!(item.content, Ok(Content::Access(_))))
        })
    }
}

/// Reads everything. What can't be read is reported beside the results.
///
/// # Errors
///
/// When the objects before an update can't be read: nothing could be judged then.
pub(super) fn read(eval: &Eval) -> Result<Inputs, Box<Fault>> {
    let namespace = eval.request.namespace.as_deref().unwrap_or("default");
    let mut items = Vec::new();
    for path in eval.inputs() {
        items.extend(inputs_at(path, namespace));
    }
    let mut olds = Vec::new();
    if let Some(path) = &eval.request.old {
        for input in inputs_at(path, namespace) {
            let old = match input {
                Input::Document(_, item) => item.into_manifest(),
                Input::File(_, fault) => Err(fault),
            };
            olds.push(old.map_err(|fault| Box::new(fault.with_help("named by --old")))?);
        }
    }
    Ok(Inputs { items, olds })
}

/// The documents at a path, each with its file.
fn inputs_at(path: &Path, namespace: &str) -> Vec<Input> {
    if path == Path::new("-") {
        let read = offline::read_text("-", std::io::stdin().lock());
        return inputs_of("-", read, namespace);
    }
    match offline::find(path) {
        Ok(files) => files
            .iter()
            .flat_map(|file| inputs_of(&shown(file), offline::read_file(file), namespace))
            .collect(),
        Err(fault) => vec![Input::File(shown(path), fault)],
    }
}

fn inputs_of(file: &str, source: Result<Arc<Source>, Box<Fault>>, namespace: &str) -> Vec<Input> {
    match source {
        Ok(source) => offline::read_documents(&source, namespace)
            .into_iter()
            .map(|item| Input::Document(file.to_owned(), item))
            .collect(),
        Err(fault) => vec![Input::File(file.to_owned(), fault)],
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
