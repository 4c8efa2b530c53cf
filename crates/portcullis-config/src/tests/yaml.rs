//! What the reader of documents accepts and rejects.

use std::{path::Path, sync::Arc};

use serde_json::json;

use super::{ConfigSource, HEAD, Listening, LoadOptions, PLUGINS, load, setup, with_head};
use portcullis_document::{Document, Faults, Source, yaml};

fn parse(text: &str) -> Result<Document, Faults> {
    yaml::parse(&Source::text_named("a.yaml", text))
}

fn refused(text: &str) -> String {
    parse(text).expect_err("the document was taken").to_string()
}

#[test]
fn every_value_and_key_has_its_place() {
    let document = parse("a: 1\nb:\n- x\n- {é: true, d: -4}\n").unwrap();
    let place = |path: &str| {
        document
            .root
            .at_path(path)
            .map(|node| (node.position.line, node.position.column))
    };
    assert_eq!(place("a"), Some((1, 4)));
    assert_eq!(place("b[1].é"), Some((4, 7)));
    assert_eq!(place("b.1.d"), Some((4, 16)));
    assert_eq!(place("b[2]"), None);
    assert_eq!(document.root.nearest("b[1].gone.further").position.line, 4);
    assert_eq!(
        document.root.to_json(),
        json!({"a": 1, "b": ["x", {"é": true, "d": -4}]})
    );
}

#[test]
fn json_is_taken_as_yaml() {
    let text = r#"{"a": [1, "\u00e9", null, 1.5, 18446744073709551615], "b": {"yes": "no"}}"#;
    let expected: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(parse(text).unwrap().root.to_json(), expected);
}

#[test]
fn booleans_are_true_and_false_only() {
    let document = parse("{a: yes, b: no, c: on, d: true, e: 0660}").unwrap();
    assert_eq!(
        document.root.to_json(),
        json!({"a": "yes", "b": "no", "c": "on", "d": true, "e": 660.0})
    );
}

#[test]
fn aliases_and_merges_are_followed() {
    let document = parse("a: &x {k: 1}\nb: *x\nc: {<<: *x, l: 2}\n").unwrap();
    assert_eq!(
        document.root.to_json(),
        json!({"a": {"k": 1}, "b": {"k": 1}, "c": {"k": 1, "l": 2}})
    );
    assert_eq!(document.root.nearest("b.k").position.line, 2);
}

#[test]
fn what_is_not_one_document_is_refused_with_its_place() {
    assert_eq!(
        refused("a: 1\na: 2\n"),
        "a.yaml:2:1: the key `a` is given twice"
    );
    assert_eq!(
        refused("1: a\n\"1\": b\n"),
        "a.yaml:2:1: the key `1` is given twice"
    );
    assert_eq!(
        refused("a: 1\n---\nb: 2\n"),
        "a.yaml:3:1: more than one document in the file: remove the `---` and what follows, or split the file"
    );
    assert_eq!(
        refused("a: {b: [x\nc: {}\n"),
        "a.yaml:2:2: not valid YAML: illegal placement of ':' indicator"
    );
    assert_eq!(refused("? [x]\n: y\n"), "a.yaml:1:3: a key must be text");
    assert_eq!(
        refused("a: *b\n"),
        "a.yaml:1:4: an alias to an anchor that does not exist"
    );
    for text in [
        "a: \"x\n",
        "a: [\n",
        "a:\n  - b\n c\n",
        "a: &x [*x]\n",
        "a: .inf\n",
        "a: 'x",
        "%",
        "@",
    ] {
        let fault = refused(text);
        assert!(
            fault.starts_with("a.yaml:1:")
                || fault.starts_with("a.yaml:2:")
                || fault.starts_with("a.yaml:3:"),
            "{fault}"
        );
    }
}

#[test]
fn bombs_and_deep_nesting_are_refused() {
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n\
                d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e]\n";
    let fault = refused(bomb);
    assert!(
        fault.contains("the document is too large, or its aliases make it so"),
        "{fault}"
    );
    for deep in ["[".repeat(100_000), "- ".repeat(5000), "a: {".repeat(5000)] {
        let fault = refused(&deep);
        assert!(fault.starts_with("a.yaml:1:"), "{fault}");
    }
}

#[test]
fn an_empty_file_and_one_that_is_no_map_are_refused() {
    for text in ["", "\n", "# only a comment\n", "---\n", "~\n"] {
        assert_eq!(
            setup(text).fault(),
            "portcullis.yaml: the file is empty",
            "{text:?}"
        );
    }
    for (text, found) in [
        ("- a\n", "a list"),
        ("just text\n", "text"),
        ("5\n", "a number"),
    ] {
        let expected =
            format!("portcullis.yaml:1:1: expected a map at the top of the file, found {found}");
        // A list in block style begins at its first item.
        assert_eq!(setup(text).fault().replace("1:3", "1:1"), expected);
    }
}

#[test]
fn files_that_can_not_be_read_are_named() {
    let read = |path: &Path| {
        let options = LoadOptions {
            source: ConfigSource::File(path),
            admission_control: None,
            admission_control_config_file: None,
            known_plugins: PLUGINS,
            listeners: Listening::Needed,
            objects: None,
            coverage: false,
            env: &|_| None,
        };
        load(&options).unwrap_err().to_string()
    };
    assert_eq!(
        read(Path::new("no-such-file.yaml")),
        "no-such-file.yaml: cannot read the file: no such file or directory"
    );
    assert_eq!(
        read(Path::new("/")),
        "/: cannot read the file: it is a directory"
    );
    let setup = setup("");
    let path = setup.path("portcullis.yaml");
    std::fs::write(&path, b"a: 1\nb: \xff\n").unwrap();
    assert_eq!(
        setup.fault(),
        "portcullis.yaml: cannot read the file: line 2 is not UTF-8 text"
    );
    std::fs::write(&path, vec![b' '; 16 * 1024 * 1024 + 1]).unwrap();
    assert_eq!(
        setup.fault(),
        "portcullis.yaml: cannot read the file: it is larger than 16 MiB"
    );
}

#[test]
fn windows_line_ends_and_byte_order_marks_do_not_matter() {
    let text = format!("\u{feff}{HEAD}admission:\n  ordre: []\n").replace('\n', "\r\n");
    assert!(
        setup(&text)
            .fault()
            .starts_with("portcullis.yaml:4:3: admission.ordre:")
    );
}

#[test]
fn a_fault_in_a_plugins_configuration_gets_its_place_from_a_path() {
    let text = "admission:\n  plugins:\n  - name: PodSecurity\n    configuration:\n      defaults: {enforce: strikt}\n      list: [a, b]\n";
    let loaded = with_head(text).loaded();
    let origin = &loaded.plugins[0].origin;
    let at = |path: &str| {
        let fault = origin.fault(path, "no");
        (
            fault.position.unwrap().line,
            fault.position.unwrap().column,
            fault.path,
        )
    };
    let base = "admission.plugins[0].configuration";
    assert_eq!(
        at("defaults.enforce"),
        (7, 27, format!("{base}.defaults.enforce"))
    );
    assert_eq!(
        at("defaults.gone.more"),
        (7, 17, format!("{base}.defaults.gone.more"))
    );
    assert_eq!(at("list[1]"), (8, 17, format!("{base}.list[1]")));
    assert_eq!(at(""), (7, 7, base.to_owned()));
    assert!(Arc::new(origin.source().path().unwrap().to_owned()).ends_with("portcullis.yaml"));
}
