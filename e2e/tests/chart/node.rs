//! What a kubelet does with a pod of the chart, as far as the server can see: files of volumes, and a process.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use portcullis_e2e::{Portcullis, Process, Signal, until};
use serde_json::Value;

use crate::rendered::items;

/// Files of a ConfigMap or Secret: name and text.
pub(crate) type Files = Vec<(String, String)>;

/// A folder in which the paths of the container are, without their first part.
pub(crate) struct Node {
    root: PathBuf,
}

/// The paths of the container that are mounts of what the test writes.
const MOUNTED: [&str; 3] = ["/etc/portcullis", "/var/lib/portcullis", "/tmp"];

impl Node {
    /// A node whose files are in this folder.
    pub(crate) fn new(root: &Path) -> Self {
        for mounted in MOUNTED {
            fs::create_dir_all(root.join(mounted.trim_start_matches('/'))).unwrap();
        }
        Self {
            root: root.to_owned(),
        }
    }

    /// Writes the volumes of a pod: `find` has the files of a ConfigMap or Secret, by kind and name.
    #[track_caller]
    pub(crate) fn mount(&self, pod: &Value, find: impl Fn(&str, &str) -> Files) {
        for mount in items(&pod["containers"][0]["volumeMounts"]) {
            let volume = items(&pod["volumes"])
                .iter()
                .find(|volume| volume["name"] == mount["name"])
                .unwrap_or_else(|| panic!("no volume for {mount}"));
            let folder = self.path(mount["mountPath"].as_str().unwrap());
            let source = |kind: &str| volume.get(kind);
            let (files, chosen) = match (source("configMap"), source("secret")) {
                (Some(source), _) => (
                    find("ConfigMap", source["name"].as_str().unwrap()),
                    &source["items"],
                ),
                (_, Some(source)) => (
                    find("Secret", source["secretName"].as_str().unwrap()),
                    &source["items"],
                ),
                _ => continue,
            };
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
            for (name, text) in files {
                let path = match items(chosen).iter().find(|item| item["key"] == name) {
                    Some(item) => item["path"].as_str().unwrap(),
                    None if items(chosen).is_empty() => &name,
                    None => continue,
                };
                fs::write(folder.join(path), text).unwrap();
                let mode = if source("secret").is_some() {
                    0o440
                } else {
                    0o644
                };
                fs::set_permissions(folder.join(path), fs::Permissions::from_mode(mode)).unwrap();
            }
        }
    }

    /// A path of the container on this machine.
    pub(crate) fn path(&self, of_container: &str) -> PathBuf {
        self.root.join(of_container.trim_start_matches('/'))
    }

    /// The program with the arguments of the container.
    pub(crate) fn command(&self, pod: &Value) -> Command {
        let mut command = Command::new(Portcullis::program().unwrap());
        for argument in items(&pod["containers"][0]["args"]) {
            let argument = argument.as_str().unwrap();
            let place = MOUNTED.iter().find_map(|one| argument.find(one));
            command.arg(match place {
                Some(place) => {
                    let (flag, path) = argument.split_at(place);
                    format!("{flag}{}", self.path(path).display())
                }
                None => argument.to_owned(),
            });
        }
        command
    }

    /// Starts the server of a pod, and waits until its readiness probe succeeds.
    #[track_caller]
    pub(crate) fn start(&self, pod: &Value, address: &str) -> Server {
        let container = &pod["containers"][0];
        let probe = &container["readinessProbe"]["httpGet"];
        let port = items(&container["ports"])
            .iter()
            .find(|port| port["name"] == probe["port"])
            .unwrap();
        let place = format!("{address}:{}", port["containerPort"]);
        let mut server = Server {
            process: Process::start(
                "portcullis",
                &mut self.command(pod),
                &self.root.join("portcullis.log"),
            ),
            operations: place.parse().unwrap(),
            ready: probe["path"].as_str().unwrap().to_owned(),
        };
        until("the server to be ready", Duration::from_secs(60), || {
            server.process.must_run();
            server.is_ready()
        });
        server
    }
}

/// A server that a node started.
pub(crate) struct Server {
    process: Process,
    operations: SocketAddr,
    ready: String,
}

impl Server {
    fn is_ready(&self) -> bool {
        portcullis_testing::Connection::tcp_at(self.operations)
            .and_then(|mut connection| connection.ask("GET", &self.ready, b""))
            .is_ok_and(|answer| answer.status == 200)
    }

    /// Tells it that files have changed.
    pub(crate) fn reload(&self) {
        self.process.signal(Signal::Reload);
    }

    /// Ends it in good order.
    pub(crate) fn stop(&mut self) {
        self.process.stop();
    }
}
