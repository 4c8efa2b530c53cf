//! The flags that say which plug-ins run.

use serde_json::{Value, json};

use super::valid;
use crate::harness::{Folder, Setup, chain, pod_security, run_in};

#[test]
fn paths_in_a_file_are_relative_to_it_and_paths_in_flags_to_the_working_directory() {
    const LIST: &str = "{apiVersion: apiserver.config.k8s.io/v1, kind: AdmissionConfiguration, plugins: [{name: PodSecurity, path: pss.yaml}]}";
    const OWN: &str = "{apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, defaults: {enforce: restricted}}";
    let folder = Folder::new();
    let mut config = valid();
    config["admission"] = json!({"configFile": "list.yaml"});
    folder.write("conf/portcullis.yaml", config.to_string());
    folder.write("conf/list.yaml", LIST);
    folder.write("conf/pss.yaml", OWN);
    assert_eq!(
        run_in(&folder, &["check", "--config", "conf/portcullis.yaml"]).code,
        Some(0)
    );
    let flag = [
        "check",
        "--config",
        "conf/portcullis.yaml",
        "--admission-control-config-file",
    ];
    let ran = run_in(&folder, &[&flag[..], &["list.yaml"]].concat());
    assert_eq!(ran.code, Some(3));
    ran.says(&["list.yaml"]);
    assert_eq!(
        run_in(&folder, &[&flag[..], &["conf/list.yaml"]].concat()).code,
        Some(0)
    );
}

#[test]
fn the_order_by_flag_is_checked() {
    let folder = Folder::new();
    folder.write("portcullis.yaml", valid().to_string());
    for (order, code, needle) in [
        ("AlwaysAdmit,NoSuchPlugin", 3, "NoSuchPlugin"),
        ("AlwaysPullImage", 3, "did you mean `AlwaysPullImages`"),
        ("AlwaysAdmit,AlwaysPullImages,AlwaysAdmit", 3, "AlwaysAdmit"),
        ("alwaysadmit", 3, "AlwaysAdmit"),
    ] {
        for command in ["check", "serve"] {
            let flag = format!("--admission-control={order}");
            let ran = run_in(&folder, &[command, "--config", "portcullis.yaml", &flag]);
            assert_eq!(ran.code, Some(code), "{order}: {}", ran.err);
            ran.says(&[needle, "--admission-control"]);
        }
    }
}

#[test]
fn the_configuration_of_kubernetes_is_checked() {
    let own = &pod_security(&json!({"enforce": "baseline"}))["admission"]["plugins"][0];
    let list = |plugins: Value| json!({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": plugins});
    let mut other_version = list(json!([]));
    other_version["apiVersion"] = json!("apiserver.config.k8s.io/v9");
    for (file, needle) in [
        (list(json!([{"name": "NoSuchPlugin"}])), "NoSuchPlugin"),
        (list(json!([own, own])), "PodSecurity"),
        (
            list(json!([{"name": "PodSecurity", "path": "gone.yaml"}])),
            "gone.yaml",
        ),
        (
            list(json!([{"name": "PodSecurity", "path": "x.yaml", "configuration": {}}])),
            "PodSecurity",
        ),
        (
            list(json!([{"name": "PodSecurity", "konfiguration": {}}])),
            "konfiguration",
        ),
        (other_version, "apiserver.config.k8s.io/v9"),
        (json!([]), "admission.json"),
    ] {
        let folder = Folder::new();
        folder.write("portcullis.yaml", valid().to_string());
        folder.write("admission.json", file.to_string());
        folder.write("x.yaml", "{}");
        let flag = ["--admission-control-config-file", "admission.json"];
        for command in ["check", "serve"] {
            let ran = run_in(
                &folder,
                &[&[command, "--config", "portcullis.yaml"][..], &flag].concat(),
            );
            assert_eq!(ran.code, Some(3), "{file}: {}", ran.err);
            ran.says(&[needle, "admission.json"]);
        }
    }
}

#[test]
fn a_plugin_configured_in_both_places_is_refused_and_the_flag_wins_over_the_key() {
    let own = &pod_security(&json!({"enforce": "baseline"}))["admission"]["plugins"];
    let list = |plugins: &Value| {
        json!({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": plugins}).to_string()
    };
    let mut config = valid();
    config["admission"] = json!({"plugins": own, "configFile": "twice.json"});
    let folder = Folder::new();
    folder.write("portcullis.yaml", config.to_string());
    folder.write("twice.json", list(own));
    folder.write("empty.json", list(&json!([])));
    let ran = run_in(&folder, &["check", "--config", "portcullis.yaml"]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["PodSecurity"]);
    let flag = [
        "check",
        "--config",
        "portcullis.yaml",
        "--admission-control-config-file",
        "empty.json",
    ];
    let ran = run_in(&folder, &flag);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

#[test]
fn an_empty_order_by_flag_is_an_empty_chain_or_refused() {
    // Whatever it means, it is not the order of the file.
    let gate = Setup::new(chain(&["AlwaysDeny"])).start();
    let ran = run_in(
        &gate.folder,
        &[
            "check",
            "--config",
            "portcullis.yaml",
            "--admission-control=",
        ],
    );
    assert_eq!(
        ran.code,
        Some(3),
        "an empty name is no plug-in: {}",
        ran.err
    );
}
