//! The chain of a running program: flags and variables that name plug-ins. What a chain decides is tested in
//! portcullis-server.

use serde_json::json;

use crate::harness::{Setup, chain, pod, pod_security, privileged};

#[test]
fn the_flag_sets_the_order_and_wins_over_the_file_and_the_variable() {
    for arguments in [
        &["--admission-control", "AlwaysPullImages,AlwaysDeny"][..],
        &["--admission-control=AlwaysPullImages,AlwaysDeny"],
    ] {
        let setup = Setup::new(chain(&["AlwaysAdmit"])).arguments(arguments);
        let gate = setup
            .variable("PORTCULLIS_ADMISSION_CONTROL", "AlwaysAdmit")
            .start();
        assert_eq!(
            gate.validate(&pod()).annotation("plugin"),
            Some("AlwaysDeny")
        );
    }
    let setup = Setup::new(chain(&["AlwaysAdmit"]));
    let gate = setup
        .variable("PORTCULLIS_ADMISSION_CONTROL", "AlwaysDeny")
        .start();
    gate.validate(&pod()).denied("");
}

#[test]
fn the_configuration_of_kubernetes_is_taken_inline_by_flag() {
    let own = pod_security(&json!({"enforce": "baseline"}))["admission"]["plugins"].clone();
    let file = json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AdmissionConfiguration",
        "plugins": own,
    });
    let gate = Setup::new(json!({}))
        .file("admission.json", file.to_string())
        .arguments(&["--admission-control", "PodSecurity"])
        .arguments(&["--admission-control-config-file", "admission.json"])
        .start();
    gate.validate(&privileged()).denied("privileged");
    gate.validate(&pod()).allowed();
}
