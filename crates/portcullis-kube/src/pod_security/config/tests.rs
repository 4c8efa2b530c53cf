use portcullis_document::Fault;
use serde_json::{Value, json};

use super::{
    super::level::{Level, LevelVersion, Policy, Version},
    PodSecurityConfiguration,
};

fn text(faults: &[Fault]) -> String {
    let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
    faults.join(", ")
}

fn read(mut body: Value) -> Result<PodSecurityConfiguration, String> {
    body["apiVersion"] = json!("pod-security.admission.config.k8s.io/v1");
    body["kind"] = json!("PodSecurityConfiguration");
    PodSecurityConfiguration::from_value(&body).map_err(|faults| text(&faults))
}

#[test]
fn all_three_versions_are_read() {
    for version in ["v1", "v1beta1", "v1alpha1"] {
        let value = json!({
            "apiVersion": format!("pod-security.admission.config.k8s.io/{version}"),
            "kind": "PodSecurityConfiguration",
            "defaults": {"enforce": "baseline", "enforce-version": "v1.30", "warn": "restricted"},
            "exemptions": {"usernames": ["alice"], "namespaces": ["kube-system"], "runtimeClasses": ["kata"]},
        });
        let config = PodSecurityConfiguration::from_value(&value).expect(version);
        let expected = Policy {
            enforce: LevelVersion::new(Level::Baseline, Version::V(30)),
            audit: LevelVersion::PRIVILEGED,
            warn: LevelVersion::new(Level::Restricted, Version::Latest),
        };
        assert_eq!(config.defaults, expected);
        assert!(config.exemptions.has_user("alice") && !config.exemptions.has_user("bob"));
        assert!(config.exemptions.has_namespace("kube-system"));
        assert!(config.exemptions.has_runtime_class("kata"));
        assert!(!config.exemptions.has_namespace("") && !config.exemptions.has_user(""));
    }
}

#[test]
fn absent_null_and_empty_values_take_the_defaults() {
    let nothing = PodSecurityConfiguration::default();
    for body in [
        json!({}),
        json!({"defaults": null, "exemptions": null}),
        json!({"defaults": {"enforce": "", "audit": null}, "exemptions": {"usernames": null}}),
    ] {
        assert_eq!(read(body), Ok(nothing.clone()));
    }
}

#[test]
fn another_kind_or_version_is_refused() {
    for (api_version, kind) in [
        (
            "pod-security.admission.config.k8s.io/v2",
            "PodSecurityConfiguration",
        ),
        ("pod-security.admission.config.k8s.io/v1", "Other"),
        ("v1", "PodSecurityConfiguration"),
    ] {
        let value = json!({"apiVersion": api_version, "kind": kind});
        let error = PodSecurityConfiguration::from_value(&value).expect_err("refused");
        assert!(text(&error).contains(&format!("found `{kind}` of `{api_version}`")));
    }
    assert!(PodSecurityConfiguration::from_value(&json!({})).is_err());
}

#[test]
fn unknown_keys_and_wrong_types_are_named() {
    for (body, expected) in [
        (
            json!({"default": {}}),
            "default: unknown key, did you mean `defaults`?",
        ),
        (
            json!({"defaults": {"enforced": "baseline"}}),
            "defaults.enforced: unknown key, did you mean `enforce`?",
        ),
        (
            json!({"exemptions": {"users": []}}),
            "exemptions.users: unknown key",
        ),
        (json!({"defaults": {"enforce": 5}}), "defaults.enforce: "),
        (
            json!({"exemptions": {"usernames": ["a", 5]}}),
            "exemptions.usernames[1]: ",
        ),
        (json!({"exemptions": 5}), "exemptions: "),
    ] {
        let error = read(body).expect_err("refused");
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("Raw"), "{error}");
    }
}

#[test]
fn every_bad_value_is_reported() {
    let error = read(json!({
        "defaults": {"enforce": "x", "audit-version": "y", "warn": "z"},
        "exemptions": {"usernames": ["", "a", "a"], "namespaces": ["a.b"], "runtimeClasses": ["k", "k"]},
    }))
    .expect_err("refused");
    assert_eq!(
        error,
        "defaults.enforce: Invalid value: \"x\": must be one of privileged, baseline, restricted, \
         defaults.warn: Invalid value: \"z\": must be one of privileged, baseline, restricted, \
         defaults.audit-version: Invalid value: \"y\": must be \"latest\" or \"v1.x\", \
         exemptions.namespaces[0]: Invalid value: \"a.b\": must not contain dots, \
         exemptions.runtimeClasses[1]: Duplicate value: \"k\", \
         exemptions.usernames[0]: Invalid value: \"\": username must not be empty, \
         exemptions.usernames[2]: Duplicate value: \"a\""
    );
}
