//! The `hostCalls` key.

use std::path::PathBuf;

use portcullis_host::{ForwardRule, HostSettings, RegistrySettings, SignatureVerifier};
use schemars::JsonSchema;
use serde::Deserialize;

use portcullis_document::{Duration, Size};

/// Host calls of policies.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(rename = "HostCalls")]
pub(crate) struct HostCallsSpec {
    /// Where reviews may be forwarded: `https://other.example/*`, `unix:///run/x.sock`. By default
    /// nowhere; in a file with `listener`, anywhere.
    pub(crate) forward_to: Option<Vec<String>>,
    /// The file with the trusted CA certificates for forwarding, PEM; by default those of the system.
    #[serde(rename = "forwardCA")]
    pub(crate) forward_ca: Option<PathBuf>,
    /// The program that `cosignVerify` runs, or `builtin`: signatures of keys are then verified without a program. By
    /// default `cosign` if it is installed, else `builtin`.
    pub(crate) cosign: Option<PathBuf>,
    /// The registries of images, for signatures that are verified without a program.
    pub(crate) registries: RegistriesSpec,
    /// Arguments added to every call of cosign.
    pub(crate) cosign_arguments: Vec<String>,
    /// The program that `slsaVerify` runs.
    pub(crate) slsa_verifier: Option<PathBuf>,
    /// The longest time of one call, within the deadline of the review.
    pub(crate) timeout: Option<Duration>,
    /// The largest answer of another controller.
    pub(crate) body: Option<Size>,
}

/// The registries of images.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(rename = "Registries")]
pub(crate) struct RegistriesSpec {
    /// Servers that may be asked although they are private: `registry.internal:5000`, or `http://127.0.0.1:5000` without
    /// TLS.
    pub(crate) allow: Vec<String>,
    /// The file with the trusted CA certificates, PEM; by default those of the system.
    pub(crate) ca: Option<PathBuf>,
    /// A `config.json` of Docker; the credentials that are written in it are used.
    pub(crate) docker_config: Option<PathBuf>,
}

/// The value of `cosign` for no program.
const BUILT_IN: &str = "builtin";

impl HostCallsSpec {
    /// The settings, with programs as they are written and no authorities. Where `forwardTo` is not given, `otherwise`
    /// holds.
    pub(crate) fn settings(&self, otherwise: ForwardRule) -> HostSettings {
        let default = HostSettings::default();
        let listed = self.forward_to.clone().map(ForwardRule::Only);
        let verifier = match &self.cosign {
            None => SignatureVerifier::Installed,
            Some(name) if name.as_os_str() == BUILT_IN => SignatureVerifier::BuiltIn,
            Some(_) => SignatureVerifier::Program,
        };
        HostSettings {
            forward_to: listed.unwrap_or(otherwise),
            cosign: self.cosign.clone().unwrap_or(default.cosign),
            signature_verifier: verifier,
            registries: RegistrySettings {
                allow: self.registries.allow.clone(),
                ..RegistrySettings::default()
            },
            cosign_arguments: self.cosign_arguments.clone(),
            slsa_verifier: self.slsa_verifier.clone().unwrap_or(default.slsa_verifier),
            call_limit: self.timeout.map_or(default.call_limit, Into::into),
            body_limit: self.body.map_or(default.body_limit, Size::as_usize),
            ..HostSettings::default()
        }
    }
}
