//! Host calls of policies.

use portcullis_host::{ForwardRule, HostSettings};

use super::Strictness;
use crate::{model::HostCallsSpec, notes::Notes};
use portcullis_document::{Document, Fault, path};

/// Larger files are not lists of authorities.
const LARGEST_CA: u64 = 16 << 20;

/// Larger files are not configurations of Docker.
const LARGEST_CONFIG: u64 = 1 << 20;

/// Checks and resolves `hostCalls`.
pub(super) fn settings(
    document: &Document,
    spec: &HostCallsSpec,
    strictness: Strictness,
    notes: &mut Notes,
) -> HostSettings {
    let mut settings = spec.settings(match strictness {
        Strictness::Acjs => ForwardRule::Anywhere,
        Strictness::Strict => ForwardRule::Only(Vec::new()),
    });
    let mut authorities = String::new();
    if let Some(named) = &spec.forward_ca {
        let file = notes.named_file(document, "hostCalls.forwardCA", named);
        settings.forward_ca = portcullis_files::read(&file, LARGEST_CA).ok();
        authorities = format!("`{}` ", file.display());
    }
    let registries = &spec.registries;
    let mut registry_ca = String::new();
    if let Some(named) = &registries.ca {
        let file = notes.named_file(document, "hostCalls.registries.ca", named);
        settings.registries.authorities = portcullis_files::read(&file, LARGEST_CA).ok();
        registry_ca = format!("`{}` ", file.display());
    }
    if let Some(named) = &registries.docker_config {
        let file = notes.named_key(document, "hostCalls.registries.dockerConfig", named);
        settings.registries.docker_config = portcullis_files::read(&file, LARGEST_CONFIG).ok();
    }
    for program in [&mut settings.cosign, &mut settings.slsa_verifier] {
        // A bare name is looked for in PATH; anything else is a path relative to the file.
        if program.components().count() > 1 {
            *program = document.source.resolve(program);
        }
    }
    if let Err(wrong) = settings.check() {
        for fault in wrong {
            let about = match fault.path.as_str() {
                "forwardCA" => authorities.as_str(),
                "registries.ca" => registry_ca.as_str(),
                _ => "",
            };
            notes.fault(document.locate(Fault {
                path: path::join("hostCalls", &fault.path),
                message: format!("{about}{}", fault.message),
                ..fault
            }));
        }
    }
    settings
}
