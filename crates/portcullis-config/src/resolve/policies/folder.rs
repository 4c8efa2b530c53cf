//! Policies as files in a folder: `NAME.js`, `NAME.ts`, and `*.yaml` with a list of policies or policies of jsPolicy.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Strictness, described, jspolicy, of_document, scripts::Scripts};
use crate::{
    model::{Policy, PolicySpec},
    notes::Notes,
};
use portcullis_document::{Document, Source, Value, read, yaml};

/// A file with a list of policies, in a folder of policies.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Policies")]
pub(crate) struct PolicyFile {
    /// Policies in JavaScript, in the order in which they are evaluated.
    #[serde(default)]
    policies: Option<Vec<PolicySpec>>,
}

/// What a file of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Script,
    List,
}

/// The policies of a folder, in the order of the file names.
pub(super) fn policies(
    document: &Document,
    at: &str,
    named: &Path,
    scripts: &mut Scripts,
    notes: &mut Notes,
) -> Vec<Policy> {
    let mut folder = document.source.resolve(named);
    notes.watch(&folder);
    let listed = match folder.is_file() {
        false => list(&folder),
        // What it imports is beside it.
        true => {
            let file = folder.clone();
            folder.pop();
            alone(file)
        }
    };
    let files = match listed {
        Ok(files) => files,
        Err(reason) => {
            let folder = document.source.resolve(named);
            let message = format!("cannot read policies from `{}`: {reason}", folder.display());
            notes.fault(document.fault(at, message));
            return Vec::new();
        }
    };
    if files.is_empty() {
        let folder = folder.display();
        notes.warn(format!("there are no policies in the folder `{folder}`"));
    }
    let mut found = Vec::new();
    for (file, kind) in files {
        notes.watch(&file);
        let source = match crate::read_source(&file) {
            Ok(source) => source,
            Err(reason) => {
                let message = format!("cannot read the file: {reason}");
                let label = file.display().to_string();
                notes.fault(Source::named(label).fault(None, "", message));
                continue;
            }
        };
        match kind {
            Kind::List if jspolicy::is_jspolicy(&source) => {
                found.extend(jspolicy::policies(&source, scripts, notes));
            }
            Kind::List => {
                let Some(list) = notes.keep(yaml::parse_map(&source)) else {
                    continue;
                };
                let Some(spec) = notes.keep(read::typed::<PolicyFile>(&source, &list.root)) else {
                    continue;
                };
                let specs = spec.policies.as_deref();
                found.extend(of_document(
                    &list,
                    specs,
                    Strictness::Strict,
                    scripts,
                    notes,
                ));
            }
            Kind::Script if source.is_blank() => {
                notes.fault(source.fault(None, "", "the file is empty"));
            }
            Kind::Script => {
                if let Some(read) = scripts.file(&folder, &file, &source, notes) {
                    found.extend(described(stem(&file), &source, read, notes));
                }
            }
        }
    }
    found
}

/// Whether a YAML file is, by its text, one that a folder of policies may hold, and not a configuration.
pub fn is_policy_list(source: &Arc<Source>) -> bool {
    let keys = |document: Document| match document.root.value {
        Value::Map(entries) => entries.into_iter().map(|(key, _)| key.value).collect(),
        _ => Vec::new(),
    };
    let is_list = || yaml::parse_map(source).is_ok_and(|document| keys(document) == ["policies"]);
    jspolicy::is_jspolicy(source) || is_list()
}

/// Whether policies stand in this folder itself.
pub fn holds_policies(folder: &Path) -> bool {
    let is_policy = |(file, kind): &(PathBuf, Kind)| match kind {
        Kind::Script => true,
        Kind::List => crate::read_source(file).is_ok_and(|source| is_policy_list(&source)),
    };
    list(folder).is_ok_and(|files| files.iter().any(is_policy))
}

/// A file that is named itself.
fn alone(file: PathBuf) -> Result<Vec<(PathBuf, Kind)>, String> {
    let name = file.file_name().map(|n| n.to_string_lossy().into_owned());
    match name.as_deref().and_then(kind) {
        Some(kind) => Ok(vec![(file, kind)]),
        None => Err(
            "expected a folder, or a file that ends in .js, .mjs, .ts, .mts, .yaml or .yml"
                .to_owned(),
        ),
    }
}

/// The files of a folder that hold policies, sorted by name.
fn list(folder: &Path) -> Result<Vec<(PathBuf, Kind)>, String> {
    let entries = fs::read_dir(folder).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => "there is no such folder".to_owned(),
        std::io::ErrorKind::NotADirectory => "it is not a folder".to_owned(),
        _ => portcullis_core::system_error::reason(&e),
    })?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|e| portcullis_core::system_error::reason(&e))?
            .path();
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
        if let Some(kind) = name.as_deref().and_then(kind)
            && !path.is_dir()
        {
            files.push((path, kind));
        }
    }
    files.sort_by(|(left, _), (right, _)| left.cmp(right));
    Ok(files)
}

/// What a file of this name is; nothing for types, tests, hidden and other files.
fn kind(name: &str) -> Option<Kind> {
    let (stem, extension) = name.rsplit_once('.')?;
    let is_other = stem.is_empty()
        || name.starts_with('.')
        || [".d", ".test", ".spec"]
            .iter()
            .any(|end| stem.ends_with(end));
    if is_other {
        return None;
    }
    match extension {
        "js" | "mjs" | "ts" | "mts" => Some(Kind::Script),
        "yaml" | "yml" => Some(Kind::List),
        _ => None,
    }
}

fn stem(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_tests_and_hidden_files_are_no_policies() {
        for name in ["a.js", "b.ts", "10-x.mjs"] {
            assert_eq!(kind(name), Some(Kind::Script), "{name}");
        }
        for name in ["a.yaml", "b.yml"] {
            assert_eq!(kind(name), Some(Kind::List), "{name}");
        }
        for name in [
            "portcullis.d.ts",
            "a.test.ts",
            "a.test.yaml",
            "a.spec.js",
            ".a.js",
            "a.json",
            "js",
            ".js",
            "README.md",
            "a.js~",
        ] {
            assert_eq!(kind(name), None, "{name}");
        }
    }
}
