//! Host calls of policies.

use std::path::Path;

use portcullis_host::{ForwardRule, HostSettings};

use super::Strictness;
use crate::{document::Document, model::HostCallsSpec, notes::Notes};

/// Larger files are not lists of authorities.
const LARGEST_CA: u64 = 16 << 20;

/// Checks and resolves `hostCalls`.
pub(super) fn settings(
    document: &Document,
    spec: &HostCallsSpec,
    strictness: Strictness,
    notes: &mut Notes,
) -> HostSettings {
    let forward_to = match (&spec.forward_to, strictness) {
        (Some(listed), _) => ForwardRule::Only(listed.clone()),
        (None, Strictness::Acjs) => ForwardRule::Anywhere,
        (None, Strictness::Strict) => ForwardRule::Only(Vec::new()),
    };
    let mut settings = HostSettings {
        forward_to,
        cosign_arguments: spec.cosign_arguments.clone(),
        ..HostSettings::default()
    };
    let mut authorities = String::new();
    if let Some(named) = &spec.forward_ca {
        let file = notes.named_file(document, "hostCalls.forwardCA", named);
        settings.forward_ca = portcullis_files::read(&file, LARGEST_CA).ok();
        authorities = format!("`{}` ", file.display());
    }
    if let Some(program) = &spec.cosign {
        settings.cosign = document_program(document, program);
    }
    if let Some(program) = &spec.slsa_verifier {
        settings.slsa_verifier = document_program(document, program);
    }
    if let Some(timeout) = spec.timeout {
        settings.call_limit = timeout.into();
    }
    if let Some(body) = spec.body {
        settings.body_limit = body.as_usize();
    }
    if let Err(wrong) = settings.check() {
        for (key, message) in wrong {
            let about = if key == "forwardCA" {
                authorities.as_str()
            } else {
                ""
            };
            notes.fault(document.fault(&format!("hostCalls.{key}"), format!("{about}{message}")));
        }
    }
    settings
}

/// A bare name is looked for in PATH; anything else is a path relative to the file.
fn document_program(document: &Document, program: &Path) -> std::path::PathBuf {
    if program.components().count() > 1 {
        document.source.resolve(program)
    } else {
        program.to_owned()
    }
}
