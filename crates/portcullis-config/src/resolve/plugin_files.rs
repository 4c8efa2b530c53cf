//! Files that the configuration of a plug-in names: by convention, those at keys that end in `File`.
//!
//! Their paths become those that the plug-in can open, and they are watched like every other file. What is in them
//! is the plug-in's business.

use std::path::Path;

use portcullis_document::{Document, path};
use portcullis_watch::KubeconfigServer;
use serde_json::Value;

use crate::notes::Notes;

/// How the keys end.
const ENDING: &str = "File";

/// Files that are not secret.
const PUBLIC: [&str; 2] = ["caFile", "clientCertificateFile"];

/// A file that names others.
const KUBECONFIG: &str = "kubeConfigFile";

/// Resolves the files of a configuration that is at this place of the document.
pub(super) fn resolve(document: &Document, at: &str, value: &mut Value, notes: &mut Notes) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let at = path::key(at, key);
                match member {
                    Value::String(named) if key.ends_with(ENDING) && !named.is_empty() => {
                        *named = file(document, &at, key, named, notes);
                    }
                    member => resolve(document, &at, member, notes),
                }
            }
        }
        Value::Array(list) => {
            for (index, element) in list.iter_mut().enumerate() {
                resolve(document, &path::index(at, index), element, notes);
            }
        }
        _ => {}
    }
}

fn file(document: &Document, at: &str, key: &str, named: &str, notes: &mut Notes) -> String {
    let named = Path::new(named);
    let file = match PUBLIC.contains(&key) {
        true => notes.named_file(document, at, named),
        false => notes.named_key(document, at, named),
    };
    if key == KUBECONFIG {
        for other in KubeconfigServer::files(&file) {
            notes.watch(&other);
        }
    }
    // A path that isn't text can't be written in a configuration.
    file.to_string_lossy().into_owned()
}
