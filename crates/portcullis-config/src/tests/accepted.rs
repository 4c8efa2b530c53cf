//! What a valid file means.

use std::{net::SocketAddr, path::Path};

use portcullis_core::FailureMode;

use super::{ConfigSource, Listening, LoadOptions, PLUGINS, load, order, setup, with_head};
use crate::{
    AuthorizerDriver, Bind, Identity, Limits, LogFormat, PendingMutation, Principal, Service,
    Shutdown,
};
use portcullis_document::{Duration, Node, Size, Source, read, yaml};

const EVERY_KEY: &str = r#"
listeners:
- {name: hooks, tcp: 127.0.0.1:8443, tls: {certificate: tls.crt, key: tls.key, clientCA: ca.crt}, serves: [kubernetes]}
- {name: dev,   tcp: 127.0.0.1:8444, tls: {development: true}, serves: [kubernetes]}
- {name: local, unix: {path: portcullis.sock, mode: "0660"}, serves: [kubernetes]}
- {name: api,   tcp: 127.0.0.1:8080, serves: [api, ci, web, kubernetes]}
- {name: wide,  tcp: 0.0.0.0:8081, insecure: true, serves: [kubernetes]}     # said on purpose
- {name: ops,   tcp: 127.0.0.1:9090, serves: [metrics, health]}
admission:
  order: [PodSecurity, EventRateLimit, AlwaysPullImages]
  configFile: admission.yaml
  plugins:
  - name: PodSecurity
    failure: closed
    configuration: {apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, defaults: {enforce: baseline}}
  - {name: AlwaysPullImages, failure: open, timeout: 250ms}
  pendingMutation: refuse
namespaces: [{name: shop, labels: {team: a}, annotations: {note: b}}, {name: empty}]
limits: {deadline: 2s, memory: 32Mi, stack: 256Ki, body: 3Mi, headers: 64Ki, connections: 4096, globalContext: 16Mi,
  headerTimeout: 10s, bodyTimeout: 30s, idleTimeout: 120s, requestDeadline: 10s}
authorization:
  authorizers: [{name: local, driver: ABAC, file: abac.jsonl}]
  chains: {default: [local], open: [AlwaysAllow], shut: [AlwaysDeny]}
log: {format: json, filter: debug}
shutdown: {delay: 1s, grace: 2m}
"#;

fn every_key() -> super::Setup {
    setup(EVERY_KEY)
        .file(
            "admission.yaml",
            r#"{"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration",
                "plugins": [{"name": "EventRateLimit", "configuration": {"limits": []}}]}"#,
        )
        .file("abac.jsonl", "x")
        .file("tls.crt", "x")
        .file("tls.key", "x")
        .file("ca.crt", "x")
}

#[test]
fn every_key_is_taken() {
    let setup = every_key();
    let loaded = setup.loaded();
    assert_eq!(
        order(&loaded),
        ["PodSecurity", "EventRateLimit", "AlwaysPullImages"]
    );
    assert_eq!(
        loaded.plugins[0].configuration.as_ref().unwrap()["defaults"]["enforce"],
        "baseline"
    );
    assert_eq!(loaded.plugins[2].failure, FailureMode::Open);
    assert_eq!(loaded.plugins[2].timeout, Some(Duration::from_millis(250)));
    assert_eq!(loaded.pending_mutation, PendingMutation::Refuse);
    assert_eq!(loaded.limits, Limits::default());
    assert_eq!(loaded.namespaces[0].labels["team"], "a");
    assert_eq!(loaded.log.format, LogFormat::Json);
    assert_eq!(
        loaded.shutdown,
        Shutdown {
            delay: Duration::from_secs(1),
            grace: Duration::from_secs(120)
        }
    );
    let drivers: Vec<_> = loaded
        .authorizers
        .iter()
        .map(|found| (found.name.as_str(), found.driver))
        .collect();
    assert_eq!(
        drivers,
        [
            ("local", AuthorizerDriver::Abac),
            ("AlwaysAllow", AuthorizerDriver::AlwaysAllow),
            ("AlwaysDeny", AuthorizerDriver::AlwaysDeny)
        ]
    );
    assert_eq!(loaded.chains["open"], ["AlwaysAllow"]);
    assert_eq!(loaded.warnings, [""; 0]);
    let serves: Vec<Service> = loaded.listeners[3].serves.clone();
    assert_eq!(
        serves,
        [Service::Api, Service::Ci, Service::Web, Service::Kubernetes]
    );
}

#[test]
fn paths_are_relative_to_the_file_and_every_file_is_watched() {
    let setup = every_key();
    let loaded = setup.loaded();
    let tls = loaded.listeners[0].tls.clone().unwrap();
    let identity = Identity::Files {
        certificate: setup.path("tls.crt"),
        key: setup.path("tls.key"),
    };
    assert_eq!(
        (tls.identity, tls.client_ca),
        (identity, Some(setup.path("ca.crt")))
    );
    assert_eq!(loaded.authorizers[0].file, Some(setup.path("abac.jsonl")));
    assert_eq!(loaded.file, Some(setup.path("portcullis.yaml")));
    let named = [
        "portcullis.yaml",
        "tls.crt",
        "tls.key",
        "ca.crt",
        "admission.yaml",
        "abac.jsonl",
    ];
    assert_eq!(loaded.files, named.map(|name| setup.path(name)));
    assert!(
        matches!(&loaded.listeners[2].bind, Bind::Unix(socket) if socket.path == setup.path("portcullis.sock"))
    );
}

#[test]
fn a_short_file_gets_the_defaults() {
    let loaded = with_head("").loaded();
    assert_eq!(loaded.limits.deadline, Duration::from_secs(2));
    assert_eq!(loaded.limits.body, Size::from_bytes(3 * 1024 * 1024));
    assert_eq!(loaded.log.format, LogFormat::Text);
    assert_eq!(loaded.log.filter, "info");
    assert_eq!(loaded.shutdown.delay, Duration::from_millis(300));
    assert_eq!(loaded.pending_mutation, PendingMutation::Ignore);
    assert_eq!(
        loaded.warnings,
        ["no plug-in is configured: every admission request is allowed"]
    );
    let address: SocketAddr = "127.0.0.1:1".parse().unwrap();
    assert_eq!(loaded.listeners[0].bind, Bind::Tcp(address));
}

#[test]
fn the_schema_names_the_same_defaults() {
    let schema = crate::json_schema();
    let limits = &schema["$defs"]["Limits"]["properties"];
    assert_eq!(limits["deadline"]["default"], "2s");
    assert_eq!(limits["globalContext"]["default"], "16Mi");
    assert_eq!(schema["additionalProperties"], false);
    assert!(
        schema.get("required").is_none(),
        "rules can be tried without listeners"
    );
}

#[test]
fn a_mode_is_octal_however_it_is_written() {
    for (written, expected) in [
        ("\"0660\"", 0o660),
        ("\"600\"", 0o600),
        ("0660", 0o660),
        ("660", 0o660),
        ("0o640", 0o640),
        ("\"0o640\"", 0o640),
    ] {
        let text = format!(
            "listeners:\n- {{name: a, unix: {{path: x, mode: {written}}}, serves: [api]}}\n"
        );
        let loaded = setup(&text).loaded();
        assert!(
            matches!(&loaded.listeners[0].bind, Bind::Unix(socket) if socket.mode == expected),
            "{written}"
        );
    }
    let block = setup(
        "listeners:\n- name: a\n  unix:\n    path: x\n    mode: 0600 # mine\n  serves: [api]\n",
    )
    .loaded();
    assert!(matches!(&block.listeners[0].bind, Bind::Unix(socket) if socket.mode == 0o600));
    let default = setup("listeners:\n- {name: a, unix: {path: x}, serves: [api]}\n").loaded();
    assert!(matches!(&default.listeners[0].bind, Bind::Unix(socket) if socket.mode == 0o660));
}

#[test]
fn owners_and_groups_are_names_or_numbers() {
    let text =
        "listeners:\n- {name: a, unix: {path: x, owner: www-data, group: 33}, serves: [api]}\n";
    let loaded = setup(text).loaded();
    let Bind::Unix(socket) = &loaded.listeners[0].bind else {
        panic!("no socket")
    };
    assert_eq!(socket.owner, Some(Principal::Name("www-data".to_owned())));
    assert_eq!(socket.group, Some(Principal::Id(33)));
}

#[test]
fn tls_may_listen_anywhere_and_ask_for_client_certificates() {
    let text = "listeners:\n- {name: a, tcp: \"0.0.0.0:1\", tls: {development: true, clientCA: ca.crt}, insecure: true, serves: [api]}\n";
    let loaded = setup(text).file("ca.crt", "x").loaded();
    assert_eq!(
        loaded.listeners[0].tls.as_ref().unwrap().identity,
        Identity::Development
    );
    assert_eq!(
        loaded.warnings,
        ["the listener `a` has TLS, so its `insecure` does nothing"]
    );
}

#[test]
fn any_number_of_listeners_may_ask_for_any_free_port() {
    setup("listeners:\n- {name: a, tcp: \"127.0.0.1:0\", serves: [api]}\n- {name: b, tcp: \"127.0.0.1:0\", serves: [api]}\n")
        .loaded();
}

#[test]
fn a_client_secret_without_a_client_is_a_warning_with_its_place() {
    let text = "admission: {order: [AlwaysAdmit]}\nauthenticators: [{name: a, driver: OpenIDConnect, issuer: \"https://i.example\", audience: p, clientSecretFile: s}]\n";
    let loaded = with_head(text).loaded();
    let fault = loaded.warnings.iter().find_map(|warning| warning.fault());
    let fault = fault.expect("no warning has a place");
    assert_eq!(fault.path, "authenticators[0].clientSecretFile");
    assert_eq!(fault.message, "is not used without `clientId`");
}

#[test]
fn an_authorizer_that_nobody_asks_is_a_warning() {
    let loaded = with_head("admission: {order: [AlwaysAdmit]}\nauthorization: {authorizers: [{name: a, driver: AlwaysDeny}]}\n").loaded();
    assert_eq!(
        loaded.warnings,
        ["the authorizer `a` is in no chain, so it is never asked"]
    );
}

#[test]
fn the_built_in_text_needs_no_file() {
    let load = |text| {
        load(&LoadOptions {
            source: ConfigSource::BuiltIn(text),
            admission_control: None,
            admission_control_config_file: None,
            known_plugins: PLUGINS,
            listeners: Listening::Needed,
            objects: None,
            coverage: false,
            env: &|_| None,
        })
    };
    let loaded = load("listeners: [{name: a, unix: {path: x.sock}, serves: [api]}]").unwrap();
    assert_eq!((loaded.file, loaded.files), (None, vec![]));
    assert!(
        matches!(&loaded.listeners[0].bind, Bind::Unix(socket) if socket.path == Path::new("x.sock"))
    );
    let fault = load("listenerz: []").unwrap_err().to_string();
    assert!(
        fault.starts_with("built-in configuration:1:1: listenerz: unknown key"),
        "{fault}"
    );
}

#[test]
fn a_tree_read_as_a_tree_is_the_same_tree() {
    let source = Source::text_named("a.yaml", "a: [1, -2, {b: x, c: ~}]\nd: 1.5\n");
    let document = yaml::parse(&source).unwrap();
    let again: Node = read::typed(&source, &document.root).unwrap();
    assert_eq!(again, document.root);
}

#[test]
fn an_unknown_key_of_a_policy_of_acjs_is_a_warning_with_its_place() {
    let text =
        "listener: {path: {socketPath: gate.sock}}\npolicies:\n- name: a\n  cod: return true\n";
    let loaded = setup(text).loaded();
    let told = loaded.warnings.iter().find_map(|warning| warning.fault());
    let fault = told.expect("no warning has a place");
    assert_eq!(fault.path, "policies[0].cod");
    assert_eq!(fault.suggestion.as_deref(), Some("code"));
    let at = fault.position.unwrap();
    assert_eq!((at.line, at.column), (4, 3));
}

#[test]
fn a_chain_that_repairs_objects_is_warned_about_unless_it_is_said_what_to_do() {
    let warned = |text: &str| {
        let loaded = with_head(text).loaded();
        let mut all = loaded.warnings.iter();
        all.any(|warning| warning.contains("admission.pendingMutation"))
    };
    assert!(warned(
        "admission: {order: [PodSecurity, AlwaysPullImages]}\n"
    ));
    assert!(!warned("admission: {order: [PodSecurity]}\n"));
    for said in ["ignore", "refuse"] {
        assert!(!warned(&format!(
            "admission: {{order: [AlwaysPullImages], pendingMutation: {said}}}\n"
        )));
    }
}

#[test]
fn a_managed_certificate_has_names_of_its_service_and_times_that_follow() {
    let of = |managed: &str| {
        let text = format!(
            "listeners:\n- {{name: a, tcp: \"127.0.0.1:1\", tls: {{managed: {managed}}}, serves: [kubernetes]}}\n"
        );
        let loaded = setup(&text).loaded();
        match &loaded.listeners[0].tls.as_ref().unwrap().identity {
            Identity::Managed(managed) => managed.clone(),
            other => panic!("{other:?}"),
        }
    };
    let days = |days: u64| std::time::Duration::from_secs(days * 24 * 60 * 60);
    let plain = of("{secret: portcullis/tls, webhooks: [portcullis]}");
    assert_eq!(plain.secret.to_string(), "portcullis/tls");
    assert!(plain.terms.names.is_empty());
    assert_eq!(
        (plain.terms.validity, plain.terms.renew_before),
        (days(90), days(30))
    );
    assert_eq!(plain.access, portcullis_watch::Access::InCluster);
    let named = of(
        "{secret: n/tls, service: portcullis/hooks, dnsNames: [\"::1\", \"*.h.example\"], validity: 6d, renewBefore: 1d}",
    );
    let names: Vec<&str> = named.terms.names.iter().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "*.h.example",
            "::1",
            "hooks.portcullis",
            "hooks.portcullis.svc",
            "hooks.portcullis.svc.cluster.local"
        ]
    );
    assert_eq!(
        (named.terms.validity, named.terms.renew_before),
        (days(6), days(1))
    );
    assert_ne!(plain, named);
}
