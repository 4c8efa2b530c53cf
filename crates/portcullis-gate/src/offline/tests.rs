//! Tests of reading manifests and of the chain without a server.

use portcullis_core::{Operation, UserInfo};
use serde_json::json;

use super::*;
use portcullis_config::{ConfigSource, Listening};
use portcullis_document::Source;

const PLUGINS: &[&str] = &["AlwaysDeny", "PodSecurity"];

fn read(text: &str) -> Vec<Item> {
    read_documents(&Source::text_named("a.yaml", text), "default")
}

fn object_of(item: &Item) -> &Manifest {
    match &item.content {
        Ok(Content::Object(manifest)) => manifest,
        other => panic!("{other:?}"),
    }
}

/// Of each item: line, and kind with name or the fault.
fn shown(text: &str) -> Vec<(u64, String)> {
    let show = |item: Item| match (item.line, item.into_manifest()) {
        (line, Ok(made)) => (line, format!("{} {}", made.kind.kind, made.name)),
        (line, Err(fault)) => (line, fault.to_string()),
    };
    read(text).into_iter().map(show).collect()
}

fn options(source: ConfigSource<'_>) -> LoadOptions<'_> {
    LoadOptions {
        source,
        admission_control: Some(vec!["PodSecurity".to_owned()]),
        admission_control_config_file: None,
        known_plugins: PLUGINS,
        listeners: Listening::Needed,
        objects: None,
        coverage: false,
        env: &|_| None,
    }
}

#[test]
fn documents_are_found_with_their_lines() {
    let text = "# first\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n# nothing\n\
                ---\nkind: Pod\napiVersion: v1\n...\n--- {apiVersion: v1, kind: Secret}\n";
    assert_eq!(
        shown(text),
        [
            (3, "Pod a".to_owned()),
            (9, "Pod ".to_owned()),
            (12, "Secret ".to_owned())
        ]
    );
    assert!(read("").is_empty() && read("---\n...\n---\nnull\n---\n~").is_empty());
    assert_eq!(
        shown("%YAML 1.2\n---\napiVersion: v1\nkind: Pod\n").len(),
        1
    );
}

#[test]
fn a_bad_document_leaves_the_others() {
    let text = "apiVersion: v1\nkind: Pod\n---\nkind: [Pod\n---\nkind: Pod\n---\n\
                apiVersion: v1\nkind: Pod\nmetadata:\n  name: 5\n---\napiVersion: v1\nkind: Pod\n";
    let all = shown(text);
    assert_eq!(all.len(), 5, "{all:?}");
    assert_eq!((all[0].1.as_str(), all[4].1.as_str()), ("Pod ", "Pod "));
    assert_eq!(all[4].0, 13);
    assert!(all[1].1.starts_with("a.yaml:") && all[1].1.contains("document 1: not valid YAML"));
    assert_eq!(
        all[2].1,
        "a.yaml:6:1: document 2: not a Kubernetes object: apiVersion is missing"
    );
    assert_eq!(
        all[3].1,
        "a.yaml:11:9: document 3: metadata.name: expected text; put it in quotes"
    );
}

#[test]
fn lists_are_taken_apart_with_the_lines_of_their_items() {
    let text = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod}\n\
                - apiVersion: v1\n  kind: Secret\n- {}\n";
    let all = shown(text);
    assert_eq!(all[0], (4, "Pod ".to_owned()));
    assert_eq!(all[1], (5, "Secret ".to_owned()));
    assert!(all[2].1.starts_with("a.yaml:7:"), "{all:?}");
}

#[test]
fn json_is_read_with_everything_it_may_hold() {
    let text = "{\"apiVersion\": \"v1\",\n\t\"kind\": \"Pod\", \"metadata\": {\"name\": \"\\ud83d\\ude00\"}}";
    assert_eq!(shown(text), [(1, "Pod 😀".to_owned())]);
}

#[test]
fn words_and_numbers_are_read_as_kubernetes_reads_them() {
    let text = "apiVersion: v1\nkind: X\nmode: 0644\nversion: \"0644\"\nbig: 9007199254740993\n\
                is: yes\nis_not: off\nword: \"yes\"\non: 1\n";
    let items = read(text);
    let object = &object_of(&items[0]).object;
    assert_eq!(object["mode"], 420);
    assert_eq!(object["version"], "0644");
    assert_eq!(
        (&object["is"], &object["is_not"]),
        (&json!(true), &json!(false))
    );
    assert_eq!((&object["word"], &object["on"]), (&json!("yes"), &json!(1)));
    assert_eq!(object["big"], json!(9_007_199_254_740_993_u64));
}

#[test]
fn a_configuration_needs_no_listener_and_no_certificates() {
    let text = "listeners: [{name: a, tcp: \"127.0.0.1:1\", tls: {certificate: no, key: no}, serves: [kubernetes]}]";
    for text in ["{}", text] {
        let made = Blueprint::load(&options(ConfigSource::BuiltIn(text))).unwrap();
        let judges = made.judges();
        assert_eq!(judges.len(), 1);
        assert_eq!(judges[0].name, "PodSecurity");
    }
    assert!(Offline::load(&options(ConfigSource::BuiltIn("{lisners: []}")), None).is_err());
}

#[test]
fn what_is_said_of_a_namespace_goes_over_the_configuration() {
    let enforce = "pod-security.kubernetes.io/enforce";
    let text = format!("namespaces: [{{name: shop, labels: {{{enforce}: privileged}}}}]");
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"hostNetwork": true, "containers": []}});
    let judged = |namespace: Option<Namespace>| {
        let offline = Offline::load(&options(ConfigSource::BuiltIn(&text)), namespace).unwrap();
        let question = ReviewRequest {
            operation: Operation::Create,
            old: None,
            user: &UserInfo::default(),
            dry_run: false,
            uid: "1",
        };
        let manifest = Manifest::new(pod.clone(), "shop").unwrap();
        let judged = offline.judge(&review_text(&manifest, question)).unwrap();
        judged.verdict.is_allowed()
    };
    assert!(judged(None));
    let given = |name: &str| Namespace {
        name: name.to_owned(),
        labels: [(enforce.to_owned(), "baseline".to_owned())].into(),
        annotations: Default::default(),
    };
    assert!(!judged(Some(given("shop"))));
    assert!(judged(Some(given("other"))));
}

#[test]
fn a_ci_job_lives_in_its_project() {
    let job = |rest: &str| {
        format!(
            "apiVersion: ci.portcullis.dev/v1\nkind: Job\nproject: shop/web\nmetadata: {rest}\n"
        )
    };
    for (text, wanted) in [
        (job("{name: a}"), "shop/web"),
        (job("{name: a, namespace: own}"), "own"),
        (
            job("{name: a}").replace("ci.portcullis.dev", "batch"),
            "default",
        ),
    ] {
        let items = read(&text);
        let manifest = object_of(&items[0]);
        assert_eq!(manifest.namespace, wanted, "{text}");
        assert_eq!(is_job(&manifest.kind), wanted != "default");
    }
}

#[test]
fn only_what_is_named_judges() {
    let text = "policies: [{name: a, code: return false}, {name: b, code: return false}]\ndefaultAction: reject\n\
                admission: {order: [AlwaysDeny, Policies]}";
    let options = LoadOptions {
        admission_control: None,
        known_plugins: &["AlwaysDeny", "Policies"],
        ..options(ConfigSource::BuiltIn(text))
    };
    let left = |names: &[&str]| {
        let mut blueprint = Blueprint::load(&options).unwrap();
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let only = blueprint.only(&names).map_err(|faults| faults.to_string());
        only.map(|()| {
            let judges = blueprint.judges().into_iter();
            judges.map(|judge| judge.name).collect::<Vec<_>>()
        })
    };
    assert_eq!(left(&["b"]).unwrap(), ["b", "default action"]);
    assert_eq!(left(&["AlwaysDeny"]).unwrap(), ["AlwaysDeny"]);
    assert!(
        left(&["c"])
            .unwrap_err()
            .contains("there is no policy or plug-in `c`")
    );
}

#[test]
fn a_text_of_any_length_is_read_as_if_it_were_in_memory() {
    let pod = |n: usize| {
        let note = "x".repeat(n % 7 * 1000);
        format!("# {note}\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{n}}}\n")
    };
    let all: Vec<String> = (0..1000).map(pod).collect();
    let text = all.join("---\n") + "---\nkind: [\n";
    assert!(text.len() > 2 << 20);
    let told = |item: &Item| {
        let name = match &item.content {
            Ok(Content::Object(manifest)) => manifest.name.clone(),
            other => format!("{other:?}"),
        };
        (item.index, item.line, name)
    };
    let mut streamed = Vec::new();
    let read = each_document("a.yaml", text.as_bytes(), "default", &mut |item| {
        streamed.push(told(&item));
        std::ops::ControlFlow::Continue(())
    });
    assert!(read.unwrap().is_continue());
    let source = Source::text_named("a.yaml", text);
    let whole: Vec<_> = read_documents(&source, "default")
        .iter()
        .map(told)
        .collect();
    assert_eq!(streamed.len(), 1001);
    assert!(streamed == whole);
}
