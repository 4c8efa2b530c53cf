//! The modules of a crate do not depend on each other in a circle.
//!
//! What counts are the modules below the same module, or below `lib.rs` or `main.rs`, each with everything inside
//! it; a module and those below it may use each other. The texts are read, not compiled: paths that begin with
//! `crate::` or `super::` name a module, or something that a module re-exports from one right below it. Tests may
//! use what they like.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::harness::repository;

/// Crates that still have such circles. No crate may be added, and those that are free of them must go.
const LEFT: &[&str] = &[
    "portcullis-graph",
    "portcullis-host",
    "portcullis-js",
    "portcullis-server",
];

/// Which modules each module uses, and a file in which it does.
type Uses = BTreeMap<String, BTreeMap<String, String>>;

/// A source file below `src`.
struct File {
    /// Its place among the modules; empty for the root.
    module: Vec<String>,
    /// What is compiled without tests.
    text: String,
}

fn files(folder: &Path, module: &[String], found: &mut Vec<File>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if matches!(name.as_str(), "tests" | "testing") {
            continue;
        }
        let mut own = module.to_vec();
        if !(module.is_empty() && matches!(name.as_str(), "lib" | "main")) {
            own.push(name);
        }
        if path.is_dir() {
            files(&path, &own, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = without_tests(&fs::read_to_string(&path).unwrap());
            found.push(File { module: own, text });
        }
    }
}

/// The text without comments and without the module of tests at its end.
fn without_tests(text: &str) -> String {
    let lines = text.lines().map(|line| match line.find("//") {
        Some(comment) => &line[..comment],
        None => line,
    });
    let mut kept: Vec<&str> = lines.collect();
    let begins = |pair: &[&str]| pair[0].trim() == "#[cfg(test)]" && pair[1].ends_with('{');
    if let Some(end) = kept.windows(2).position(begins) {
        kept.truncate(end);
    }
    kept.join("\n")
}

/// The paths behind a prefix like `crate::`: of `a::B` it is `a::B`, of `{a, b::C}` they are `a` and `b::C`.
fn paths(rest: &str) -> Vec<&str> {
    let end = |text: &str| {
        let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':')));
        end.unwrap_or(text.len())
    };
    let Some(group) = rest.strip_prefix('{') else {
        return vec![&rest[..end(rest)]];
    };
    let (mut found, mut depth, mut is_first) = (Vec::new(), 0, true);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => is_first = true,
            c if is_first && !c.is_whitespace() => {
                found.push(&group[at..at + end(&group[at..])]);
                is_first = false;
            }
            _ => {}
        }
    }
    found
}

/// Every path of a file that begins with `crate::` or `super::`, as the module it begins at and the rest.
fn references(file: &File) -> Vec<(Vec<String>, &str)> {
    let mut found = Vec::new();
    for prefix in ["crate::", "super::"] {
        for (at, _) in file.text.match_indices(prefix) {
            // A path begins here.
            let before = file.text[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '$')) {
                continue;
            }
            let (mut rest, mut base) = (&file.text[at..], file.module.clone());
            if let Some(behind) = rest.strip_prefix("crate::") {
                (rest, base) = (behind, Vec::new());
            }
            while let Some(behind) = rest.strip_prefix("super::") {
                rest = behind;
                base.pop();
            }
            found.extend(paths(rest).into_iter().map(|path| (base.clone(), path)));
        }
    }
    found
}

/// What modules re-export from modules right below them: by module and name.
fn re_exported(
    all: &[File],
    modules: &BTreeSet<Vec<String>>,
) -> BTreeMap<(Vec<String>, String), Vec<String>> {
    let mut names = BTreeMap::new();
    for file in all {
        for statement in file.text.split(';') {
            let Some((_, path)) = statement.rsplit_once("use ") else {
                continue;
            };
            let path = path.strip_prefix("self::").unwrap_or(path);
            let Some((child, rest)) = path.split_once("::") else {
                continue;
            };
            let child = below(&file.module, child);
            if modules.contains(&child) {
                let words = rest.split(|c: char| !(c.is_alphanumeric() || c == '_'));
                let key = |word: &str| (file.module.clone(), word.to_owned());
                names.extend(words.map(|word| (key(word), child.clone())));
            }
        }
    }
    names
}

fn below(module: &[String], name: &str) -> Vec<String> {
    let mut path = module.to_vec();
    path.push(name.to_owned());
    path
}

/// What the modules right below each module use of each other.
fn uses(source: &Path) -> BTreeMap<Vec<String>, Uses> {
    let mut all = Vec::new();
    files(source, &[], &mut all);
    let modules: BTreeSet<Vec<String>> = all.iter().map(|file| file.module.clone()).collect();
    let re_exported = re_exported(&all, &modules);
    let mut uses: BTreeMap<Vec<String>, Uses> = BTreeMap::new();
    for file in &all {
        for (mut used, path) in references(file) {
            for name in path.split("::") {
                let inner = below(&used, name);
                if modules.contains(&inner) {
                    used = inner;
                    continue;
                }
                if let Some(module) = re_exported.get(&(used.clone(), name.to_owned())) {
                    used.clone_from(module);
                }
                break;
            }
            let pairs = file.module.iter().zip(&used);
            let common = pairs.take_while(|(a, b)| a == b).count();
            if let (Some(own), Some(other)) = (file.module.get(common), used.get(common)) {
                let level = uses.entry(used[..common].to_vec()).or_default();
                let place = file.module.join("/");
                let used = level.entry(own.clone()).or_default();
                used.entry(other.clone()).or_insert(place);
            }
        }
    }
    uses
}

/// All circles of a crate.
fn all_circles(source: &Path) -> Vec<String> {
    uses(source).into_values().flat_map(circles).collect()
}

/// Modules that depend on each other in a circle, with the files that close it.
fn circles(mut uses: Uses) -> Vec<String> {
    // What uses nothing that is left is in no circle, nor is what nothing uses that is left.
    loop {
        let before = uses.len();
        let users: BTreeSet<String> = uses.keys().cloned().collect();
        for used in uses.values_mut() {
            used.retain(|module, _| users.contains(module));
        }
        uses.retain(|_, used| !used.is_empty());
        let used: BTreeSet<String> = uses.values().flat_map(|u| u.keys().cloned()).collect();
        uses.retain(|module, _| used.contains(module));
        if uses.len() == before {
            break;
        }
    }
    let edges = uses.into_iter().flat_map(|(module, used)| {
        let edge = move |(other, place)| format!("{module} uses {other} in {place}.rs");
        used.into_iter().map(edge)
    });
    edges.collect()
}

#[test]
fn modules_do_not_use_each_other_in_a_circle() {
    for entry in fs::read_dir(repository().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let found = all_circles(&folder.join("src"));
        assert_eq!(
            !found.is_empty(),
            LEFT.contains(&name.as_str()),
            "{name}:\n{}",
            found.join("\n")
        );
    }
}

#[test]
fn circles_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "lib.rs",
        "mod a;\nmod b;\nmod c;\npub use c::{Name, Other};\n",
    );
    write("a.rs", "use crate::{b::Thing, d};\n// crate::c\n");
    write("b.rs", "#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n");
    write(
        "c/deep.rs",
        "use super::super::a::Thing;\nuse super::near;\n",
    );
    assert_eq!(all_circles(folder.path()), Vec::<String>::new());
    // A module may use what is above it, and be used there.
    write("c.rs", "mod deep;\nmod near;\nmod far;\nuse deep::Thing;\n");
    write(
        "c/near.rs",
        "use super::Something;\nuse crate::c::far::{Thing};\n",
    );
    write("c/far.rs", "");
    assert_eq!(all_circles(folder.path()), Vec::<String>::new());
    write("c/far.rs", "pub use super::{Something, near};\n");
    let found = all_circles(folder.path());
    assert_eq!(
        found,
        ["far uses near in c/far.rs", "near uses far in c/near.rs"]
    );
    write("c/far.rs", "");
    write("b.rs", "use super::Name;\n");
    let found = all_circles(folder.path());
    assert_eq!(
        found,
        [
            "a uses b in a.rs",
            "b uses c in b.rs",
            "c uses a in c/deep.rs"
        ]
    );
}
