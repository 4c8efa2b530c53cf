//! The commands of docs/helm.md, in order, in a real cluster without nodes.

use std::fs;
use std::path::Path;
use std::process::Command;

use portcullis_e2e::{Authority, Cluster};

use crate::suite::{repository, with_suite};

/// What is not run here, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    (
        "kubectl --namespace portcullis rollout status",
        "no pod runs without a node",
    ),
    ("helm test", "no pod runs without a node"),
    (
        "kubectl delete namespace portcullis",
        "a namespace needs a controller to end",
    ),
];

/// What is run before anything is installed: no server answers here, and the webhook is asked about namespaces.
const BEFOREHAND: &str = "kubectl create namespace shop";

/// The commands of the blocks that need a cluster. Of those that fail, the page shows the error.
fn commands(page: &str) -> Vec<(String, Option<String>)> {
    let mut commands: Vec<(String, Option<String>)> = Vec::new();
    let mut block = None;
    for line in page.lines() {
        match (block, line) {
            (None, "```sh a cluster") => block = Some("sh"),
            (None, "```console a cluster") => block = Some("console"),
            (Some(_), "```") => block = None,
            (Some("sh"), _) => commands.push((line.to_owned(), None)),
            (Some(_), _) => match line.strip_prefix("$ ") {
                Some(command) => commands.push((command.to_owned(), None)),
                None if line.starts_with("Error") => {
                    commands.last_mut().unwrap().1 = Some(line.to_owned());
                }
                None => {}
            },
            _ => {}
        }
    }
    commands
}

/// The webhook that an error names: without a server, that much of it is the same.
#[track_caller]
fn webhook_of(error: &str) -> &str {
    let (_, named) = error.split_once("webhook \"").unwrap();
    named.split('"').next().unwrap()
}

#[test]
fn the_guide_can_be_followed() {
    with_suite("guide", |suite, directory| {
        let _cluster = suite.cluster(directory, &Authority::new("portcullis-e2e"));
        let page = fs::read_to_string(repository().join("docs/helm.md")).unwrap();
        let commands = commands(&page);
        let mut script = format!("set -euo pipefail\n{BEFOREHAND}\n");
        assert!(commands.iter().any(|(command, _)| command == BEFOREHAND));
        assert!(commands.iter().any(|(_, error)| error.is_some()));
        let mut left_out = 0;
        for (command, error) in &commands {
            if command == BEFOREHAND {
                continue;
            }
            if LEFT_OUT.iter().any(|(start, _)| command.starts_with(start)) {
                left_out += 1;
            } else if let Some(error) = error {
                script += &format!(
                    "if {command} 2>error; then echo 'it did not fail' >&2; exit 1; fi\ncat error >&2\n\
                     grep --quiet --fixed-strings '{}' error\n",
                    webhook_of(error)
                );
            } else {
                script += &format!("{command}\n");
            }
        }
        assert_eq!(left_out, LEFT_OUT.len(), "{commands:#?}");
        let folder = directory.join("checkout");
        copy(&repository().join("deploy"), &folder.join("deploy"));
        let output = Command::new("bash")
            .args(["-x", "-c", &script])
            .current_dir(&folder)
            .env("PATH", suite.path())
            .env("HOME", &folder)
            .env("KUBECONFIG", Cluster::kubeconfig(directory))
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{printed}\n{errors}");
        assert!(
            printed.contains("Happy Helming") || printed.contains("STATUS: deployed"),
            "{printed}"
        );
        assert!(!printed.contains("it did not fail"), "{printed}\n{errors}");
    });
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
