//! A key of the configuration is one field of the model, copied at most once, and documented.

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_document::{Duration, Size};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every key of the schema, with the definition it is in; those of the whole file are in `Configuration`.
fn keys() -> Vec<(String, String)> {
    let schema = crate::json_schema();
    let mut definitions = schema["$defs"].as_object().unwrap().clone();
    definitions.insert("Configuration".to_owned(), schema.clone());
    let mut keys = Vec::new();
    for (name, definition) in definitions {
        let properties = definition.get("properties").and_then(Value::as_object);
        for (key, _) in properties.into_iter().flatten() {
            keys.push((name.clone(), key.clone()));
        }
    }
    keys
}

/// `idleTimeout` is `idle_timeout`, and `forwardCA` is `forward_ca`.
fn field(key: &str) -> String {
    let mut field = String::new();
    let mut was_small = false;
    for letter in key.chars() {
        if letter.is_ascii_uppercase() && was_small {
            field.push('_');
        }
        was_small = letter.is_ascii_lowercase();
        field.push(letter.to_ascii_lowercase());
    }
    field
}

fn has_word(text: &str, word: &str) -> bool {
    let is_apart = |letter: char| !letter.is_alphanumeric() && letter != '_';
    text.split(is_apart).any(|found| found == word)
}

/// The files below a folder, without comments and tests, by their paths in it.
fn files(folder: &Path, inside: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder.join(inside)).unwrap() {
        let path = inside.join(entry.unwrap().file_name());
        if path.file_stem().unwrap() == "tests" {
            continue;
        }
        if folder.join(&path).is_dir() {
            files(folder, &path, found);
            continue;
        }
        let text = fs::read_to_string(folder.join(&path)).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let lines = code.lines().map(|line| line.split("//").next().unwrap());
        found.push((path, lines.collect::<Vec<_>>().join("\n")));
    }
}

/// Definitions of settings that belong to the crates that use them, and those of `matcher`: the model has only the
/// section.
const OF_OTHERS: &[&str] = &[
    "Settings",
    "WebhookSettings",
    "RunnerSettings",
    "Match",
    "LabelSelector",
];

/// Names of one word are used for other things too, and prove nothing; so are the keys of the whole file,
/// which only say where a section is. acjs has its own names for the same things.
#[test]
fn a_key_is_in_one_file_of_the_model_and_at_most_one_that_checks_it() {
    let mut sources = Vec::new();
    files(
        &root().join("crates/portcullis-config/src"),
        Path::new(""),
        &mut sources,
    );
    let mut seen = 0;
    for (definition, key) in keys() {
        let field = field(&key);
        let is_telling = field.contains('_');
        let is_of_others = OF_OTHERS.contains(&definition.as_str());
        let is_section = definition == "Configuration" || definition.starts_with("Acjs");
        if !is_telling || is_of_others || is_section {
            continue;
        }
        let having = sources.iter().filter(|(_, text)| has_word(text, &field));
        let (model, others): (Vec<_>, Vec<_>) = having
            .map(|(path, _)| path.display().to_string())
            .partition(|path| path.starts_with("model"));
        assert_eq!(model.len(), 1, "{definition}.{key} is in {model:?}");
        assert!(
            others.len() <= 1,
            "{definition}.{key} is also in {others:?}"
        );
        seen += 1;
    }
    assert!(seen > 25, "only {seen} keys were looked for");
}

#[test]
fn every_key_is_documented() {
    let mut pages = String::new();
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "md") {
            pages.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    for (definition, key) in keys() {
        // Those who have such files know them from acjs.
        if definition.starts_with("Acjs") {
            continue;
        }
        let forms = [format!("`{key}`"), format!(".{key}`"), format!("{key}:")];
        let is_there = forms.iter().any(|form| pages.contains(form));
        assert!(is_there, "docs/ has no {key} (of {definition})");
    }
}

/// What stands between backquotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_limit_is_documented_with_its_default() {
    let page = fs::read_to_string(root().join("docs/configuration.md")).unwrap();
    let section = page
        .split("\n## ")
        .find(|part| part.starts_with("`limits`"));
    let rows = section
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("| `"));
    let mut documented = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.split('|').collect();
        documented.extend(quoted(cells[1]).into_iter().zip(quoted(cells[2])));
    }
    let schema = crate::json_schema();
    let limits = schema["$defs"]["Limits"]["properties"].as_object().unwrap();
    assert_eq!(documented.len(), limits.len());
    for (key, written) in documented {
        let limit = &limits[key];
        assert!(limit["description"].is_string(), "{key}");
        let is_same = match &limit["default"] {
            Value::String(default) => {
                let duration = |text: &str| text.parse::<Duration>().ok();
                let size = |text: &str| text.parse::<Size>().ok();
                (duration(default), size(default)) == (duration(written), size(written))
            }
            default => default.as_u64().is_some() && default.as_u64() == written.parse().ok(),
        };
        assert!(is_same, "{key} is {written}, and not {}", limit["default"]);
    }
}
