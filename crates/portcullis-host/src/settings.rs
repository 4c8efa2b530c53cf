//! What policies may reach, by the configuration.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis_document::Fault;
use portcullis_net::authorities;

use crate::forward_rule::{AllowedTargets, ForwardRule};
use crate::registry::RegistrySettings;
use crate::target;
use crate::text::has_control;

/// What policies may reach.
#[derive(Debug, Clone)]
pub struct HostSettings {
    /// Where policies may forward reviews to.
    pub forward_to: ForwardRule,
    /// Authorities, as PEM text, that vouch for the controllers reviews are forwarded to. They
    /// replace those of the system.
    pub forward_ca: Option<Vec<u8>>,
    /// The program `cosign`: a name looked up in `PATH`, or a path.
    pub cosign: PathBuf,
    /// What verifies signatures of cosign.
    pub signature_verifier: SignatureVerifier,
    /// Where images and their signatures are, for the built-in verification.
    pub registries: RegistrySettings,
    /// Arguments for every `cosign verify`, each one a flag with its value (`--name=value`).
    pub cosign_arguments: Vec<String>,
    /// The program `slsa-verifier`: a name looked up in `PATH`, or a path.
    pub slsa_verifier: PathBuf,
    /// The most bytes an answer may have.
    pub body_limit: usize,
    /// The longest a call may take. The deadline of the evaluation may come earlier.
    pub call_limit: Duration,
    /// How many programs may run at the same time; more wait for their turn.
    pub tool_limit: usize,
    /// Where files of GitHub repositories are fetched from.
    pub github_raw: String,
    /// Where Google's Container Analysis answers.
    pub container_analysis: String,
    /// Where tokens for Google come from.
    pub google_token: GoogleToken,
}

/// What verifies signatures of cosign.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SignatureVerifier {
    /// The program if it is installed, else what is built in.
    #[default]
    Installed,
    /// The program.
    Program,
    /// What is built in.
    BuiltIn,
}

/// Where tokens for Google come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GoogleToken {
    /// Nowhere: nothing that needs one is asked.
    None,
    /// A file that holds nothing but the token.
    File(PathBuf),
    /// The metadata server at this address.
    Metadata(String),
}

impl Default for HostSettings {
    /// The programs and services as they are known everywhere, and nowhere to forward to.
    fn default() -> Self {
        Self {
            forward_to: ForwardRule::Only(Vec::new()),
            forward_ca: None,
            cosign: PathBuf::from("cosign"),
            signature_verifier: SignatureVerifier::Installed,
            registries: RegistrySettings::default(),
            cosign_arguments: Vec::new(),
            slsa_verifier: PathBuf::from("slsa-verifier"),
            body_limit: 1 << 20,
            call_limit: Duration::from_secs(30),
            tool_limit: 32,
            github_raw: "https://raw.githubusercontent.com".to_owned(),
            container_analysis: "https://containeranalysis.googleapis.com".to_owned(),
            google_token: GoogleToken::Metadata("http://metadata.google.internal".to_owned()),
        }
    }
}

impl HostSettings {
    /// Whether all of it can be used.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, each with the key it is about.
    pub fn check(&self) -> Result<(), Vec<Fault>> {
        let mut faults = Vec::new();
        let mut note = |key: &str, fault: String| faults.push(Fault::at(key, fault));
        if let Err(found) = AllowedTargets::parse(&self.forward_to) {
            for (index, fault) in found {
                note(&format!("forwardTo[{index}]"), fault);
            }
        }
        if let Some(Err(fault)) = self.forward_ca.as_deref().map(authorities) {
            note("forwardCA", fault.to_string());
        }
        for (key, program) in [
            ("cosign", &self.cosign),
            ("slsaVerifier", &self.slsa_verifier),
        ] {
            if let Err(fault) = check_program(program) {
                note(key, fault);
            }
        }
        for fault in self.registries.check() {
            note(&format!("registries.{}", fault.path), fault.message);
        }
        for (index, argument) in self.cosign_arguments.iter().enumerate() {
            if let Err(fault) = check_flag(argument) {
                note(&format!("cosignArguments[{index}]"), fault);
            }
        }
        for (key, base) in [
            ("githubRaw", &self.github_raw),
            ("containerAnalysis", &self.container_analysis),
        ] {
            if let Err(fault) = check_base(base) {
                note(key, fault);
            }
        }
        if let GoogleToken::Metadata(base) = &self.google_token
            && let Err(fault) = target::web(base)
        {
            note("googleToken", fault);
        }
        for (key, nothing) in [
            ("body", self.body_limit == 0),
            ("timeout", self.call_limit.is_zero()),
            ("toolLimit", self.tool_limit == 0),
        ] {
            if nothing {
                note(key, "must be more than 0".to_owned());
            }
        }
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults)
        }
    }
}

fn check_program(program: &Path) -> Result<(), String> {
    if program.file_name().is_none_or(OsStr::is_empty) {
        return Err("must be the name or path of a program".to_owned());
    }
    Ok(())
}

fn check_flag(argument: &str) -> Result<(), String> {
    if !argument.starts_with('-') || argument == "-" || argument == "--" || has_control(argument) {
        return Err("must be a flag, with its value after `=` if it has one".to_owned());
    }
    let name = argument.split('=').next().unwrap_or_default();
    if matches!(name, "--key" | "--output" | "-o") {
        return Err(format!("`{name}` is already set"));
    }
    Ok(())
}

fn check_base(base: &str) -> Result<(), String> {
    let web = target::web(base)?;
    web.check_confidential().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_can_be_used() {
        assert_eq!(HostSettings::default().check(), Ok(()));
    }

    #[test]
    fn faults_name_their_keys() {
        let settings = HostSettings {
            forward_to: ForwardRule::Only(vec![
                "https://good.example/*".to_owned(),
                "ftp://bad/".to_owned(),
            ]),
            forward_ca: Some(b"not a certificate".to_vec()),
            cosign: PathBuf::new(),
            cosign_arguments: vec![
                "--insecure-ignore-tlog".to_owned(),
                "image".to_owned(),
                "--key=x".to_owned(),
            ],
            github_raw: "http://mirror.example".to_owned(),
            tool_limit: 0,
            ..HostSettings::default()
        };
        let faults = settings.check().unwrap_err();
        let keys: Vec<&str> = faults.iter().map(|fault| fault.path.as_str()).collect();
        assert_eq!(
            keys,
            [
                "forwardTo[1]",
                "forwardCA",
                "cosign",
                "cosignArguments[1]",
                "cosignArguments[2]",
                "githubRaw",
                "toolLimit"
            ]
        );
    }
}
