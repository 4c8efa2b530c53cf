//! Checks of `store` and `decisions`.

use std::path::Path;
use std::sync::Arc;

use portcullis_record::Masker;
use portcullis_store::{Location, Retention};

use crate::{
    model::{Configuration, Decisions, JsonLines, Service, StoreSpec},
    notes::Notes,
    options::{Listening, LoadOptions},
};
use portcullis_document::{Document, Fault, path};

/// Less is hardly more than the envelope of a review.
const LEAST_INPUT: u64 = 1 << 10;

/// The largest file with the address of a store, in bytes.
const LARGEST_ADDRESS: u64 = 16 << 10;

/// Checks and resolves where decisions are kept, and what is masked in them.
pub(crate) fn decisions(
    document: &Document,
    spec: &Configuration,
    options: &LoadOptions<'_>,
    notes: &mut Notes,
) -> Decisions {
    let wanted = &spec.decisions;
    let location = match options.listeners {
        // Judging manifests needs no store, and no secret that may be in its address.
        Listening::Ignored if spec.store.url_file.is_some() => None,
        _ => location(document, &spec.store, notes),
    };
    if wanted.retention.is_zero() {
        notes.fault(document.fault("decisions.retention", "must be more than zero"));
    }
    if wanted.max_size.bytes() == 0 {
        notes.fault(document.fault("decisions.maxSize", "must be more than zero"));
    }
    if wanted.max_input.bytes() < LEAST_INPUT {
        notes.fault(document.fault("decisions.maxInput", "must be 1Ki or more"));
    }
    let json_lines = wanted
        .json_lines
        .as_ref()
        .map(|named| match named.as_str() {
            "-" => JsonLines::StandardOutput,
            file => JsonLines::File(document.source.resolve(Path::new(file))),
        });
    if wanted.json_lines.as_deref() == Some("") {
        let message = "must not be empty: name a file, or `-` for standard output";
        notes.fault(document.fault("decisions.jsonLines", message));
    }
    if wanted.required && !wanted.store && json_lines.is_none() {
        let message = "decisions are required, but neither `store` nor `jsonLines` keeps them";
        notes.fault(document.fault("decisions.required", message));
    }
    let serves_jobs = spec
        .listeners
        .iter()
        .any(|listener| listener.serves.contains(&Service::Ci));
    if wanted.required && !wanted.store && serves_jobs {
        let message = "decisions about CI jobs are required, and only `store` can keep them \
                       together with the jobs";
        notes.fault(document.fault("decisions.required", message));
    }
    let masker = Masker::new(&wanted.mask).unwrap_or_else(|faults| {
        for fault in faults {
            let path = path::join("decisions", &fault.path);
            notes.fault(document.locate(Fault { path, ..fault }));
        }
        Masker::default()
    });
    let max_input = wanted.max_input.as_usize();
    Decisions {
        is_stored: wanted.store,
        location,
        retention: Retention {
            age: Some(wanted.retention.into()),
            size: Some(wanted.max_size.bytes()),
        },
        masker: Arc::new(masker.with_max_input(max_input)),
        required: wanted.required,
        json_lines,
    }
}

fn location(document: &Document, spec: &StoreSpec, notes: &mut Notes) -> Option<Location> {
    let (at, url) = match (&spec.url, &spec.url_file) {
        (Some(_), Some(_)) => {
            let message = "`url` and `urlFile` can't be combined";
            notes.fault(document.fault("store.urlFile", message));
            return None;
        }
        (None, None) => return None,
        (Some(url), None) => ("store.url", url.clone()),
        (None, Some(named)) => ("store.urlFile", address_in(document, named, notes)?),
    };
    let base = document.source.resolve(Path::new(""));
    Location::parse(&url, &base)
        .map_err(|wrong| notes.fault(document.fault(at, wrong.to_string())))
        .ok()
}

/// The address in a file. Faults name the file and never what is in it.
fn address_in(document: &Document, named: &Path, notes: &mut Notes) -> Option<String> {
    let faults = notes.faults.len();
    let file = notes.named_key(document, "store.urlFile", named);
    if notes.faults.len() > faults {
        return None;
    }
    match portcullis_files::read_text(&file, LARGEST_ADDRESS) {
        Ok(text) => Some(text.trim().to_owned()),
        Err(reason) => {
            let message = format!("cannot read `{}`: {reason}", file.display());
            notes.fault(document.fault("store.urlFile", message));
            None
        }
    }
}
