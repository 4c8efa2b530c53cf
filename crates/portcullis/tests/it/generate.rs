//! `portcullis generate`: what the manifests hold, and what the command line must say.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::harness::{Folder, Pki, Ran, run_in};

const SERVICE: [&str; 2] = ["--service", "gate/portcullis:8443"];

/// A folder with this configuration, and a listener with a certificate of a CA.
fn folder(configuration: &str) -> Folder {
    let folder = Folder::new();
    let pki = Pki::new();
    folder.write("tls.crt", &pki.server.certificate_pem);
    folder.write("tls.key", &pki.server.key_pem);
    folder.write("ca.crt", &pki.authority.certificate_pem);
    let listeners = "listeners: [{name: hooks, tcp: '127.0.0.1:8443', serves: [kubernetes], \
                     tls: {certificate: tls.crt, key: tls.key}}]\n";
    folder.write("portcullis.yaml", format!("{listeners}{configuration}"));
    folder
}

#[track_caller]
fn generated(folder: &Folder, what: &str, more: &[&str]) -> Value {
    let ran = run_in(
        folder,
        &[&["generate", what, "-o", "json"][..], more].concat(),
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.out))
}

fn webhooks(folder: &Folder, more: &[&str]) -> Ran {
    run_in(folder, &[&["generate", "webhooks"][..], more].concat())
}

#[test]
fn webhooks_are_registered_for_what_is_judged() {
    let folder = folder("admission: {plugins: [{name: PodSecurity}]}\n");
    let made = generated(
        &folder,
        "webhooks",
        &[&SERVICE[..], &["--ca", "ca.crt"]].concat(),
    );
    assert_eq!(made["kind"], "ValidatingWebhookConfiguration");
    let webhook = &made["webhooks"][0];
    assert_eq!(
        webhook["clientConfig"]["service"],
        json!({"namespace": "gate", "name": "portcullis", "port": 8443, "path": "/validate"})
    );
    let bundle = webhook["clientConfig"]["caBundle"].as_str().unwrap();
    let bundle = String::from_utf8(BASE64_STANDARD.decode(bundle).unwrap()).unwrap();
    let authority = std::fs::read_to_string(folder.path("ca.crt")).unwrap();
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(plain(&bundle), plain(&authority));
    assert_eq!(webhook["failurePolicy"], "Fail");
    assert_eq!(webhook["sideEffects"], "None");
    assert_eq!(webhook["timeoutSeconds"], 5);
    assert_eq!(webhook["matchPolicy"], "Equivalent");
    assert_eq!(
        webhook["namespaceSelector"]["matchExpressions"],
        json!([{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["gate", "kube-node-lease", "kube-system"]}])
    );
    assert_eq!(webhook["matchConditions"], Value::Null);
    let rules = webhook["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 3, "{rules:?}");
    assert_eq!(rules[0]["operations"], json!(["CREATE", "UPDATE"]));
}

#[test]
fn both_phases_are_registered_where_objects_may_be_changed() {
    let folder = folder("admission: {order: [AlwaysPullImages]}\n");
    let ca = ["--ca", "ca.crt", "--url", "https://gate.example"];
    let made = generated(&folder, "webhooks", &ca);
    let kinds: Vec<&Value> = made["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["kind"])
        .collect();
    assert_eq!(
        kinds,
        [
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration"
        ]
    );
    let mutating = &made["items"][0]["webhooks"][0];
    assert_eq!(
        mutating["clientConfig"]["url"],
        "https://gate.example/mutate"
    );
    assert_eq!(mutating["reinvocationPolicy"], "IfNeeded");
    let one = generated(
        &folder,
        "webhooks",
        &[&ca[..], &["--phase", "validating"]].concat(),
    );
    assert_eq!(one["kind"], "ValidatingWebhookConfiguration");
    let limited = ["-n", "shop", "--exempt", "b", "--exempt", "a"];
    let limited = generated(&folder, "webhooks", &[&ca[..], &limited].concat());
    assert_eq!(
        limited["items"][0]["webhooks"][0]["namespaceSelector"]["matchExpressions"],
        json!([
            {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["a", "b", "kube-node-lease", "kube-system"]},
            {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["shop"]},
        ])
    );
}

#[test]
fn rules_for_everything_leave_out_what_the_cluster_needs_to_heal() {
    let folder = folder("defaultAction: allow\npolicies: [{name: p, code: 'return true'}]\n");
    let all = [&SERVICE[..], &["--ca", "ca.crt", "-o", "json"]].concat();
    let ran = webhooks(&folder, &all);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for part in ["note: ", "not judged", "leases", "nodes"] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    let made: Value = serde_json::from_str(&ran.out).unwrap();
    let webhook = &made["webhooks"][0];
    assert_eq!(webhook["rules"][0]["resources"], json!(["*/*"]));
    let conditions = webhook["matchConditions"].as_array().unwrap();
    let names: Vec<&Value> = conditions.iter().map(|one| &one["name"]).collect();
    assert_eq!(
        names,
        [
            "exclude-leases",
            "exclude-access-reviews",
            "exclude-api-server",
            "exclude-control-plane"
        ]
    );
}

#[test]
fn the_same_configuration_gives_the_same_text() {
    let folder = folder("admission: {plugins: [{name: PodSecurity}, {name: AlwaysPullImages}]}\n");
    let all = [&SERVICE[..], &["--ca", "ca.crt"]].concat();
    let (first, second) = (webhooks(&folder, &all), webhooks(&folder, &all));
    assert_eq!(first.code, Some(0), "{}", first.err);
    assert_eq!(first.out, second.out);
    assert_eq!(first.out.matches("\n---\n").count(), 1);
}

#[test]
fn a_certificate_without_its_ca_is_not_guessed() {
    let folder = folder("admission: {order: [PodSecurity]}\n");
    let ran = webhooks(&folder, &SERVICE);
    assert_eq!(ran.code, Some(2));
    ran.says(&["tls.crt", "listener `hooks`", "--ca"]);
    // A chain with its CA has everything.
    let both =
        ["tls.crt", "ca.crt"].map(|file| std::fs::read_to_string(folder.path(file)).unwrap());
    folder.write("tls.crt", both.concat());
    let made = generated(&folder, "webhooks", &SERVICE);
    let bundle = made["webhooks"][0]["clientConfig"]["caBundle"]
        .as_str()
        .unwrap();
    let bundle = String::from_utf8(BASE64_STANDARD.decode(bundle).unwrap()).unwrap();
    assert_eq!(bundle.matches("BEGIN CERTIFICATE").count(), 1);
    // What else is in the file stays there.
    let key = std::fs::read_to_string(folder.path("tls.key")).unwrap();
    folder.write("both.pem", format!("{key}{}", both[1]));
    let made = generated(
        &folder,
        "webhooks",
        &[&SERVICE[..], &["--ca", "both.pem"]].concat(),
    );
    let bundle = made["webhooks"][0]["clientConfig"]["caBundle"]
        .as_str()
        .unwrap();
    let bundle = String::from_utf8(BASE64_STANDARD.decode(bundle).unwrap()).unwrap();
    assert!(!bundle.contains("KEY"), "{bundle}");
}

#[test]
fn the_command_line_and_the_configuration_must_say_enough() {
    let folder = folder("admission: {order: [PodSecurity]}\n");
    let ran = webhooks(&folder, &[]);
    assert_eq!(ran.code, Some(2));
    ran.says(&["--service", "--url"]);
    for wrong in [
        ["--url", "http://gate.example"],
        ["--service", "portcullis"],
    ] {
        assert_eq!(webhooks(&folder, &wrong).code, Some(2), "{wrong:?}");
    }
    folder.write("portcullis.yaml", "admission: {order: []}\n");
    let ran = webhooks(&folder, &[&SERVICE[..], &["--ca", "ca.crt"]].concat());
    assert_eq!(ran.code, Some(6), "{}", ran.err);
    folder.write("portcullis.yaml", "admission: {order: [Nonsense]}\n");
    let ran = webhooks(&folder, &[&SERVICE[..], &["--ca", "ca.crt"]].concat());
    assert_eq!(ran.code, Some(3));
    ran.says(&["Nonsense"]);
}

#[test]
fn every_chain_gets_an_authorizer_and_a_kubeconfig() {
    let folder = folder(
        "admission: {order: [AlwaysAdmit]}\n\
         graph: {profiles: [{name: agents, profile: node, inCluster: true}]}\n\
         authorization:\n  chains: {agents: [agents], default: [AlwaysDeny]}\n",
    );
    let url = ["--url", "https://gate.example:8443/base/", "--ca", "ca.crt"];
    let made = generated(&folder, "authorization", &url);
    let all = made["items"].as_array().unwrap();
    let authorizers = all[0]["authorizers"].as_array().unwrap();
    let kinds: Vec<&Value> = authorizers.iter().map(|one| &one["type"]).collect();
    assert_eq!(kinds, ["Webhook", "Webhook", "Node", "RBAC"]);
    // Only agents are asked about; an authorizer that can't deny may be passed over.
    let (agents, default) = (&authorizers[0]["webhook"], &authorizers[1]["webhook"]);
    assert_eq!(agents["failurePolicy"], "NoOpinion");
    assert_eq!(
        agents["matchConditions"][0]["expression"],
        "'system:nodes' in request.groups"
    );
    assert_eq!(default["failurePolicy"], "Deny");
    let conditions = default["matchConditions"].to_string();
    for exempt in [
        "system:serviceaccounts:kube-system",
        "'system:nodes' in request.groups",
        "'system:kube-scheduler'",
        "'system:kube-controller-manager'",
    ] {
        assert!(conditions.contains(exempt), "{exempt}: {conditions}");
    }
    let servers: Vec<&Value> = all[1..]
        .iter()
        .map(|one| &one["clusters"][0]["cluster"]["server"])
        .collect();
    assert_eq!(
        servers,
        [
            "https://gate.example:8443/base/authorize/agents",
            "https://gate.example:8443/base/authorize"
        ]
    );

    let written = [
        "generate",
        "authorization",
        "--write",
        "out",
        "--directory",
        "/etc/gate",
    ];
    let ran = run_in(&folder, &[&written[..], &url].concat());
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    let read = |name: &str| std::fs::read_to_string(folder.path("out").join(name)).unwrap();
    let configuration = read("authorization.yaml");
    assert!(
        configuration.contains("/etc/gate/agents.kubeconfig"),
        "{configuration}"
    );
    assert!(read("default.kubeconfig").contains("certificate-authority-data"));

    folder.write("portcullis.yaml", "admission: {order: [AlwaysAdmit]}\n");
    let ran = run_in(
        &folder,
        &[&["generate", "authorization"][..], &url].concat(),
    );
    assert_eq!(ran.code, Some(6), "{}", ran.err);
}

#[test]
fn roles_permit_what_is_watched_and_no_more() {
    let folder = folder(
        "admission: {order: [ScopedAccess]}\n\
         graph: {profiles: [{name: agents, profile: node, inCluster: true}, {name: far, profile: node, kubeconfig: far.yaml}]}\n",
    );
    folder.write(
        "far.yaml",
        "apiVersion: v1\nkind: Config\ncurrent-context: far\n\
         clusters: [{name: far, cluster: {server: 'https://far.example'}}]\nusers: [{name: u, user: {token: t}}]\n\
         contexts: [{name: far, context: {cluster: far, user: u}}]\n",
    );
    let made = generated(&folder, "rbac", &["--service-account", "gate/runner"]);
    let all = made["items"].as_array().unwrap();
    let names: Vec<&Value> = all.iter().map(|one| &one["metadata"]["name"]).collect();
    assert_eq!(
        names,
        [
            "portcullis",
            "portcullis",
            "portcullis-far",
            "portcullis-far"
        ]
    );
    assert_eq!(
        all[1]["subjects"],
        json!([{"kind": "ServiceAccount", "namespace": "gate", "name": "runner"}])
    );
    for rule in all[0]["rules"].as_array().unwrap() {
        for verb in rule["verbs"].as_array().unwrap() {
            assert!(
                ["get", "list", "watch"].contains(&verb.as_str().unwrap()),
                "{rule}"
            );
        }
        assert!(!rule["resources"].to_string().contains('*'), "{rule}");
    }
    let rules = all[0]["rules"].to_string();
    assert!(
        rules.contains("\"pods\"") && rules.contains("watch"),
        "{rules}"
    );

    folder.write("portcullis.yaml", "admission: {order: [PodSecurity]}\n");
    let ran = run_in(&folder, &["generate", "rbac"]);
    assert_eq!(ran.code, Some(6), "{}", ran.err);
}

#[test]
fn a_managed_certificate_needs_its_secret_and_its_registrations() {
    let folder = Folder::new();
    let managed = "managed: {secret: gate/portcullis-tls, webhooks: [portcullis]}";
    let listener =
        format!("{{name: hooks, tcp: '127.0.0.1:8443', tls: {{{managed}}}, serves: [kubernetes]}}");
    // Another listener with the same certificate needs nothing more.
    let other = listener
        .replace("name: hooks", "name: other")
        .replace("8443", "8444");
    folder.write(
        "portcullis.yaml",
        format!("listeners: [{listener}, {other}]\n"),
    );
    let made = generated(&folder, "rbac", &[]);
    let all = made["items"].as_array().unwrap();
    let kinds: Vec<&str> = all
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    let expected = ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"];
    assert_eq!(kinds, expected);
    assert_eq!(all[0]["rules"][0]["resourceNames"], json!(["portcullis"]));
    assert_eq!(all[0]["rules"][0]["verbs"], json!(["get", "patch"]));
    assert_eq!(all[2]["metadata"]["namespace"], "gate");
    assert_eq!(
        all[2]["rules"][0]["resourceNames"],
        json!(["portcullis-tls"])
    );
    assert_eq!(all[2]["rules"][1]["verbs"], json!(["create"]));
}

#[test]
fn the_service_of_a_managed_certificate_is_the_default_address() {
    let folder = Folder::new();
    let managed =
        "managed: {secret: gate/portcullis-tls, webhooks: [portcullis], service: gate/hooks}";
    folder.write(
        "portcullis.yaml",
        format!(
            "listeners: [{{name: hooks, tcp: '127.0.0.1:8443', tls: {{{managed}}}, serves: [kubernetes]}}]\n\
             admission: {{order: [PodSecurity]}}\n"
        ),
    );
    let service = |made: &Value| made["webhooks"][0]["clientConfig"]["service"].clone();
    let made = generated(&folder, "webhooks", &[]);
    assert_eq!(
        service(&made),
        json!({"namespace": "gate", "name": "hooks", "port": 443, "path": "/validate"})
    );
    let made = generated(&folder, "webhooks", &["--service", "gate/other"]);
    assert_eq!(service(&made)["name"], "other");
}
