//! What ARCHITECTURE.md says about adding something is true: the files it names exist, and existing
//! things of that sort are named in no other file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::repository;

/// The rows of the table "How to add something": what, and the paths in its column of files.
fn rows() -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap();
    let (_, section) = text.split_once("## How to add something\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| a"));
    let row = |line: &str| {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let quoted = columns[2].split('`').skip(1).step_by(2);
        let paths = quoted.filter(|text| text.contains('/') && !text.contains(' '));
        (columns[1].to_owned(), paths.map(str::to_owned).collect())
    };
    rows.map(row).collect()
}

/// All files of the program, without tests.
fn sources() -> Vec<(PathBuf, String)> {
    fn add(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy();
            if matches!(name.as_ref(), "tests" | "testing") {
                continue;
            }
            if path.is_dir() {
                add(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
                let lines = text.lines().map(|line| line.split("//").next().unwrap());
                found.push((path, lines.collect::<Vec<_>>().join("\n")));
            }
        }
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(repository().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        if folder.file_name().unwrap() != "portcullis-testing" {
            add(&folder.join("src"), &mut found);
        }
    }
    found
}

/// The files, relative to the folder of crates, in which a text is.
fn naming(sources: &[(PathBuf, String)], what: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let crates = repository().join("crates");
    let naming = sources.iter().filter(|(_, text)| what(text));
    let relative = naming.map(|(path, _)| path.strip_prefix(&crates).unwrap());
    relative.map(|path| path.display().to_string()).collect()
}

/// The modules of a folder: files, and folders beside them.
fn modules(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(repository().join("crates").join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.extension().is_some_and(|e| e == "rs"));
    files
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn the_files_that_are_named_exist() {
    let rows = rows();
    for what in ["plug-in", "endpoint", "command", "key", "door"] {
        let has_files =
            |(row, paths): &(String, Vec<String>)| row.contains(what) && !paths.is_empty();
        assert!(rows.iter().any(has_files), "{what}: {rows:?}");
    }
    for (what, paths) in rows {
        for path in paths {
            // A name in capitals is chosen by who adds something.
            let known = path.split('/').take_while(|part| {
                let stem = part.split('.').next().unwrap();
                !stem.chars().any(|c| c.is_ascii_uppercase())
            });
            let known: PathBuf = known.collect();
            let roots = ["", "crates", "crates/portcullis"].map(|root| repository().join(root));
            let prefixed = repository()
                .join("crates")
                .join(format!("portcullis-{path}"));
            let exists = roots.iter().any(|root| root.join(&known).exists())
                || prefixed.exists()
                || repository()
                    .join("crates")
                    .join(format!("portcullis-{}", known.display()))
                    .exists();
            assert!(exists, "{what}: {path}");
        }
    }
}

#[test]
fn a_plug_in_is_named_by_its_file_alone_and_listed_once() {
    let sources = sources();
    let (_, list) = sources
        .iter()
        .find(|(path, _)| path.ends_with("portcullis-kube/src/plugins.rs"))
        .unwrap();
    let plugins: Vec<&str> = list
        .lines()
        .filter_map(|line| line.trim().split_once("::descriptor("))
        .map(|(module, _)| module)
        .collect();
    assert!(plugins.len() >= 11, "{plugins:?}");
    for plugin in plugins {
        let own = format!("portcullis-kube/src/plugins/{plugin}.rs");
        let (_, text) = sources
            .iter()
            .find(|(path, _)| path.ends_with(&own))
            .unwrap();
        let name = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("name: \"")?.strip_suffix("\","))
            .unwrap_or_else(|| panic!("{own} has no descriptor with a name"));
        let quoted = format!("\"{name}\"");
        let mut found = naming(&sources, |text| text.contains(&quoted));
        // A kind of the same name; an example of a query; an authorizer of the same name; an order that is warned about.
        for may_name_it in [
            "portcullis-kube/src/cluster_objects/kind.rs",
            "portcullis-server/src/api/decisions.rs",
            "portcullis-config/src/model/authorization.rs",
            "portcullis-config/src/oddities.rs",
        ] {
            found.remove(may_name_it);
        }
        assert_eq!(found, BTreeSet::from([own]), "{name}");
    }
}

#[test]
fn a_command_is_its_file_and_a_line_of_the_list() {
    let sources = sources();
    let (_, list) = sources
        .iter()
        .find(|(path, _)| path.ends_with("portcullis/src/commands.rs"))
        .unwrap();
    let (_, arms) = list.split_once("match command {").unwrap();
    let commands: BTreeSet<&str> = arms
        .lines()
        .filter_map(|line| line.split_once("=> ")?.1.split_once("::run("))
        .map(|(module, _)| module)
        .collect();
    assert!(commands.len() >= 15, "{commands:?}");
    let files = modules("portcullis/src/commands");
    for command in commands {
        assert!(files.contains(command), "{command}");
        let entry = format!("{command}::run(");
        let found = naming(&sources, |text| {
            text.match_indices(&entry).any(|(at, _)| {
                let before = text[..at].chars().next_back();
                !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
            })
        });
        assert!(found.len() <= 2, "{command} is run by {found:?}");
    }
}

#[test]
fn an_endpoint_is_its_file_and_a_line_of_the_list() {
    let sources = sources();
    let defining = naming(&sources, |text| {
        text.contains("const ENDPOINTS: &[Endpoint]")
    });
    assert!(defining.len() >= 10, "{defining:?}");
    for file in defining {
        let path = file.strip_suffix(".rs").unwrap();
        let module = path.rsplit('/').next().unwrap();
        if module == "endpoints" {
            continue;
        }
        let entry = format!("{module}::ENDPOINTS");
        let found = naming(&sources, |text| text.contains(&entry));
        // Calls about CI jobs have a list of their own.
        let list = match path.contains("/api/ci/") {
            true => "portcullis-server/src/api/ci.rs",
            false => "portcullis-server/src/api/endpoints.rs",
        };
        assert_eq!(found, BTreeSet::from([list.to_owned()]), "{module}");
    }
}
