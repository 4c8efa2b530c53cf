//! The Kubernetes `AdmissionConfiguration`, and how it joins the file.

use portcullis_core::FailureMode;
use serde_json::json;

use super::{Setup, order, with_head};

const AC: &str = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n";

/// A file that names `sub/admission.yaml`, which holds this after its first two lines.
fn admission(text: &str) -> Setup {
    with_head("admission: {configFile: sub/admission.yaml}\n")
        .file("sub/admission.yaml", &format!("{AC}{text}"))
}

#[test]
fn a_plugins_path_is_relative_to_the_file_that_names_it() {
    let setup = admission("plugins:\n- name: PodSecurity\n  path: more/pss.yaml\n")
        .file("sub/more/pss.yaml", "defaults:\n  enforce: baseline\n");
    let loaded = setup.loaded();
    assert_eq!(
        loaded.plugins[0].configuration,
        Some(json!({"defaults": {"enforce": "baseline"}}))
    );
    assert_eq!(loaded.plugins[0].failure, FailureMode::Closed);
    let files = ["portcullis.yaml", "sub/admission.yaml", "sub/more/pss.yaml"];
    assert_eq!(loaded.files, files.map(|name| setup.path(name)));
    let fault = loaded.plugins[0]
        .origin
        .fault("defaults.enforce", "no")
        .to_string();
    assert!(
        fault.ends_with("sub/more/pss.yaml:2:12: defaults.enforce: no"),
        "{fault}"
    );
}

#[test]
fn inline_configuration_and_none_are_taken() {
    let loaded = admission(
        "plugins:\n- {name: PodSecurity, configuration: {a: [1]}, path: \"\"}\n- {name: AlwaysAdmit}\n- {name: AlwaysDeny, configuration: null}\n",
    )
    .loaded();
    assert_eq!(order(&loaded), ["PodSecurity", "AlwaysAdmit", "AlwaysDeny"]);
    assert_eq!(loaded.plugins[0].configuration, Some(json!({"a": [1]})));
    assert_eq!(loaded.plugins[1].configuration, None);
    assert_eq!(loaded.plugins[2].configuration, None);
}

#[test]
fn the_first_version_of_the_format_is_taken() {
    let setup = with_head("admission: {configFile: a.json}\n").file(
        "a.json",
        r#"{"apiVersion": "apiserver.k8s.io/v1alpha1", "kind": "AdmissionConfiguration", "plugins": null}"#,
    );
    assert_eq!(order(&setup.loaded()), [""; 0]);
}

#[test]
fn faults_of_the_format_are_told_in_that_file() {
    for (text, expected) in [
        (
            "plugins: {}\n",
            "3:10: plugins: expected a list, found a map",
        ),
        (
            "plugin: []\n",
            "3:1: plugin: unknown key, did you mean `plugins`? (known keys: apiVersion, kind, plugins)",
        ),
        (
            "plugins: [{path: x}]\n",
            "3:11: plugins[0]: the key `name` is missing",
        ),
        (
            "plugins: [{name: PodSecurity, paht: x}]\n",
            "3:31: plugins[0].paht: unknown key, did you mean `path`? (known keys: configuration, name, path)",
        ),
        (
            "plugins: [{name: PodSecurity, path: x, configuration: {}}]\n",
            "3:55: plugins[0].configuration: the plug-in `PodSecurity` has both `path` and `configuration`: use one",
        ),
        (
            "plugins: [{name: PodSecurity, path: gone.yaml}]\n",
            "3:37: plugins[0].path: cannot read `sub/gone.yaml`: no such file or directory",
        ),
        (
            "plugins: [{name: NoSuchPlugin}]\n",
            "3:18: plugins[0].name: unknown plug-in `NoSuchPlugin` \
             (known plug-ins: AlwaysAdmit, AlwaysDeny, AlwaysPullImages, EventRateLimit, PodSecurity)",
        ),
        (
            "plugins: [{name: PodSecurity}, {name: PodSecurity}]\n",
            "3:39: plugins[1].name: the plug-in `PodSecurity` is configured twice, first at sub/admission.yaml:3:18",
        ),
        ("plugins: [\n", ""),
    ] {
        let fault = admission(text).fault();
        assert!(
            fault.starts_with(&format!("sub/admission.yaml:{expected}")),
            "{fault}"
        );
    }
}

#[test]
fn another_kind_or_version_is_refused_before_anything_else() {
    let file = |text: &str| {
        with_head("admission: {configFile: a.yaml}\n")
            .file("a.yaml", text)
            .fault()
    };
    assert_eq!(
        file("apiVersion: v1\nkind: PodSecurityConfiguration\ndefaults: {}\n"),
        "a.yaml:2:7: kind: expected the kind `AdmissionConfiguration`, found `PodSecurityConfiguration`"
    );
    assert_eq!(
        file("apiVersion: apiserver.config.k8s.io/v2\nkind: AdmissionConfiguration\n"),
        "a.yaml:1:13: apiVersion: unknown version `apiserver.config.k8s.io/v2`, did you mean `apiserver.config.k8s.io/v1`? \
         (known versions: apiserver.config.k8s.io/v1, apiserver.k8s.io/v1alpha1)"
    );
    assert_eq!(
        file("plugins: []\n"),
        "a.yaml:1:1: kind: expected the kind `AdmissionConfiguration`"
    );
    assert_eq!(file(""), "a.yaml: the file is empty");
    assert_eq!(
        admission("plugins: [{name: PodSecurity, path: empty.yaml}]\n")
            .file("sub/empty.yaml", "")
            .fault(),
        "sub/empty.yaml: the file is empty"
    );
}

#[test]
fn a_plugin_configured_in_both_files_is_refused() {
    let setup = with_head("admission:\n  configFile: a.yaml\n  plugins: [{name: PodSecurity}]\n")
        .file("a.yaml", &format!("{AC}plugins:\n- name: PodSecurity\n"));
    assert_eq!(
        setup.fault(),
        "a.yaml:4:9: plugins[0].name: the plug-in `PodSecurity` is configured twice, first at portcullis.yaml:5:20"
    );
}

#[test]
fn without_an_order_plugins_run_as_listed_those_of_the_file_first() {
    let setup = with_head(
        "admission:\n  configFile: a.yaml\n  plugins: [{name: PodSecurity}, {name: AlwaysAdmit}]\n",
    )
    .file(
        "a.yaml",
        &format!("{AC}plugins: [{{name: EventRateLimit}}, {{name: AlwaysDeny}}]\n"),
    );
    assert_eq!(
        order(&setup.loaded()),
        ["PodSecurity", "AlwaysAdmit", "EventRateLimit", "AlwaysDeny"]
    );
}

#[test]
fn the_order_may_name_what_is_not_configured_and_leave_out_what_is() {
    let text = "admission:\n  order: [AlwaysDeny, PodSecurity]\n  plugins: [{name: AlwaysAdmit}, {name: PodSecurity, failure: open}]\n";
    let setup = with_head(text);
    let loaded = setup.loaded();
    assert_eq!(order(&loaded), ["AlwaysDeny", "PodSecurity"]);
    assert_eq!(loaded.plugins[1].failure, FailureMode::Open);
    assert_eq!(loaded.warnings.len(), 1);
    let expected = "portcullis.yaml:5:13 but not in the order: it does not run";
    assert!(
        loaded.warnings[0].ends_with(expected),
        "{:?}",
        loaded.warnings
    );
    let fault = loaded.plugins[0].origin.fault("", "no").to_string();
    assert!(
        fault.ends_with("portcullis.yaml:4:11: admission.order[0]: no"),
        "{fault}"
    );
}
