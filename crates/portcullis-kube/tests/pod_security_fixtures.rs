//! Upstream's own Pod Security fixtures, judged by the plug-in `PodSecurity`.
//!
//! Set `PSA_TESTDATA` to the folder `test/testdata` of a copy of the Go module
//! `k8s.io/pod-security-admission`. Without it nothing is tested, and one line
//! says so.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use portcullis_core::{
    Attributes, Document, Door, Kind, Notes, Operation, Outcome, Plugin, Resource, UserInfo, clock,
};
use portcullis_kube::Registry;
use portcullis_kube::{PluginEnvironment, register_all};
use serde_json::{Value, json};

#[test]
fn upstream_fixtures_pass_and_fail_as_they_say() {
    let Some(root) = env::var_os("PSA_TESTDATA").map(PathBuf::from) else {
        eprintln!("skipped: PSA_TESTDATA does not name upstream's test/testdata folder");
        return;
    };
    let (mut count, mut wrong) = (0_usize, Vec::new());
    for level in ["baseline", "restricted"] {
        for version in entries(&root.join(level)) {
            let plugin = enforcing(level, &name(&version));
            for (folder, is_allowed) in [("pass", true), ("fail", false)] {
                for file in entries(&version.join(folder)) {
                    count += 1;
                    let found = judge(&*plugin, &file);
                    if found.is_none() != is_allowed {
                        wrong.push(format!("{}: {found:?}", file.display()));
                    }
                }
            }
        }
    }
    eprintln!("{count} fixtures of {} judged", root.display());
    assert!(count > 1000, "only {count} fixtures in {}", root.display());
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The plug-in, with this level and version for every namespace.
fn enforcing(level: &str, version: &str) -> Arc<dyn Plugin> {
    let mut registry = Registry::default();
    register_all(&mut registry, &PluginEnvironment::default());
    let configuration = json!({
        "apiVersion": "pod-security.admission.config.k8s.io/v1",
        "kind": "PodSecurityConfiguration",
        "defaults": {"enforce": level, "enforce-version": version},
    });
    let descriptor = registry.get("PodSecurity").expect("the plug-in");
    (descriptor.factory)(Some(&configuration)).expect("a level and a version")
}

/// Why a pod is denied, if it is: the same whether it is read from its text or from its tree.
fn judge(plugin: &dyn Plugin, file: &Path) -> Option<String> {
    let yaml = fs::read_to_string(file).expect("a readable fixture");
    let pod: Value = serde_saphyr::from_str(&yaml).expect("a YAML fixture");
    let text = Document::from_text(pod.to_string());
    let mut tree = text.clone();
    tree.value_mut().expect("JSON");
    let [of_text, of_tree] = [text, tree].map(|pod| {
        let outcome = plugin.validate(&creation(pod), &mut Notes::default());
        match outcome.expect("an outcome") {
            Outcome::Pass => None,
            Outcome::Deny(denial) => Some(denial.message),
            other => Some(format!("{other:?}")),
        }
    });
    assert_eq!(of_text, of_tree, "{}", file.display());
    of_text
}

fn creation(pod: Document) -> Attributes {
    Attributes {
        door: Door::Kubernetes,
        uid: "1".to_owned(),
        operation: Operation::Create,
        kind: Kind {
            version: "v1".to_owned(),
            kind: "Pod".to_owned(),
            ..Kind::default()
        },
        resource: Resource {
            version: "v1".to_owned(),
            resource: "pods".to_owned(),
            ..Resource::default()
        },
        subresource: String::new(),
        name: "fixture".to_owned(),
        namespace: "default".to_owned(),
        user: UserInfo::default(),
        object: Some(pod),
        old_object: None,
        options: None,
        dry_run: false,
        received: clock::monotonic(),
        deadline: None,
        context: Arc::default(),
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a readable folder")
        .map(|entry| entry.expect("a readable entry").path())
        .collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    let name = path.file_name().expect("a name");
    name.to_string_lossy().into_owned()
}
