//! The table, what it says of warnings, and what --explain adds.

use serde_json::json;

use super::{BASELINE, device, eval, folder};
use crate::harness::{Folder, pod, run_in};

#[test]
fn warnings_are_told_whole() {
    let folder = folder();
    let labels = "pod-security.kubernetes.io/warn=restricted";
    let chain = [
        "--admission-control",
        "AlwaysPullImages,PodSecurity",
        "--namespace",
        "prod",
    ];
    let all = [
        &["-f", "fine.yaml"],
        &chain[..],
        &["--namespace-labels", labels],
    ]
    .concat();
    let done = eval(&folder, &all);
    let result = &done.results()[0];
    let warning = result["warnings"][0].as_str().unwrap();
    assert!(
        warning.contains("restricted") && warning.chars().count() > 120,
        "{warning}"
    );
    let outcomes: Vec<&str> = result["policies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["outcome"].as_str().unwrap())
        .collect();
    assert_eq!((done.code, &outcomes[..]), (Some(0), &["pass", "warn"][..]));
    let table = run_in(&folder, &[&["eval"], &all[..]].concat()).out;
    assert!(
        table.contains(&format!("  warning: {warning}\n")),
        "{table}"
    );
}

#[test]
fn explain_says_more() {
    let folder = folder();
    let arguments = [&["-f", "wrong.yaml"], BASELINE].concat();
    let done = eval(&folder, &[&arguments[..], &["--explain"]].concat());
    let result = &done.results()[0];
    assert_eq!(result["annotations"]["enforce-policy"], "baseline:latest");
    let step = &result["policies"][0]["steps"][0];
    assert!(step["duration_us"].is_u64(), "{step}");
    let plain = run_in(&folder, &[&["eval"], &arguments[..]].concat()).out;
    let table = run_in(&folder, &[&["eval", "--explain"], &arguments[..]].concat()).out;
    assert!(
        table.contains("annotation enforce-policy: baseline:latest"),
        "{table}"
    );
    assert!(
        table.contains("validate denied in ") && table.contains(" µs"),
        "{table}"
    );
    assert!(
        !plain.contains("annotation") && !plain.contains(" µs"),
        "{plain}"
    );
}

#[test]
fn the_table_shows_verdicts_reasons_and_changes() {
    let folder = Folder::new();
    let mut object = device();
    object["spec"]["containers"][0]["imagePullPolicy"] = json!("Never");
    folder.write("pod.yaml", object.to_string());
    let ran = run_in(
        &folder,
        &[
            "eval",
            "-f",
            "pod.yaml",
            "--as",
            "bob",
            "--admission-control",
            "AlwaysPullImages,DenyServiceExternalIPs,ExtendedResourceToleration",
        ],
    );
    assert_eq!(ran.code, Some(0));
    insta::assert_snapshot!(ran.out, @r#"
    Pod default/web   CREATE by bob   pod.yaml:1
      pass   AlwaysPullImages
      skip   DenyServiceExternalIPs      not a service
      pass   ExtendedResourceToleration
      patch:
        ~ /spec/containers/0/imagePullPolicy: "Never" -> "Always"
        + /spec/tolerations: [{"effect":"NoSchedule","key":"example.com/gpu","operator":"Exists"}]
    "#);
    assert_eq!(
        ran.err,
        "1 object, 3 plug-ins: 1 allowed, 0 denied, 0 errors, 0 skipped\n"
    );
}

#[test]
fn a_terminal_gets_no_control_characters() {
    let folder = Folder::new();
    let mut object = pod();
    object["metadata"]["name"] = json!("a\u{1b}[31m\nb");
    folder.write("pod.yaml", object.to_string());
    let ran = run_in(
        &folder,
        &[
            "eval",
            "-f",
            "pod.yaml",
            "--admission-control",
            "AlwaysDeny",
        ],
    );
    assert_eq!(ran.code, Some(1));
    assert!(!ran.out.contains('\u{1b}'), "{}", ran.out);
    assert_eq!(ran.out.lines().count(), 2, "{}", ran.out);
}
