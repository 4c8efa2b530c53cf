//! A crate uses only crates of lower levels, and the core stays free of I/O.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::harness::repository;

/// The level of every crate there may be in `crates/`.
const LEVELS: &[(&str, u8)] = &[
    ("portcullis-core", 0),
    ("portcullis-certificates", 1),
    ("portcullis-document", 1),
    ("portcullis-files", 1),
    ("portcullis-net", 1),
    ("portcullis-script", 1),
    ("portcullis-web", 1),
    ("portcullis-authn", 2),
    ("portcullis-graph", 2),
    ("portcullis-jobs", 2),
    ("portcullis-js", 2),
    ("portcullis-lint", 2),
    ("portcullis-record", 2),
    ("portcullis-roles", 2),
    ("portcullis-telemetry", 2),
    ("portcullis-host", 3),
    ("portcullis-kube", 3),
    ("portcullis-store", 3),
    ("portcullis-ci", 4),
    ("portcullis-watch", 4),
    ("portcullis-config", 5),
    ("portcullis-gate", 6),
    ("portcullis-server", 7),
    ("portcullis", 8),
];

/// Crates for development: they may use anything, and only tests and each other use them.
const TOOLS: &[&str] = &[
    "portcullis-testing",
    "portcullis-e2e",
    "portcullis-bench",
    "portcullis-benches",
    "portcullis-fuzz",
];

/// Crates that compute and do no I/O: they take texts and trees, and give verdicts.
const PURE: &[&str] = &[
    "portcullis-certificates",
    "portcullis-core",
    "portcullis-document",
    "portcullis-graph",
    "portcullis-jobs",
    "portcullis-kube",
    "portcullis-lint",
    "portcullis-roles",
    "portcullis-web",
];

/// What pure crates must not know, however indirectly.
const IMPURE: &[&str] = &[
    "tokio",
    "hyper",
    "axum",
    "kube",
    "k8s-openapi",
    "rustls",
    "sqlx",
    "rusqlite",
    "postgres",
    "rquickjs",
];

pub(crate) fn level(name: &str) -> Option<u8> {
    LEVELS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, level)| *level)
}

pub(crate) fn cargo(arguments: &[&str]) -> Vec<u8> {
    let cargo = option_env!("CARGO").unwrap_or("cargo");
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(repository())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

/// Every package of the workspace, with its normal and build dependencies in the workspace.
fn packages() -> BTreeMap<String, BTreeSet<String>> {
    let metadata: Value = serde_json::from_slice(&cargo(&[
        "metadata",
        "--format-version",
        "1",
        "--no-deps",
        "--offline",
    ]))
    .unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let uses = |package: &Value| {
        let all = package["dependencies"].as_array().unwrap().iter();
        let counted = all.filter(|dependency| dependency["kind"] != "dev");
        let names = counted.map(|dependency| dependency["name"].as_str().unwrap().to_owned());
        names
            .filter(|name| name.starts_with("portcullis"))
            .collect()
    };
    packages
        .iter()
        .map(|package| (package["name"].as_str().unwrap().to_owned(), uses(package)))
        .collect()
}

/// What is wrong with these dependencies.
fn faults(packages: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, uses) in packages {
        let Some(own) = level(name) else {
            if !TOOLS.contains(&name.as_str()) {
                faults.push(format!("{name} has no level"));
            }
            continue;
        };
        for used in uses {
            match level(used) {
                Some(other) if other < own => {}
                Some(other) => {
                    faults.push(format!("{name} (level {own}) uses {used} (level {other})"))
                }
                None => faults.push(format!("{name} uses {used}, which nobody may use")),
            }
        }
    }
    faults
}

#[test]
fn crates_use_only_lower_levels() {
    let packages = packages();
    assert!(packages.len() >= 4, "{packages:?}");
    assert_eq!(faults(&packages), Vec::<String>::new());
}

#[test]
fn every_folder_in_crates_is_a_known_crate() {
    for entry in std::fs::read_dir(repository().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_known = level(&name).is_some() || TOOLS.contains(&name.as_str());
        assert!(is_known, "crates/{name} has no level");
        assert!(
            packages().contains_key(&name),
            "crates/{name} is in no workspace"
        );
    }
}

#[test]
fn what_only_computes_knows_no_runtime_client_or_engine() {
    for pure in PURE {
        let tree = cargo(&[
            "tree",
            "--package",
            pure,
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--offline",
        ]);
        let tree = String::from_utf8(tree).unwrap();
        let names: BTreeSet<&str> = tree
            .lines()
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert!(names.contains(pure) && names.len() > 1, "{names:?}");
        for impure in IMPURE {
            assert!(!names.contains(impure), "{pure} depends on {impure}");
        }
    }
}

#[test]
fn this_test_can_fail() {
    let uses = |name: &str, used: &[&str]| {
        let used = used.iter().map(|&u| u.to_owned()).collect();
        BTreeMap::from([(name.to_owned(), used)])
    };
    for (name, used) in [
        ("portcullis-core", "portcullis-kube"),
        ("portcullis-js", "portcullis-jobs"),
        ("portcullis-kube", "portcullis-store"),
        ("portcullis-server", "portcullis"),
        ("portcullis", "portcullis-e2e"),
        ("portcullis-server", "portcullis-testing"),
    ] {
        assert_eq!(faults(&uses(name, &[used])).len(), 1, "{name} uses {used}");
    }
    assert_eq!(faults(&uses("portcullis-new", &[])).len(), 1);
    assert_eq!(
        faults(&uses("portcullis-e2e", &["portcullis"])),
        Vec::<String>::new()
    );
    assert_eq!(
        faults(&uses(
            "portcullis-server",
            &["portcullis-kube", "portcullis-core"]
        )),
        Vec::<String>::new()
    );
}
