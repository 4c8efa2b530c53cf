//! `kubectl`, as a person types it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::process::bare;
use crate::{Answer, Programs};

/// A way to run `kubectl`: against which cluster, as whom, in which namespace.
#[derive(Clone, Debug)]
pub struct Kubectl {
    program: PathBuf,
    directory: PathBuf,
    flags: Vec<String>,
    environment: Vec<(&'static str, &'static str)>,
}

impl Kubectl {
    pub(crate) fn new(programs: &Programs, directory: &Path) -> Self {
        Self {
            program: programs.path("kubectl"),
            directory: directory.to_owned(),
            flags: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// The same, with one more flag on every call.
    #[must_use]
    pub fn with(&self, flag: &str) -> Self {
        let mut other = self.clone();
        other.flags.push(flag.to_owned());
        other
    }

    /// The same in another namespace.
    #[must_use]
    pub fn in_namespace(&self, namespace: &str) -> Self {
        self.with(&format!("--namespace={namespace}"))
    }

    /// The same, signed in with the token of another user.
    #[must_use]
    pub fn signed_in_as(&self, user: &str) -> Self {
        self.with(&format!("--user={user}"))
    }

    /// The same, impersonating someone.
    #[must_use]
    pub fn impersonating(&self, user: &str) -> Self {
        self.with(&format!("--as={user}"))
    }

    /// The same over HTTP/1.1, where Go's client tells more of a failed handshake.
    #[must_use]
    pub fn without_http2(&self) -> Self {
        let mut other = self.clone();
        other.environment.push(("DISABLE_HTTP2", "true"));
        other
    }

    /// Runs it with these arguments.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Answer {
        self.run_with_input(arguments, "")
    }

    /// Runs it with these arguments and this standard input.
    #[must_use]
    pub fn run_with_input(&self, arguments: &[&str], input: &str) -> Answer {
        let mut command = Command::new(&self.program);
        bare(&mut command)
            .env("HOME", &self.directory)
            .env("KUBECONFIG", self.directory.join("kubeconfig.json"))
            .envs(self.environment.iter().copied())
            .args(&self.flags)
            .args(arguments);
        let shown = format!("kubectl {} {}", self.flags.join(" "), arguments.join(" "));
        Answer::of(&mut command, shown, input)
    }

    /// `kubectl create -f -`.
    #[must_use]
    pub fn create(&self, manifest: &Value) -> Answer {
        self.run_with_input(&["create", "-f", "-"], &manifest.to_string())
    }

    /// `kubectl create -f - --dry-run=server`.
    #[must_use]
    pub fn dry_run(&self, manifest: &Value) -> Answer {
        self.run_with_input(
            &["create", "--dry-run=server", "-f", "-"],
            &manifest.to_string(),
        )
    }

    /// `kubectl apply -f -`.
    #[must_use]
    pub fn apply(&self, manifest: &Value) -> Answer {
        self.run_with_input(&["apply", "-f", "-"], &manifest.to_string())
    }

    /// Creates an object and gives back what the API server made of it.
    #[track_caller]
    #[must_use]
    pub fn created(&self, manifest: &Value) -> Value {
        self.run_with_input(&["create", "-o", "json", "-f", "-"], &manifest.to_string())
            .json()
    }

    /// What is stored under that name.
    #[track_caller]
    #[must_use]
    pub fn stored(&self, kind: &str, name: &str) -> Value {
        self.run(&["get", kind, name, "-o", "json"]).json()
    }

    /// Whether something is stored under that name.
    #[track_caller]
    #[must_use]
    pub fn exists(&self, kind: &str, name: &str) -> bool {
        let answer = self.run(&["get", kind, name, "--ignore-not-found", "-o", "name"]);
        !answer.succeeds().stdout.is_empty()
    }
}
