//! Flags, exit codes, and the same exit code whatever is printed.

use serde_json::json;

use super::{BASELINE, eval, folder};
use crate::harness::{Folder, container, pod_with, run_in};

#[track_caller]
fn code(folder: &Folder, arguments: &[&str]) -> Option<i32> {
    run_in(folder, &[&["eval"], arguments].concat()).code
}

#[test]
fn exit_codes_are_the_same_whatever_is_printed() {
    let folder = folder();
    folder.write("bad.yaml", "kind: [");
    let cases = [
        ("fine.yaml", 0),
        ("wrong.yaml", 1),
        ("settings.yaml", 6),
        ("bad.yaml", 3),
    ];
    for (file, wanted) in cases {
        for output in [
            &[][..],
            &["-o", "table"],
            &["-o", "json"],
            &["-o", "yaml"],
            &["--explain"],
            &["--report", "junit=j.xml", "--report", "sarif=s.json"],
        ] {
            let arguments = [&["-f", file], BASELINE, output].concat();
            assert_eq!(code(&folder, &arguments), Some(wanted), "{arguments:?}");
        }
    }
}

#[test]
fn usage_is_exit_2_and_told() {
    let folder = folder();
    let chain = ["--admission-control", "AlwaysAdmit"];
    for (arguments, needle) in [
        (&[][..], "<FILE|DIR|->"),
        (&["-f"], "-f"),
        (
            &["-f", "fine.yaml", "--operation", "PATCH"],
            "CREATE, UPDATE, DELETE or CONNECT",
        ),
        (&["-f", "fine.yaml", "--operation", "UPDATE"], "--old"),
        (&["-f", "fine.yaml", "--old", "wrong.yaml"], "UPDATE only"),
        (
            &["-f", "-", "--operation", "UPDATE", "--old", "-"],
            "only once",
        ),
        (&["-f", "fine.yaml", "-o", "xml"], "table, json, yaml"),
        (
            &["-f", "fine.yaml", "--report", "html=x"],
            "json, yaml, junit, sarif, github, gitlab, tap",
        ),
        (
            &["-f", "fine.yaml", "--report", "junit"],
            "expected KIND=FILE",
        ),
        (&["-f", "fine.yaml", "--report", "junit=-"], "`-o junit`"),
        (
            &[
                "-f",
                "fine.yaml",
                "--namespace",
                "a",
                "--namespace-labels",
                "x",
            ],
            "KEY=VALUE",
        ),
        (&["-f", "fine.yaml", "--namespace", ""], "--namespace"),
        (
            &["-f", "fine.yaml", "--policies", "policies", "--config", "c"],
            "--policies",
        ),
        (&["-f", "-", "-"], "only once"),
        (&["fine.yaml", "--header", "x"], "'Name: value'"),
        (&["fine.yaml", "--path", "x"], "`/`"),
    ] {
        let all = [&["eval"], arguments, &chain].concat();
        let ran = run_in(&folder, &all);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.err);
        ran.says(&[needle]);
    }
    let ran = run_in(&folder, &["eval", "-f", "fine.yaml"]);
    assert_eq!(ran.code, Some(2));
    ran.says(&["--config FILE", "--policies DIR", "--admission-control"]);
}

#[test]
fn an_unknown_plugin_and_a_bad_configuration_are_exit_3_and_named() {
    let folder = folder();
    let all = [
        "eval",
        "-f",
        "fine.yaml",
        "--admission-control",
        "NoSuchPlugin",
    ];
    let ran = run_in(&folder, &all);
    assert_eq!(ran.code, Some(3));
    ran.says(&["NoSuchPlugin"]);
    folder.write("portcullis.yaml", "admission: {ordr: []}");
    let ran = run_in(
        &folder,
        &["eval", "-f", "fine.yaml", "--config", "portcullis.yaml"],
    );
    assert_eq!(ran.code, Some(3));
    ran.says(&["portcullis.yaml:1:13", "ordr", "did you mean `order`?"]);
    let ran = run_in(
        &folder,
        &["eval", "-f", "fine.yaml", "--config", "no-such.yaml"],
    );
    assert_eq!(ran.code, Some(3));
    ran.says(&["no-such.yaml"]);
}

#[test]
fn a_refusal_outweighs_and_an_unreadable_manifest_outweighs_that() {
    let folder = folder();
    let files = |names: &[&'static str]| -> Vec<&'static str> {
        names.iter().flat_map(|n| ["-f", n]).collect()
    };
    let of = |names: &[&'static str]| code(&folder, &[&files(names)[..], BASELINE].concat());
    assert_eq!(of(&["fine.yaml", "settings.yaml"]), Some(0));
    assert_eq!(of(&["fine.yaml", "wrong.yaml", "settings.yaml"]), Some(1));
    assert_eq!(of(&["wrong.yaml", "missing.yaml"]), Some(3));
}

#[test]
fn a_chain_without_plugins_judges_nothing() {
    let folder = folder();
    folder.write("portcullis.yaml", "{}");
    let done = eval(
        &folder,
        &["-f", "wrong.yaml", "--config", "portcullis.yaml"],
    );
    assert_eq!((done.code, done.summary()), (Some(6), [0, 0, 0, 1]));
    assert!(done.err.contains("nothing was judged"), "{}", done.err);
}

#[test]
fn a_configuration_is_taken_without_its_listeners_and_certificates() {
    let folder = folder();
    let listener = json!({"name": "a", "tcp": "127.0.0.1:1", "tls": {"certificate": "no.crt", "key": "no.key"}, "serves": ["kubernetes"]});
    let config = json!({
        "listeners": [listener],
        "admission": {"order": ["PodSecurity"]},
        "namespaces": [{"name": "prod", "labels": {"pod-security.kubernetes.io/enforce": "baseline"}}],
    });
    folder.write("portcullis.yaml", config.to_string());
    let config = ["--config", "portcullis.yaml"];
    let wrong = ["-f", "wrong.yaml"];
    assert_eq!(code(&folder, &[&wrong[..], &config].concat()), Some(0));
    let there = ["--namespace", "prod"];
    assert_eq!(
        code(&folder, &[&wrong[..], &config, &there].concat()),
        Some(1)
    );
    // The flag goes over the configuration, and so does the chain.
    let label = [
        "--namespace-labels",
        "a=b,pod-security.kubernetes.io/enforce=privileged",
    ];
    assert_eq!(
        code(&folder, &[&wrong[..], &config, &there, &label].concat()),
        Some(0)
    );
    let chain = ["--admission-control", "AlwaysDeny"];
    assert_eq!(
        code(&folder, &[&wrong[..], &config, &chain].concat()),
        Some(1)
    );
}

#[test]
fn plugins_are_configured_by_a_file() {
    let folder = folder();
    let own = json!({"apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration",
        "defaults": {"enforce": "baseline"}, "exemptions": {"usernames": ["root"]}});
    let file = json!({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration",
        "plugins": [{"name": "PodSecurity", "configuration": own}]});
    folder.write("admission.yaml", file.to_string());
    let wrong = [
        "-f",
        "wrong.yaml",
        "--admission-control-config-file",
        "admission.yaml",
    ];
    assert_eq!(code(&folder, &wrong), Some(1));
    let chain = ["--admission-control", "PodSecurity"];
    assert_eq!(code(&folder, &[&wrong[..], &chain].concat()), Some(1));
    // The user matters.
    assert_eq!(
        code(&folder, &[&wrong[..], &["--as", "root"]].concat()),
        Some(0)
    );
}

#[test]
fn what_could_not_be_decided_is_exit_5() {
    // So large an object takes longer to read than there is time.
    let folder = folder();
    let containers = vec![container("app"); 20_000];
    let large = pod_with(&json!({"containers": containers}));
    folder.write("large.yaml", large.to_string());
    let config =
        json!({"admission": {"order": ["PodSecurity"]}, "limits": {"requestDeadline": "1ms"}});
    folder.write("portcullis.yaml", config.to_string());
    let hurried = ["-f", "large.yaml", "--config", "portcullis.yaml"];
    let done = eval(&folder, &hurried);
    assert_eq!((done.code, done.summary()), (Some(5), [0, 0, 1, 0]));
    let result = &done.results()[0];
    assert_eq!(result["policies"][0]["outcome"], "error");
    assert_eq!(
        (&result["allowed"], &result["policy"]),
        (&json!(false), &json!("PodSecurity"))
    );
    let message = result["message"].as_str().unwrap();
    assert!(message.contains("could not decide"), "{message}");
}

#[test]
fn standard_output_carries_data_only() {
    let folder = folder();
    folder.write("empty.yaml", "");
    let ran = run_in(&folder, &[&["eval", "-f", "empty.yaml"], BASELINE].concat());
    assert_eq!((ran.code, ran.out.as_str()), (Some(6), ""));
    assert_eq!(ran.err, "no manifests found in `empty.yaml`\n");
    std::fs::create_dir(folder.path("empty")).unwrap();
    let ran = run_in(&folder, &[&["eval", "empty"], BASELINE].concat());
    assert_eq!((ran.code, ran.out.as_str()), (Some(6), ""));
    assert_eq!(ran.err, "no manifests found in `empty`\n");
}
