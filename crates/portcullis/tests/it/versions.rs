//! Versions of dependencies are in one place, `[workspace.dependencies]`.

use std::path::PathBuf;

use crate::harness::repository;

/// The lines of a manifest that name a version of a dependency.
fn versions(manifest: &str) -> Vec<&str> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line.trim_end_matches(']').ends_with("dependencies");
        } else if inside && !line.is_empty() && !line.starts_with('#') {
            let inherited = line.contains("workspace = true");
            found.extend((!inherited).then_some(line));
        }
    }
    found
}

fn manifests() -> Vec<PathBuf> {
    let root = repository();
    let crates = std::fs::read_dir(root.join("crates")).unwrap();
    let crates = crates.map(|entry| entry.unwrap().path());
    let beside = ["benches", "e2e"].map(|name| root.join(name));
    let all = crates.chain(beside).map(|folder| folder.join("Cargo.toml"));
    all.filter(|manifest| manifest.exists()).collect()
}

#[test]
fn every_version_stands_in_the_workspace() {
    let manifests = manifests();
    assert!(manifests.len() >= 4, "{manifests:?}");
    for manifest in manifests {
        let text = std::fs::read_to_string(&manifest).unwrap();
        assert_eq!(
            versions(&text),
            Vec::<&str>::new(),
            "{}",
            manifest.display()
        );
    }
}

#[test]
fn a_version_elsewhere_is_found() {
    let manifest = "[package]\nversion = \"1\"\n\n[dependencies]\na.workspace = true\n# c = \"3\"\n\
                    b = { workspace = true, features = [\"x\"] }\nc = \"2\"\n\n[target.'cfg(unix)'.dev-dependencies]\n\
                    d = { version = \"1\" }\n\n[lints]\nworkspace = true\n";
    assert_eq!(versions(manifest), ["c = \"2\"", "d = { version = \"1\" }"]);
}
