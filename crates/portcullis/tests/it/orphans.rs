//! Every `.rs` file is declared by some module: a file that no `mod` names is never compiled.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::harness::{Folder, repository};

/// All `.rs` files below a folder, but for what is built.
fn files(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            // A package within is looked at on its own.
            let is_package = path.join("Cargo.toml").exists();
            if name != "target" && !name.starts_with('.') && !is_package {
                files(&path, found);
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.insert(path);
        }
    }
}

/// The names in `mod name;`, with or without visibility and attributes on the same line.
fn declared(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let code = line.split("//").next()?.trim().strip_suffix(';')?;
        let (before, name) = code.rsplit_once(' ')?;
        let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        (is_name && before.split_whitespace().next_back() == Some("mod")).then(|| name.to_owned())
    };
    text.lines().filter_map(name).collect()
}

/// Marks a file and everything that it declares. The root of a crate and `mod.rs` declare files
/// beside themselves, `foo.rs` in the folder `foo`.
fn follow(file: &Path, is_root: bool, reached: &mut BTreeSet<PathBuf>) {
    if !reached.insert(file.to_owned()) {
        return;
    }
    let text = std::fs::read_to_string(file).unwrap();
    let beside = is_root || file.file_name().is_some_and(|name| name == "mod.rs");
    let folder = if beside {
        file.parent().unwrap().to_owned()
    } else {
        file.with_extension("")
    };
    for name in declared(&text) {
        let places = [
            folder.join(format!("{name}.rs")),
            folder.join(&name).join("mod.rs"),
        ];
        for place in places.iter().filter(|place| place.is_file()) {
            follow(place, false, reached);
        }
    }
}

/// The files that cargo starts from in a package.
fn roots(package: &Path) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = ["src/lib.rs", "src/main.rs", "build.rs"]
        .iter()
        .map(|name| package.join(name))
        .collect();
    for folder in ["src/bin", "tests", "benches", "examples"] {
        let Ok(entries) = std::fs::read_dir(package.join(folder)) else {
            continue;
        };
        for path in entries.map(|entry| entry.unwrap().path()) {
            roots.push(if path.is_dir() {
                path.join("main.rs")
            } else {
                path
            });
        }
    }
    roots.extend(named_roots(package));
    roots.retain(|root| root.is_file() && root.extension().is_some_and(|e| e == "rs"));
    roots
}

/// Those that the manifest names with `path = "...rs"`.
fn named_roots(package: &Path) -> Vec<PathBuf> {
    let manifest = std::fs::read_to_string(package.join("Cargo.toml")).unwrap_or_default();
    let paths = manifest
        .lines()
        .filter_map(|line| line.trim().strip_prefix("path"));
    let quoted = paths.filter_map(|rest| rest.split('"').nth(1));
    quoted
        .filter(|path| path.ends_with(".rs"))
        .map(|path| package.join(path))
        .collect()
}

/// The files of a package that no module declares.
fn orphans(package: &Path) -> Vec<PathBuf> {
    let mut reached = BTreeSet::new();
    for root in roots(package) {
        follow(&root, true, &mut reached);
    }
    let mut all = BTreeSet::new();
    files(package, &mut all);
    all.difference(&reached).cloned().collect()
}

#[test]
fn there_are_no_orphans() {
    let root = repository();
    let crates = std::fs::read_dir(root.join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let tools = ["e2e", "e2e/runners", "benches", "fuzz"]
        .iter()
        .map(|name| root.join(name));
    let packages: Vec<PathBuf> = crates
        .chain(tools)
        .filter(|p| p.join("Cargo.toml").exists())
        .collect();
    assert!(packages.len() >= 4, "{packages:?}");
    let found: Vec<PathBuf> = packages
        .iter()
        .flat_map(|package| orphans(package))
        .collect();
    assert_eq!(found, Vec::<PathBuf>::new());
}

#[test]
fn a_planted_orphan_is_found() {
    let folder = Folder::new();
    folder.write(
        "Cargo.toml",
        "[[test]]\nname = \"odd\"\npath = \"odd/place.rs\"\n",
    );
    folder.write("src/lib.rs", "//! mod comment;\npub(crate) mod a;\n#[cfg(test)] mod tests;\n// mod orphan;\nmod inline { }\n");
    folder.write("src/a.rs", "mod deep;\n    mod other; // why\n");
    folder.write("src/a/deep.rs", "");
    folder.write("src/a/other/mod.rs", "mod beside;\n");
    folder.write("src/a/other/beside.rs", "");
    folder.write("src/tests.rs", "");
    folder.write("src/orphan.rs", "");
    folder.write("src/deep.rs", "");
    folder.write("src/comment.rs", "");
    folder.write("tests/it/main.rs", "mod x;\n");
    folder.write("tests/it/x.rs", "");
    folder.write("tests/it/y.rs", "");
    folder.write("tests/single.rs", "");
    folder.write("odd/place.rs", "");
    folder.write("target/debug/built.rs", "");
    let found: Vec<String> = orphans(folder.root())
        .iter()
        .map(|path| {
            path.strip_prefix(folder.root())
                .unwrap()
                .display()
                .to_string()
        })
        .collect();
    assert_eq!(
        found,
        [
            "src/comment.rs",
            "src/deep.rs",
            "src/orphan.rs",
            "tests/it/y.rs"
        ]
    );
}
