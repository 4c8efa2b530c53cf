//! The modules of a crate do not depend on each other in a circle.
//!
//! What counts are the modules right below `lib.rs` or `main.rs`, each with everything inside it. The texts are
//! read, not compiled: paths that begin with `crate::` or with enough `super::` name a module, or
//! something that the root of the crate re-exports from one. Tests may use what they like.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::harness::repository;

/// Crates that still have such circles. No crate may be added, and those that are free of them must go.
const LEFT: &[&str] = &["portcullis-graph", "portcullis-host", "portcullis-js"];

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

/// The first names behind a path like `crate::`: of `a::B` it is `a`, of `{a, b::C}` they are `a` and `b`.
fn first_names(rest: &str) -> Vec<&str> {
    let word = |text: &str| {
        let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        end.unwrap_or(text.len())
    };
    let Some(group) = rest.strip_prefix('{') else {
        return vec![&rest[..word(rest)]];
    };
    let (mut names, mut depth, mut is_first) = (Vec::new(), 0, true);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => is_first = true,
            c if is_first && !c.is_whitespace() => {
                names.push(&group[at..at + word(&group[at..])]);
                is_first = false;
            }
            _ => {}
        }
    }
    names
}

/// The names that a file takes from the root of its crate.
fn names_of_root(file: &File) -> BTreeSet<String> {
    let to_root = "super::".repeat(file.module.len());
    let mut names = BTreeSet::new();
    for prefix in ["crate::", to_root.as_str()] {
        if prefix.is_empty() {
            continue;
        }
        for (at, _) in file.text.match_indices(prefix) {
            // A path begins here, and goes up no further.
            let before = file.text[..at].chars().next_back();
            let rest = &file.text[at + prefix.len()..];
            if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '$'))
                || rest.starts_with("super::")
            {
                continue;
            }
            names.extend(first_names(rest).into_iter().map(str::to_owned));
        }
    }
    names
}

/// What the root re-exports, each with the module it is from.
fn re_exported(root: &str, modules: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for statement in root.split(';') {
        let Some((_, path)) = statement.rsplit_once("use ") else {
            continue;
        };
        let Some((module, rest)) = path.split_once("::") else {
            continue;
        };
        if modules.contains(module) {
            let words = rest.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            names.extend(words.map(|word| (word.to_owned(), module.to_owned())));
        }
    }
    names
}

fn uses(source: &Path) -> Uses {
    let mut all = Vec::new();
    files(source, &[], &mut all);
    let modules: BTreeSet<String> = all
        .iter()
        .filter_map(|f| f.module.first().cloned())
        .collect();
    let roots = all.iter().filter(|file| file.module.is_empty());
    let root: String = roots.map(|file| file.text.as_str()).collect();
    let re_exported = re_exported(&root, &modules);
    let mut uses = Uses::new();
    for file in all.iter().filter(|file| !file.module.is_empty()) {
        let own = &file.module[0];
        for name in names_of_root(file) {
            let module = match modules.contains(&name) {
                true => Some(&name),
                false => re_exported.get(&name),
            };
            if let Some(module) = module.filter(|module| *module != own) {
                let place = file.module.join("/");
                let used = uses.entry(own.clone()).or_default();
                used.entry(module.clone()).or_insert(place);
            }
        }
    }
    uses
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
        let found = circles(uses(&folder.join("src")));
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
    assert_eq!(circles(uses(folder.path())), Vec::<String>::new());
    write("b.rs", "use super::Name;\n");
    let found = circles(uses(folder.path()));
    assert_eq!(
        found,
        [
            "a uses b in a.rs",
            "b uses c in b.rs",
            "c uses a in c/deep.rs"
        ]
    );
}
