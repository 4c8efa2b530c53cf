//! Upstream's own Pod Security fixtures, judged by our checks.
//!
//! Set `PSA_TESTDATA` to the folder `test/testdata` of a copy of the Go module
//! `k8s.io/pod-security-admission`. Without it nothing is tested, and one line
//! says so.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use portcullis_kube::{
    pod::PodObject,
    pod_security::{LevelVersion, evaluate},
};

#[test]
fn upstream_fixtures_pass_and_fail_as_they_say() {
    let Some(root) = env::var_os("PSA_TESTDATA").map(PathBuf::from) else {
        eprintln!("skipped: PSA_TESTDATA does not name upstream's test/testdata folder");
        return;
    };
    let (mut count, mut wrong) = (0_usize, Vec::new());
    for level in ["baseline", "restricted"] {
        for version in entries(&root.join(level)) {
            let policy = LevelVersion::new(
                level.parse().expect("a level"),
                name(&version).parse().expect("a version"),
            );
            for (folder, is_allowed) in [("pass", true), ("fail", false)] {
                for file in entries(&version.join(folder)) {
                    count += 1;
                    let found = judge(policy, &file);
                    if found.is_empty() != is_allowed {
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

fn judge(policy: LevelVersion, file: &Path) -> String {
    let yaml = fs::read_to_string(file).expect("a readable fixture");
    let value: serde_json::Value = serde_saphyr::from_str(&yaml).expect("a YAML fixture");
    let text = value.to_string();
    let pod = PodObject::from_json(&text).expect("a pod");
    let from_value = PodObject::from_value(&value).expect("a pod");
    assert_eq!(pod, from_value, "{}", file.display());
    evaluate(policy, &pod).to_string()
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
