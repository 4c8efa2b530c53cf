//! `--scaffold`: a test file with a case for each object of a manifest, which expects what is decided now.

use std::path::Path;

use portcullis_core::Operation;
use portcullis_document::{Fault, Faults};
use portcullis_gate::offline::{self, Blueprint, Manifest, Offline, Request};
use serde_json::{Map, Value};

use crate::commands::text::error;
use crate::commands::text::progress::{self, Bar, Total};
use crate::exit::Exit;
use crate::output;

/// The namespace of objects that name none, as in tests.
const NAMESPACE: &str = "default";

/// Prints the test file, for the tests of a folder.
pub(super) fn print(blueprint: &Blueprint, folder: &Path, manifests: &Path) -> Exit {
    let objects = match objects(manifests) {
        Ok(objects) => objects,
        Err(faults) => {
            error::faults(&faults);
            return Exit::Invalid;
        }
    };
    if objects.is_empty() {
        output::tell(&format!("no objects in {}", manifests.display()));
        return Exit::Nothing;
    }
    // Where no decision depends on those before it, all can be made by the same chain.
    let chain = match blueprint.depends_on_earlier() {
        true => None,
        false => match blueprint.build(None, &blueprint.memory()) {
            Ok(chain) => Some(chain),
            Err(faults) => {
                error::faults(&faults);
                return Exit::Invalid;
            }
        },
    };
    let total = Total::default();
    total.set(u64::try_from(objects.len()).unwrap_or(u64::MAX));
    let mut bar = Bar::new(progress::is_shown(), "objects", total);
    let mut cases = String::new();
    let mut exit = Exit::Yes;
    for (done, object) in (0..).zip(objects) {
        bar.show(done, "");
        match case(blueprint, chain.as_ref(), &object) {
            Ok(case) => cases.push_str(&case),
            Err(why) => {
                bar.hide();
                error::tell(&format!("{}: {why}", title(&object.manifest)));
                exit = Exit::Failed;
            }
        }
    }
    bar.hide();
    if !cases.is_empty() {
        let schema = match folder.join("schemas/tests.json").is_file() {
            true => "# yaml-language-server: $schema=../schemas/tests.json\n",
            false => "",
        };
        output::data(&format!("{schema}tests:\n{cases}"));
    }
    exit
}

/// An object of a manifest.
struct GivenObject {
    manifest: Manifest,
    /// As it is written.
    written: Value,
}

fn objects(path: &Path) -> Result<Vec<GivenObject>, Faults> {
    let one = |fault: Box<Fault>| Faults::from(*fault);
    let mut found = Vec::new();
    let mut faults = Vec::new();
    let is_folder = path.is_dir();
    for file in offline::find(path).map_err(one)?.files {
        let source = offline::read_file(&file).map_err(one)?;
        for mut item in offline::read_written_documents(&source, NAMESPACE) {
            if item.is_other && is_folder {
                continue;
            }
            let written = item.written.take();
            match item.into_manifest() {
                Ok(manifest) => found.push(GivenObject {
                    written: written.map_or_else(|| manifest.object.clone(), |written| *written),
                    manifest,
                }),
                Err(fault) => faults.push(*fault),
            }
        }
    }
    match Faults::from_list(faults) {
        Some(faults) => Err(faults),
        None => Ok(found),
    }
}

fn case(
    blueprint: &Blueprint,
    chain: Option<&Offline>,
    object: &GivenObject,
) -> Result<String, String> {
    let request = Request {
        object: Some(object.written.clone()),
        ..Request::default()
    };
    let answer = match chain {
        Some(chain) => blueprint.answer_of(chain, &request)?,
        None => blueprint.answer(&request, &blueprint.memory())?,
    };
    if answer.undecided {
        return Err(answer.message);
    }
    let verdict = if answer.allowed { "allowed" } else { "denied" };
    let mut keys = Map::new();
    keys.insert(
        "name".to_owned(),
        format!("{} is {verdict}", title(&object.manifest)).into(),
    );
    keys.insert("object".to_owned(), object.written.clone());
    keys.insert("expect".to_owned(), answer.expectation());
    Ok(offline::case_entry(&keys))
}

/// `CREATE Pod shop/web`.
fn title(manifest: &Manifest) -> String {
    let text = |pointer: &str| {
        let found = manifest.object.pointer(pointer).and_then(Value::as_str);
        found.unwrap_or_default().to_owned()
    };
    let (kind, name) = (text("/kind"), text("/metadata/name"));
    let namespace = match manifest.namespace.as_str() {
        "" => String::new(),
        namespace => format!("{namespace}/"),
    };
    format!("{} {kind} {namespace}{name}", Operation::Create)
}
