//! Input: documents, lists, folders, standard input, and what can't be read.

use serde_json::{Value, json};

use super::{BASELINE, device, eval, eval_stdin, folder, settings};
use crate::harness::{Folder, pod, privileged, run_in};

fn place(result: &Value) -> (&str, u64) {
    (
        result["file"].as_str().unwrap(),
        result["index"].as_u64().unwrap(),
    )
}

#[test]
fn documents_and_lists_are_taken_apart_and_numbered() {
    let folder = Folder::new();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [privileged(), settings()]});
    let pods = json!({"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {"name": "listed"}, "spec": {"containers": []}}]});
    let text = format!("# one\n---\n{}\n---\n{list}\n---\n---\n{pods}\n", pod());
    folder.write("all.yaml", text);
    let done = eval(&folder, &[&["-f", "all.yaml"], BASELINE].concat());
    let kinds: Vec<(&str, &str)> = done
        .results()
        .iter()
        .map(|r| (r["kind"].as_str().unwrap(), r["name"].as_str().unwrap()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("Pod", "web"),
            ("Pod", "web"),
            ("ConfigMap", "c"),
            ("Pod", "listed")
        ]
    );
    let indexes: Vec<u64> = done.results().iter().map(|r| place(r).1).collect();
    assert_eq!(indexes, [0, 1, 2, 3]);
    // The listed pod has no namespace of its own; the others are in `default`, which has no labels.
    assert_eq!(done.results()[3]["namespace"], "prod");
    assert_eq!(done.results()[0]["namespace"], "default");
}

#[test]
fn folders_are_read_whole_sorted_without_hidden_files() {
    let folder = Folder::new();
    for name in [
        "m/b.yml",
        "m/a.json",
        "m/sub/c.yaml",
        "m/.hidden.yaml",
        "m/.git/x.yaml",
        "m/notes.txt",
        "m/z.yaml",
    ] {
        folder.write(name, pod().to_string());
    }
    let done = eval(&folder, &["-f", "m", "--admission-control", "AlwaysAdmit"]);
    let files: Vec<&str> = done.results().iter().map(|r| place(r).0).collect();
    assert_eq!(files, ["m/a.json", "m/b.yml", "m/sub/c.yaml", "m/z.yaml"]);
    assert_eq!(done.code, Some(0));
    std::fs::create_dir(folder.path("empty")).unwrap();
    let done = eval(
        &folder,
        &["-f", "empty", "--admission-control", "AlwaysAdmit"],
    );
    assert_eq!((done.code, done.summary()), (Some(6), [0, 0, 0, 0]));
    // A file that is named is read whatever it is called.
    let named = [
        "-f",
        "m/notes.txt",
        "-f",
        "m/.hidden.yaml",
        "--admission-control",
        "AlwaysAdmit",
    ];
    assert_eq!(eval(&folder, &named).summary(), [2, 0, 0, 0]);
}

#[test]
fn standard_input_is_read() {
    let folder = Folder::new();
    let input = format!("{}\n---\n{}", pod(), privileged());
    let chain = ["-f", "-", "-o", "json", "--admission-control", "AlwaysDeny"];
    let (code, out) = eval_stdin(&folder, &chain, &input);
    assert_eq!(code, Some(1));
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["summary"]["denied"], 2);
    assert_eq!(place(&value["results"][1]), ("-", 1));
    assert_eq!(eval_stdin(&folder, &chain, "").0, Some(6));
}

#[test]
fn a_bad_document_is_named_with_its_place_and_the_others_are_judged() {
    let folder = folder();
    let text = format!(
        "{}\n---\na: b\n  c: d\n---\nkind: Pod\nmetadata: {{}}\n---\n- 1\n---\n\
         apiVersion: v1\nkind: Pod\nkind: Pod\n---\n{}\n",
        pod(),
        settings()
    );
    folder.write("mixed.yaml", text);
    let done = eval(
        &folder,
        &["-f", "mixed.yaml", "--admission-control", "AlwaysAdmit"],
    );
    assert_eq!(
        (done.code, done.summary()),
        (Some(3), [2, 0, 4, 0]),
        "{}",
        done.err
    );
    for (index, place, needle) in [
        (1, "mixed.yaml:4:", "not valid YAML"),
        (2, "mixed.yaml:6:1: document 2:", "apiVersion is missing"),
        (3, "mixed.yaml:9:", "document 3: expected a map"),
        (
            4,
            "mixed.yaml:13:1: document 4:",
            "the key `kind` is given twice",
        ),
    ] {
        let result = &done.results()[index];
        let message = result["message"].as_str().unwrap();
        assert!(
            message.starts_with(place) && message.contains(needle),
            "{message}"
        );
        assert!(
            message.contains(&format!("document {index}: ")),
            "{message}"
        );
        assert_eq!(
            (&result["allowed"], &result["policies"]),
            (&json!(false), &json!([]))
        );
        assert!(done.err.contains(message), "{}", done.err);
    }
    assert_eq!(done.results()[5]["kind"], "ConfigMap");
}

#[test]
fn files_that_cannot_be_read_are_errors_and_the_others_are_judged() {
    let folder = folder();
    folder.write("binary.yaml", b"\xff\xfe\x00");
    let files = ["-f", "fine.yaml", "-f", "missing.yaml", "-f", "binary.yaml"];
    let done = eval(&folder, &[&files[..], BASELINE].concat());
    // How many objects would be in them is not known.
    assert_eq!((done.code, done.summary()), (Some(3), [1, 0, 0, 0]));
    assert_eq!(done.results().len(), 1);
    let table = run_in(&folder, &[&["eval"], &files[..], BASELINE].concat());
    assert!(!table.out.contains("missing.yaml"), "{}", table.out);
    for err in [done.err, table.err] {
        let missing = "error: missing.yaml: cannot read the file: no such file or directory\n";
        assert!(err.contains(missing), "{err}");
        assert!(err.contains("error: binary.yaml: "), "{err}");
        assert!(
            err.ends_with("1 object, 1 plug-in: 1 allowed, 0 denied, 0 errors, 0 skipped\n"),
            "{err}"
        );
    }
}

#[test]
fn objects_are_completed_as_an_api_server_would() {
    let folder = Folder::new();
    folder.write("device.yaml", device().to_string());
    let done = eval(
        &folder,
        &[
            "-f",
            "device.yaml",
            "--admission-control",
            "ExtendedResourceToleration",
        ],
    );
    let result = &done.results()[0];
    let spec = &result["object"]["spec"];
    assert_eq!(spec["tolerations"][0]["key"], "example.com/gpu");
    assert_eq!(spec["volumes"][0]["emptyDir"], json!({}));
    assert_eq!(
        spec["containers"][0]["resources"]["requests"]["example.com/gpu"],
        1
    );
    // Defaults are not part of the patch.
    assert_eq!(result["patch"].as_array().unwrap().len(), 1, "{result}");
    assert_eq!(result["patch"][0]["path"], "/spec/tolerations");
}

#[test]
fn namespaces_go_to_objects_that_live_in_one() {
    let folder = Folder::new();
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
    let custom =
        json!({"apiVersion": "example.com/v1", "kind": "Policy", "metadata": {"name": "p"}});
    folder.write("all.yaml", format!("{node}\n---\n{custom}\n---\n{}", pod()));
    let chain = ["-f", "all.yaml", "--admission-control", "AlwaysDeny"];
    let of = |more: &[&str]| -> Vec<String> {
        let done = eval(&folder, &[&chain[..], more].concat());
        let namespace = |r: &Value| r["namespace"].as_str().unwrap().to_owned();
        done.results().iter().map(namespace).collect()
    };
    assert_eq!(of(&[]), ["", "default", "default"]);
    assert_eq!(of(&["--namespace", "prod"]), ["", "prod", "default"]);
}

#[test]
fn json_values_in_a_row_are_read_as_kubectl_reads_them() {
    let folder = Folder::new();
    let (one, other) = (pod(), settings());
    for (text, places) in [
        (format!("{one}\n{other}\n"), [1, 2]),
        (format!("{one}{other}"), [1, 1]),
        (format!("{one:#}\n\n{other:#}\n"), [1, 0]),
    ] {
        folder.write("all.json", &text);
        let ran = run_in(
            &folder,
            &["eval", "all.json", "--admission-control", "AlwaysAdmit"],
        );
        assert_eq!(ran.code, Some(0), "{text}: {}{}", ran.out, ran.err);
        assert!(ran.err.starts_with("2 objects"), "{}", ran.err);
        for line in places.iter().filter(|line| **line > 0) {
            assert!(
                ran.out.contains(&format!("all.json:{line}\n")),
                "{}",
                ran.out
            );
        }
    }
    // The others are judged where one can't be read.
    folder.write("all.json", format!("{one}\n{other}\n{{\"kind\": }}\n"));
    let done = eval(&folder, &["all.json", "--admission-control", "AlwaysAdmit"]);
    assert_eq!((done.code, done.summary()), (Some(3), [2, 0, 1, 0]));
    assert!(done.err.contains("all.json:3:"), "{}", done.err);
    let (code, out) = eval_stdin(
        &folder,
        &["-f", "-", "--admission-control", "AlwaysAdmit"],
        &format!("{one}\n{other}\n"),
    );
    assert_eq!((code, out.matches("-:").count()), (Some(0), 2), "{out}");
}

#[test]
fn folders_may_hold_other_things_than_manifests() {
    let folder = Folder::new();
    assert_eq!(run_in(&folder, &["init", "demo"]).code, Some(0));
    folder.write("demo/values.yaml", "replicas: 3\n");
    folder.write("demo/tests/expected.json", "{\"allowed\": true}");
    let ran = run_in(
        &folder,
        &["eval", "demo", "--config", "demo/portcullis.yaml"],
    );
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let line = "1 object, 3 policies: 1 allowed, 0 denied, 0 errors, 0 skipped; 8 files skipped: not Kubernetes objects\n";
    assert_eq!(ran.err, line);
    // What is named itself was meant to be an object, and half an object was meant to be one.
    for (file, text) in [
        ("demo/values.yaml", "a: 1\n"),
        ("half/pod.yaml", "kind: Pod\n"),
    ] {
        folder.write(file, text);
        let named = file.trim_start_matches("half/pod.yaml");
        let named = if named.is_empty() { "half" } else { named };
        let ran = run_in(
            &folder,
            &["eval", named, "--admission-control", "AlwaysAdmit"],
        );
        assert_eq!(ran.code, Some(3), "{file}: {}{}", ran.out, ran.err);
        assert!(
            ran.out
                .contains("not a Kubernetes object: apiVersion is missing"),
            "{}",
            ran.out
        );
    }
    let ran = run_in(
        &folder,
        &[
            "eval",
            "demo/policies",
            "--admission-control",
            "AlwaysAdmit",
        ],
    );
    assert_eq!(ran.code, Some(6), "{}", ran.err);
}

#[test]
fn labels_without_a_namespace_are_those_of_each_object() {
    let folder = Folder::new();
    let mut shop = privileged();
    shop["metadata"]["namespace"] = "shop".into();
    folder.write("all.yaml", format!("{shop}\n---\n{}\n", privileged()));
    let label = "pod-security.kubernetes.io/enforce=baseline";
    let arguments = [
        "all.yaml",
        "--admission-control",
        "PodSecurity",
        "--namespace-labels",
        label,
    ];
    let done = eval(&folder, &arguments);
    assert_eq!(done.summary(), [0, 2, 0, 0], "{:#}", done.value);
    let only = eval(
        &folder,
        &[&arguments[..], &["--namespace", "default"]].concat(),
    );
    assert_eq!(only.summary(), [1, 1, 0, 0], "{:#}", only.value);
}

#[test]
fn reports_are_not_written_over_what_is_read() {
    let folder = Folder::new();
    folder.write("pod.yaml", pod().to_string());
    let ran = run_in(
        &folder,
        &[
            "eval",
            "pod.yaml",
            "--admission-control",
            "AlwaysAdmit",
            "--report",
            "yaml=./pod.yaml",
        ],
    );
    assert_eq!(ran.code, Some(2));
    ran.says(&["a report can't be written over a file that is read"]);
    let ran = run_in(
        &folder,
        &[
            "eval",
            "pod.yaml",
            "--admission-control",
            "AlwaysAdmit",
            "--as",
            "",
        ],
    );
    assert_eq!(ran.code, Some(2));
}
