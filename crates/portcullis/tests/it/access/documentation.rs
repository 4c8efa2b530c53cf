//! The guides mention every flag and every call, and show the files of their example.

use serde_json::Value;

use crate::eval::documentation::check_flags;
use crate::harness::repository;

fn read(name: &str) -> String {
    std::fs::read_to_string(repository().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Asserts that a guide shows a file of the example whole.
#[track_caller]
fn check_shown(name: &str, file: &str) {
    let block = format!("```yaml\n{}```\n", read(&format!("examples/roles/{file}")));
    assert!(read(name).contains(&block), "{name} doesn't show {file}");
}

#[test]
fn files_of_the_example_are_shown_as_they_are() {
    check_shown("docs/roles.md", "tenants.yaml");
    check_shown("docs/api.md", "portcullis.yaml");
}

#[test]
fn every_flag_is_described() {
    for command in ["who-can", "access-matrix"] {
        check_flags("docs/roles.md", command);
    }
    check_flags("docs/authentication.md", "token create");
    for command in [
        "autohold list",
        "autohold show",
        "autohold place",
        "autohold release",
        "tenant list",
        "tenant show",
        "tenant pause",
        "tenant resume",
        "pipeline enqueue",
        "pipeline dequeue",
        "pipeline promote",
    ] {
        check_flags("docs/api.md", command);
    }
}

/// The rows of the table of calls: method, path, permission, conditions.
fn rows(guide: &str) -> Vec<[String; 4]> {
    let rows = guide.lines().filter_map(|line| {
        let cells: Vec<&str> = line
            .strip_prefix("| `")?
            .split('|')
            .map(str::trim)
            .collect();
        let (method, path) = cells.first()?.trim_matches('`').split_once(' ')?;
        let [_, permission, conditions, ..] = cells.as_slice() else {
            return None;
        };
        let cell = |text: &str| text.replace('`', "");
        Some([
            method.to_owned(),
            path.to_owned(),
            cell(permission),
            cell(conditions),
        ])
    });
    rows.filter(|[_, path, ..]| path.starts_with('/')).collect()
}

#[test]
fn every_call_is_listed_with_what_it_needs() {
    let description: Value = serde_json::from_str(&read("schema/openapi.json")).unwrap();
    let mut wanted = Vec::new();
    for (path, calls) in description["paths"].as_object().unwrap() {
        for (method, call) in calls.as_object().unwrap() {
            let needs = &call["x-portcullis-permission"];
            let Some(permission) = needs["permission"].as_str() else {
                continue;
            };
            let conditions = needs["conditions"].as_array().unwrap().iter();
            let conditions: Vec<&str> = conditions.map(|c| c.as_str().unwrap()).collect();
            let at = if needs["at"] == "root" {
                " at api-root"
            } else {
                ""
            };
            wanted.push([
                method.to_uppercase(),
                path.clone(),
                format!("{permission}{at}"),
                conditions.join(", "),
            ]);
        }
    }
    assert!(wanted.len() >= 15, "{wanted:?}");
    let shown = rows(&read("docs/api.md"));
    for row in &wanted {
        assert!(shown.contains(row), "not in the table: {row:?}");
    }
    assert_eq!(shown.len(), wanted.len(), "{shown:#?}");
}

#[test]
fn every_permission_is_listed_with_its_conditions() {
    let guide = read("docs/roles.md");
    for permission in portcullis_roles::Permission::ALL {
        let conditions = permission.conditions().iter();
        let conditions: Vec<String> = conditions.map(|c| format!("`{c}`")).collect();
        let row = format!("| `{permission}` | {} |", conditions.join(", ")).replace("|  |", "| |");
        assert!(guide.contains(&row), "not in the table: {row}");
    }
}
