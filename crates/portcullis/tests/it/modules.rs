//! The modules of a crate have no circular dependencies.
//!
//! What counts are sibling modules, at every depth, each with everything inside it. The sources are
//! read, not compiled: paths that begin with `crate::` or `super::` name a module, or something that a
//! module re-exports from one inside it. Tests may use what they like.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::harness::repository;

/// Where such circles are left: a crate, or a module of it, whose parts use each other. Nothing may be added,
/// and what is free of circles must go.
const LEFT: &[&str] = &[];

/// The path of a module below the root of its crate, which is empty.
type Module = Vec<String>;

/// Which modules each module uses, and a file in which it does.
type Uses = BTreeMap<String, BTreeMap<String, String>>;

/// A source file below `src`.
struct File {
    module: Module,
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
    let is_module = |line: &&&str| line.contains("mod ") && line.ends_with('{');
    let begins = |at: usize| {
        let behind = kept[at + 1..]
            .iter()
            .find(|line| !line.trim().starts_with("#["));
        kept[at].trim() == "#[cfg(test)]" && behind.filter(is_module).is_some()
    };
    if let Some(end) = (0..kept.len()).find(|at| begins(*at)) {
        kept.truncate(end);
    }
    kept.join("\n")
}

/// The name that a text begins with, which may be empty.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    &text[..end.unwrap_or(text.len())]
}

/// The paths behind one like `crate::`: of `a::B` it is that, of `{a, b::{C, D}}` they are `a`, `b::C` and `b::D`.
fn paths(rest: &str) -> Vec<Module> {
    let Some(group) = rest.strip_prefix('{') else {
        let name = word(rest);
        let own = vec![name.to_owned()];
        let Some(below) = rest[name.len()..].strip_prefix("::") else {
            return vec![own];
        };
        let below = paths(below).into_iter();
        return below.map(|path| [own.clone(), path].concat()).collect();
    };
    let (mut all, mut depth, mut begin) = (Vec::new(), 0, 0);
    for (at, c) in group.char_indices() {
        let ends = depth == 0 && matches!(c, ',' | '}');
        if ends && !group[begin..at].trim().is_empty() {
            all.extend(paths(group[begin..at].trim()));
        }
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begin = at + 1,
            _ => {}
        }
    }
    all
}

/// The paths below the root of the crate that a file takes something from.
fn taken(file: &File) -> Vec<Module> {
    let mut taken = Vec::new();
    for prefix in ["crate::", "super::"] {
        for (at, _) in file.text.match_indices(prefix) {
            // A path begins here.
            let before = file.text[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '$')) {
                continue;
            }
            let mut rest = &file.text[at + prefix.len()..];
            let mut base = match prefix {
                "crate::" => 0,
                _ => file.module.len().saturating_sub(1),
            };
            while let Some(above) = rest.strip_prefix("super::") {
                rest = above;
                base = base.saturating_sub(1);
            }
            let below = |path: Module| [&file.module[..base], &path].concat();
            taken.extend(paths(rest).into_iter().map(below));
        }
    }
    taken
}

/// What modules re-export from modules inside them: where, under which name, and from which.
fn re_exported(files: &[File], modules: &BTreeSet<&Module>) -> BTreeMap<(Module, String), Module> {
    let mut names = BTreeMap::new();
    for file in files {
        for statement in file.text.split(';') {
            let Some((_, path)) = statement.rsplit_once("use ") else {
                continue;
            };
            for path in paths(path.trim_start_matches("self::")) {
                let Some((name, from)) = path.split_last() else {
                    continue;
                };
                let from = [&file.module, from].concat();
                if from.len() > file.module.len() && modules.contains(&from) {
                    names.insert((file.module.clone(), name.clone()), from);
                }
            }
        }
    }
    names
}

/// What the modules of a crate use, by the module that they are in.
fn uses(source: &Path) -> BTreeMap<Module, Uses> {
    let mut all = Vec::new();
    files(source, &[], &mut all);
    let modules: BTreeSet<&Module> = all.iter().map(|file| &file.module).collect();
    let re_exported = re_exported(&all, &modules);
    let mut uses: BTreeMap<Module, Uses> = BTreeMap::new();
    for file in &all {
        for path in taken(file) {
            let mut module = Module::new();
            for name in path {
                let inner = [module.clone(), vec![name.clone()]].concat();
                if modules.contains(&inner) {
                    module = inner;
                    continue;
                }
                while let Some(from) = re_exported.get(&(module.clone(), name.clone())) {
                    module.clone_from(from);
                }
                break;
            }
            let common = file.module.iter().zip(&module);
            let common = common.take_while(|(own, other)| own == other).count();
            if let (Some(own), Some(other)) = (file.module.get(common), module.get(common)) {
                let siblings = uses.entry(module[..common].to_vec()).or_default();
                let used = siblings.entry(own.clone()).or_default();
                used.entry(other.clone())
                    .or_insert_with(|| file.module.join("/"));
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

/// The circles of a crate, by where they are.
fn circles_of(name: &str, source: &Path) -> BTreeMap<String, Vec<String>> {
    let uses = uses(source).into_iter();
    let circles = uses.map(|(module, uses)| {
        let place = [vec![name.to_owned()], module].concat().join("::");
        (place, circles(uses))
    });
    circles.filter(|(_, found)| !found.is_empty()).collect()
}

#[test]
fn modules_do_not_use_each_other_in_a_circle() {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(repository().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        found.extend(circles_of(&name, &folder.join("src")));
    }
    for (place, edges) in &found {
        assert!(
            LEFT.contains(&place.as_str()),
            "{place}:\n{}",
            edges.join("\n")
        );
    }
    for place in LEFT {
        assert!(found.contains_key(*place), "{place} has no circle any more");
    }
}

#[test]
fn circles_are_found_at_every_depth() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let found = || circles_of("x", folder.path());
    write(
        "lib.rs",
        "mod a;\nmod b;\nmod c;\npub use c::{Name, Other};\n",
    );
    write("a.rs", "use crate::{b::Thing, d};\n// crate::c\n");
    write(
        "b.rs",
        "#[cfg(test)]\n#[allow(x)]\nmod tests {\n    use crate::a;\n}\n",
    );
    write("c.rs", "mod deep;\nmod near;\npub use deep::Name;\n");
    write(
        "c/deep.rs",
        "use super::super::a::Thing;\nuse super::near;\n",
    );
    write("c/near.rs", "");
    assert!(found().is_empty(), "{:?}", found());
    write(
        "b.rs",
        "#[cfg(test)]\nfn of_tests() {\n}\nuse super::Name;\n",
    );
    let expected = [
        "a uses b in a.rs",
        "b uses c in b.rs",
        "c uses a in c/deep.rs",
    ];
    assert_eq!(found()["x"], expected);
    write("b.rs", "");
    write("c/near.rs", "use crate::c::{Name, Unknown};\n");
    let expected = ["deep uses near in c/deep.rs", "near uses deep in c/near.rs"];
    assert_eq!(
        found(),
        BTreeMap::from([("x::c".into(), expected.map(str::to_owned).to_vec())])
    );
}
