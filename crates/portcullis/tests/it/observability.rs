//! What operators look at: dashboards and alerts are about metrics that servers expose, with the labels that those have, and
//! alerts point to sections that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use portcullis_testing::garden::{config, may, seed};
use regex::Regex;
use serde_json::{Value, json};

use crate::harness::{Client, Demonstration, Gate, Setup, pod, repository, until};

/// Metrics that it takes more than a few requests to see, with their labels and what they are called where they are made.
const RARE: &[(&str, &[&str], &str)] = &[
    (
        "portcullis_policy_evaluations_killed_total",
        &["policy"],
        "policy_evaluations_killed",
    ),
    (
        "portcullis_policy_threads_abandoned_total",
        &["policy"],
        "policy_threads_abandoned",
    ),
    (
        "portcullis_decision_log_failures_total",
        &["sink"],
        "decision_log_failures",
    ),
    (
        "portcullis_ci_delivery_tries_total",
        &["outcome"],
        "ci_delivery_tries",
    ),
    (
        "portcullis_graph_malformed_objects_total",
        &["profile", "kind"],
        "graph_malformed_objects",
    ),
];

/// What Prometheus adds by itself.
const ADDED: [&str; 2] = ["job", "instance"];

type Labels = BTreeSet<String>;

/// The names of all samples, each with the labels that it has anywhere.
fn exposed(text: &str, into: &mut BTreeMap<String, Labels>) {
    let label = Regex::new(r#"([a-z_]+)="(?:[^"\\]|\\.)*""#).unwrap();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name: String = line
            .chars()
            .take_while(|c| !matches!(c, '{' | ' '))
            .collect();
        let found = label.captures_iter(line).map(|found| found[1].to_owned());
        into.entry(name).or_default().extend(found);
    }
}

/// What three servers expose: the demonstration, one with a graph, and one with policies that fail.
fn everything() -> BTreeMap<String, Labels> {
    let mut all = BTreeMap::new();
    let demonstration = Demonstration::start();
    let client = Client::tcp(demonstration.ops);
    until("the demonstration to have judged everything", || {
        let text = client.get("/metrics").text();
        [
            "ci_controller_verdicts_total",
            "authorization_decisions_total",
            "rejected_total{",
        ]
        .iter()
        .all(|name| text.contains(&format!("portcullis_{name}")))
    });
    exposed(&client.get("/metrics").text(), &mut all);
    drop(demonstration);

    let gate = Setup::new(config("gardener"))
        .file("objects/seed.yaml", seed("one").to_string())
        .start();
    may(&gate, "one", "get cloudprofiles.core.gardener.cloud local");
    exposed(&gate.get("/metrics").text(), &mut all);

    let gate = Gate::start(json!({
        "listeners": [{"name": "tls", "tcp": "127.0.0.1:0", "tls": {"development": true}, "serves": ["health"]}],
        "admission": {"plugins": [{"name": "Policies", "failure": "open"}]},
        "limits": {"deadline": "500ms"},
        "hostCalls": {"forwardTo": ["http://127.0.0.1:1/*"]},
        "policies": [
            {"name": "calls", "code": "try { forwardToAdmissionController('http://127.0.0.1:1/x') } catch {}"},
            {"name": "loops", "code": "while (true) {}"},
        ],
        "defaultAction": "allow",
    }));
    gate.validate(&pod());
    gate.post_bytes("/validate", b"{").error(400);
    exposed(&gate.get("/metrics").text(), &mut all);
    for (name, labels, source) in RARE {
        assert!(is_made(source), "{source}");
        let labels = labels.iter().map(ToString::to_string).collect();
        let before = all.insert((*name).to_owned(), labels);
        assert!(before.is_none(), "{name} is not rare: {before:?}");
    }
    all
}

/// Whether a metric is registered under this name somewhere.
fn is_made(name: &str) -> bool {
    let server = repository().join("crates/portcullis-server/src");
    let folders = [server.join("metrics"), server.join("decisions")];
    let files = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap());
    let quoted = format!("\"{name}\"");
    files.flatten().any(|file| {
        let text = fs::read_to_string(file.path()).unwrap_or_default();
        text.contains(&quoted)
    })
}

/// Every expression of the dashboards and alerts, with the file it is in.
fn expressions() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(repository().join("deploy/grafana")).unwrap() {
        let path = entry.unwrap().path();
        let board: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let name = path.file_name().unwrap().display().to_string();
        let before = found.len();
        collect(&name, &board, &mut found);
        assert!(
            found.len() > before + 10,
            "{name} has hardly any expressions"
        );
    }
    for rule in rules() {
        found.push((
            "alerts.yaml".to_owned(),
            rule["expr"].as_str().unwrap().to_owned(),
        ));
    }
    assert!(found.len() > 80, "{}", found.len());
    found
}

fn collect(file: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str() {
                    Some(text) if matches!(key.as_str(), "expr" | "definition") => {
                        found.push((file.to_owned(), text.to_owned()));
                    }
                    _ => collect(file, value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(file, item, found)),
        _ => {}
    }
}

fn rules() -> Vec<Value> {
    let text = fs::read_to_string(repository().join("deploy/prometheus/alerts.yaml")).unwrap();
    let alerts: Value = serde_saphyr::from_str(&text).unwrap();
    let groups = alerts["groups"].as_array().unwrap().iter();
    groups
        .flat_map(|group| group["rules"].as_array().unwrap().clone())
        .collect()
}

/// The metrics that an expression names, each with the labels it selects; and the labels it groups by.
fn named(expression: &str) -> (Vec<(String, Labels)>, Labels) {
    let metric = Regex::new(r"\b((?:portcullis|process)_[a-z0-9_]+)(?:\{([^}]*)\})?").unwrap();
    let label = Regex::new(r"([a-z_]+)\s*(?:=~|!~|!=|=)").unwrap();
    let metrics = metric.captures_iter(expression).map(|found| {
        let selected = found.get(2).map_or("", |labels| labels.as_str());
        let labels = label.captures_iter(selected).map(|one| one[1].to_owned());
        (found[1].to_owned(), labels.collect())
    });
    let grouping = Regex::new(r"\b(?:by|on)\s*\(([^)]*)\)").unwrap();
    let groups = grouping.captures_iter(expression).flat_map(|found| {
        let names = found[1].split(',').map(|name| name.trim().to_owned());
        names.collect::<Vec<_>>()
    });
    (metrics.collect(), groups.collect())
}

#[test]
fn dashboards_and_alerts_are_about_metrics_that_servers_expose() {
    let exposed = everything();
    for (file, expression) in expressions() {
        let (metrics, groups) = named(&expression);
        assert!(!metrics.is_empty(), "{file}: no metric in {expression}");
        let mut known: BTreeSet<&str> = ADDED.into();
        for (name, labels) in &metrics {
            let have = exposed.get(name);
            let have = have.unwrap_or_else(|| panic!("{file}: unknown metric {name}"));
            known.extend(have.iter().map(String::as_str));
            for label in labels {
                let is_known = have.contains(label) || ADDED.contains(&label.as_str());
                assert!(
                    is_known,
                    "{file}: {name} has no label {label}, but {have:?}"
                );
            }
        }
        for label in &groups {
            assert!(
                known.contains(label.as_str()),
                "{file}: no label {label}: {expression}"
            );
        }
    }
}

#[test]
fn a_metric_or_label_that_does_not_exist_is_noticed() {
    let (metrics, groups) = named(
        r#"sum by (job, odd) (rate(portcullis_x_total{a="1", b=~"2"}[5m])) / on (job) process_y"#,
    );
    let labels: Labels = ["a", "b"].map(str::to_owned).into();
    assert_eq!(
        metrics,
        [
            ("portcullis_x_total".to_owned(), labels),
            ("process_y".to_owned(), Labels::new())
        ]
    );
    assert_eq!(groups, ["job", "odd"].map(str::to_owned).into());
}

/// As GitHub makes anchors of headings.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_alert_points_to_a_section_that_names_it_and_has_a_test_case() {
    let page = fs::read_to_string(repository().join("docs/operations.md")).unwrap();
    let cases =
        fs::read_to_string(repository().join("deploy/prometheus/alerts.test.yaml")).unwrap();
    let headings = page.lines().filter(|line| line.starts_with("##"));
    let anchors: BTreeSet<String> = headings
        .map(|line| anchor(line.trim_start_matches('#')))
        .collect();
    let rules = rules();
    assert!(rules.len() > 10);
    for rule in &rules {
        let name = rule["alert"].as_str().unwrap();
        let runbook = rule["annotations"]["runbook"].as_str().unwrap();
        let section = runbook
            .strip_prefix("docs/operations.md#")
            .unwrap_or_else(|| panic!("{name}: {runbook}"));
        assert!(
            anchors.contains(section),
            "{name}: no section {section}: {anchors:?}"
        );
        assert!(
            cases.contains(&format!("alertname: {name}\n")),
            "{name} has no case that fires"
        );
        assert!(rule["labels"]["severity"].is_string(), "{name}");
    }
}

#[test]
fn dashboards_have_names_of_their_own_and_say_where_data_comes_from() {
    let mut seen = BTreeSet::new();
    for entry in fs::read_dir(repository().join("deploy/grafana")).unwrap() {
        let path = entry.unwrap().path();
        let board: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert!(
            seen.insert(board["uid"].as_str().unwrap().to_owned()),
            "{}",
            path.display()
        );
        let mut ids = BTreeSet::new();
        for panel in board["panels"].as_array().unwrap() {
            assert!(ids.insert(panel["id"].as_u64().unwrap()), "{panel}");
            assert_eq!(panel["datasource"]["uid"], "${datasource}", "{panel}");
            let place = &panel["gridPos"];
            assert!(
                place["x"].as_u64().unwrap() + place["w"].as_u64().unwrap() <= 24,
                "{panel}"
            );
        }
    }
    assert_eq!(seen.len(), 5);
}
