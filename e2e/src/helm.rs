//! `helm`, as a person types it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::bare;
use crate::{Answer, Cluster};

/// The directory with helm and the definitions of custom resources, as `e2e/helm/build` prints it.
#[derive(Clone, Debug)]
pub struct HelmPrograms(PathBuf);

/// A way to run `helm`: with which cluster, if any.
#[derive(Clone, Debug)]
pub struct Helm {
    program: PathBuf,
    home: PathBuf,
    kubeconfig: Option<PathBuf>,
}

impl HelmPrograms {
    /// The directory named by `HELM_PROGRAMS`.
    #[must_use]
    pub fn from_environment() -> Option<Self> {
        env::var_os("HELM_PROGRAMS").map(|directory| Self(directory.into()))
    }

    /// The directory.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.0.clone()
    }

    /// The manifests of custom resources that the chart can create objects of.
    #[must_use]
    pub fn definitions(&self) -> PathBuf {
        self.0.join("crds")
    }

    /// `helm` without a cluster; what it keeps for itself goes into `home`.
    #[must_use]
    pub fn helm(&self, home: &Path) -> Helm {
        Helm {
            program: self.0.join("helm"),
            home: home.to_owned(),
            kubeconfig: None,
        }
    }
}

impl Helm {
    /// The same with the cluster that was started in this directory, as its administrator.
    #[must_use]
    pub fn in_cluster(&self, directory: &Path) -> Self {
        Self {
            kubeconfig: Some(Cluster::kubeconfig(directory)),
            ..self.clone()
        }
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
        bare(&mut command).env("HOME", &self.home).args(arguments);
        let nowhere = Path::new("/dev/null");
        command.env("KUBECONFIG", self.kubeconfig.as_deref().unwrap_or(nowhere));
        Answer::of(&mut command, format!("helm {}", arguments.join(" ")), input)
    }
}
