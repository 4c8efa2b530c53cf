//! Where the chart is, and what it is tested with.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::LazyLock;

use portcullis_e2e::{Authority, Cluster, ClusterConfig, Helm, HelmPrograms, Portcullis, Programs};
use serde_json::Value;

/// The networks of Services: all of it is this machine.
const SERVICES: &str = "127.64.0.0/24";

/// What every test of the chart needs.
pub(crate) struct Suite {
    pub(crate) directory: PathBuf,
    pub(crate) helm: Helm,
    helm_programs: HelmPrograms,
    programs: Programs,
}

static SUITE: LazyLock<Option<Suite>> = LazyLock::new(|| {
    let helm = HelmPrograms::from_environment();
    let programs = Programs::from_environment();
    let (Some(helm_programs), Some(programs), Some(_)) = (helm, programs, Portcullis::program())
    else {
        // Past libtest's capture of output, which would swallow it.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: portcullis-e2e chart: HELM_PROGRAMS, KUBE_PROGRAMS and PORTCULLIS are not set; run scripts/test-chart",
        );
        return None;
    };
    let directory = fresh_directory(Path::new(env!("CARGO_TARGET_TMPDIR")));
    Some(Suite {
        helm: helm_programs.helm(&directory),
        helm_programs,
        programs,
        directory,
    })
});

/// Runs a test with a folder of its own, or skips it.
pub(crate) fn with_suite(name: &str, test: impl FnOnce(&'static Suite, &Path)) {
    if let Some(suite) = SUITE.as_ref() {
        let directory = suite.directory.join(name);
        fs::create_dir_all(&directory).unwrap();
        test(suite, &directory);
    }
}

/// The checkout.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder of the chart.
pub(crate) fn chart() -> String {
    let folder = repository().join("deploy/helm/portcullis");
    folder.to_str().unwrap().to_owned()
}

/// The values files that come with the chart, by name, in order.
pub(crate) fn values_files() -> Vec<(String, PathBuf)> {
    let folder = Path::new(&chart()).join("ci");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap();
            (name.trim_end_matches("-values").to_owned(), path)
        })
        .collect();
    files.sort();
    assert!(files.len() >= 4, "{files:?}");
    files
}

/// The documents of a YAML text, without empty ones.
#[track_caller]
pub(crate) fn documents(text: &str) -> Vec<Value> {
    let all: Vec<Value> = serde_saphyr::from_multiple(text)
        .unwrap_or_else(|error| panic!("not YAML, {error}:\n{text}"));
    all.into_iter().filter(|one| !one.is_null()).collect()
}

impl Suite {
    /// A control plane of its own in this folder.
    pub(crate) fn cluster(&self, directory: &Path, authority: &Authority) -> Cluster {
        let config = ClusterConfig {
            service_range: Some(SERVICES),
            ..ClusterConfig::default()
        };
        Cluster::start(self.programs.clone(), directory, authority, &config)
    }

    /// The definitions of what the chart can create objects of.
    pub(crate) fn definitions(&self) -> String {
        let folder = self.helm_programs.definitions();
        folder.to_str().unwrap().to_owned()
    }

    /// The search path of a shell that finds helm and kubectl.
    pub(crate) fn path(&self) -> OsString {
        let mut folders = vec![self.helm_programs.folder(), self.programs.folder()];
        folders.extend(env::split_paths(&env::var_os("PATH").unwrap()));
        env::join_paths(folders).unwrap()
    }

    /// `helm template` with these further arguments.
    #[track_caller]
    pub(crate) fn template(&self, arguments: &[&str]) -> String {
        let chart = chart();
        let fixed = [
            "template",
            "portcullis",
            &chart,
            "--namespace",
            "portcullis",
        ];
        let answer = self.helm.run(&[&fixed, arguments].concat());
        answer.succeeds().stdout
    }
}

/// A new directory for this run; those of runs that are over are removed.
fn fresh_directory(parent: &Path) -> PathBuf {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let over = name
            .to_str()
            .and_then(|name| name.strip_prefix("chart-"))
            .is_some_and(|id| !Path::new("/proc").join(id).exists());
        if over {
            // Another run may be removing it too.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let directory = parent.join(format!("chart-{}", process::id()));
    fs::create_dir_all(&directory).unwrap();
    directory
}
