//! Configurations that are rejected, by `check` and `serve` alike, with file, line and key. The exit codes
//! are tested with the program.

use crate::tests::harness::{Folder, Pki, examined, not_served};

/// Lines 1 and 2 of a file that has no listeners of its own.
const HEAD: &str =
    "listeners:\n- {name: all, tcp: \"127.0.0.1:1\", serves: [kubernetes, health]}\n";

/// Each has one thing wrong with it. Those without listeners of their own come after the [`HEAD`].
const FAULTY: &[&str] = &[
    "admission: {order: [AlwaysAdmit]}\nlistenerz: []\n",
    "admission:\n  order: [AlwaysAdmit]\n  ordre: [AlwaysDeny]\n",
    "listeners:\n- name: all\n  tcp: \"127.0.0.1:1\"\n  servs: [kubernetes]\n",
    "limits:\n  bodies: 3Mi\n",
    "limits:\n  headertimeout: 3s\n",
    "admission:\n  order: {AlwaysAdmit: 5}\n",
    "limits: [2s]\n",
    "limits:\n  deadline: banana\n",
    "limits:\n  deadline: 5\n",
    "limits:\n  body: 3Mibibytes\n",
    "limits:\n  body: -1\n",
    "limits:\n  connections: 0\n",
    "limits:\n  connections: 99999999999\n",
    "- {name: all, tcp: \"127.0.0.1:2\", serves: [health]}\n",
    "- {name: two, tcp: \"127.0.0.1:1\", serves: [health]}\n",
    "admission: {order: [AlwaysAdmit]}\nadmission: {order: [AlwaysDeny]}\n",
    "admission:\n  order: [AlwaysAdmit, PodSecurity, AlwaysAdmit]\n",
    "admission:\n  order: [AlwaysPullImage]\n",
    "admission:\n  plugins:\n  - {name: PodSecurity}\n  - {name: PodSecurity}\n",
    "admission:\n  plugins:\n  - {name: PodSecurity, failure: sometimes}\n",
    "admission:\n  plugins:\n  - name: PodSecurity\n    configuration:\n      apiVersion: pod-security.admission.config.k8s.io/v1\n      kind: PodSecurityConfiguration\n      defaults: {enforce: strikt}\n",
    "admission:\n  plugins:\n  - name: PodSecurity\n    configuration:\n      apiVersion: pod-security.admission.config.k8s.io/v1\n      kind: PodSecurityConfiguration\n      defalts: {enforce: baseline}\n",
    "admission:\n  plugins:\n  - name: AlwaysAdmit\n    configuration: {a: 1}\n",
    "admission: {order: [AlwaysAdmit\nlimits: {}\n",
    "admission: {order: *nowhere}\n",
    "\tadmission: {}\n",
    "listeners:\n- {name: all, tcp: \"127.0.0.1:1\", serves: [kubernets]}\n",
    "listeners:\n- {name: all, tcp: \"127.0.0.1:1\", serves: []}\n",
    "listeners:\n- {name: all, tcp: \"nonsense\", serves: [health]}\n",
    "listeners:\n- {name: all, tcp: \"127.0.0.1:99999\", serves: [health]}\n",
    "listeners:\n- {name: wide, tcp: \"0.0.0.0:1\", serves: [kubernetes]}\n",
    "listeners:\n- {name: wide, tcp: \"[::]:1\", serves: [kubernetes]}\n",
    "listeners:\n- {name: a, unix: {path: a.sock, mode: \"0888\"}, serves: [health]}\n",
    "listeners:\n- {name: a, unix: {path: a.sock}, tls: {development: true}, serves: [health]}\n",
    "listeners:\n- {name: a, serves: [health]}\n",
    "listeners: []\n",
    "listeners:\n",
    "listeners:\n- {name: t, tcp: \"127.0.0.1:1\", tls: {certificate: gone.crt, key: gone.key}, serves: [kubernetes]}\n",
    "listeners:\n- {name: t, tcp: \"127.0.0.1:1\", tls: {certificate: here.txt, key: here.txt}, serves: [kubernetes]}\n",
    "authorization:\n  chains: {c: [NoSuchAuthorizer]}\n",
    "authorization:\n  chains: {c: []}\n",
    "authorization:\n  authorizers: [{name: local, driver: ABAC, file: gone.jsonl}]\n  chains: {default: [local]}\n",
    "authorization:\n  authorizers: [{name: local, driver: ABAC, file: here.txt}]\n  chains: {default: [local]}\n",
    "authorization:\n  authorizers: [{name: local, driver: RBAC}]\n",
    "namespaces: [{name: a}, {name: a}]\n",
    "namespaces: [{name: a, labels: {x: true}}]\n",
    "log: {format: xml}\n",
    "shutdown: {grace: soon}\n",
];

#[test]
fn every_fault_is_told_with_file_line_and_key_by_check_and_serve() {
    let mut told = String::new();
    for text in FAULTY {
        let folder = Folder::new();
        let whole = if text.starts_with("listeners:") {
            (*text).to_owned()
        } else {
            format!("{HEAD}{text}")
        };
        folder.write("portcullis.yaml", &whole);
        folder.write("here.txt", "# a comment\nthis is neither\n");
        let faults = examined(&folder);
        assert!(faults.contains("portcullis.yaml:"), "{whole}{faults}");
        assert_eq!(faults, not_served(&folder), "of check and serve");
        let faults = faults.replace(&format!("{}/", folder.root().display()), "");
        told.push_str(&format!("{text}\n{faults}\n----\n"));
    }
    insta::assert_snapshot!("faults", told);
}

#[test]
fn what_is_no_configuration_at_all_is_refused() {
    let folder = Folder::new();
    let laughs: String = (1..9)
        .map(|i| format!("x{i}: &a{i} [{}]\n", format!("*a{}, ", i - 1).repeat(9)))
        .collect();
    for (content, needle) in [
        (Vec::new(), "empty"),
        (b"# only a comment\n".to_vec(), "empty"),
        (
            format!("{HEAD}---\nlimits: {{}}\n").into_bytes(),
            "more than one document",
        ),
        (
            format!("{HEAD}x0: &a0 1\n{laughs}").into_bytes(),
            "portcullis.yaml:",
        ),
        (
            format!("listeners: {}", "[".repeat(100_000)).into_bytes(),
            "portcullis.yaml:1:",
        ),
        (b"listeners: \xff\n".to_vec(), "UTF-8"),
        (b"\x00\x01\x02".to_vec(), "portcullis.yaml"),
        (b"just text\n".to_vec(), "portcullis.yaml:1:"),
    ] {
        folder.write("portcullis.yaml", content);
        let faults = examined(&folder);
        for needle in ["portcullis.yaml", needle] {
            assert!(faults.contains(needle), "`{needle}` is not named: {faults}");
        }
    }
}

#[test]
fn a_log_filter_that_is_none_is_refused() {
    for filter in ["=====", "info,portcullis=loud"] {
        let folder = Folder::new();
        folder.write(
            "portcullis.yaml",
            format!("{HEAD}log: {{filter: \"{filter}\"}}\n"),
        );
        let faults = examined(&folder);
        for needle in ["portcullis.yaml:3:", "log.filter"] {
            assert!(faults.contains(needle), "{filter}: {faults}");
        }
    }
}

#[test]
fn several_faults_are_told_at_once() {
    let folder = Folder::new();
    let faulty = "admission: {order: [Nope]}\nnamespaces: [{name: a}, {name: a}]\n";
    folder.write("portcullis.yaml", format!("{HEAD}{faulty}"));
    let faults = examined(&folder);
    for needle in ["portcullis.yaml:3:", "Nope", "portcullis.yaml:4:"] {
        assert!(faults.contains(needle), "{faults}");
    }
}

#[test]
fn every_key_of_the_contract_is_taken() {
    const EVERY_KEY: &str = r#"
listeners:
- {name: hooks, tcp: 127.0.0.1:8443, tls: {certificate: tls.crt, key: tls.key, clientCA: ca.crt}, serves: [kubernetes]}
- {name: dev,   tcp: 127.0.0.1:8444, tls: {development: true}, serves: [kubernetes]}
- {name: local, unix: {path: portcullis.sock, mode: "0660"}, serves: [kubernetes]}
- {name: api,   tcp: 127.0.0.1:8080, serves: [api, ci, web, kubernetes]}
- {name: wide,  tcp: 0.0.0.0:8081, insecure: true, serves: [kubernetes]}
- {name: ops,   tcp: 127.0.0.1:9090, serves: [metrics, health]}
admission:
  order: [PodSecurity, EventRateLimit, AlwaysPullImages]
  configFile: admission.yaml
  plugins:
  - name: PodSecurity
    failure: closed
    configuration: {apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, defaults: {enforce: baseline}}
  - {name: AlwaysPullImages, failure: open}
namespaces: [{name: shop, labels: {team: a}, annotations: {note: b}}, {name: empty}]
limits: {deadline: 2s, memory: 32Mi, stack: 256Ki, body: 3Mi, headers: 64Ki, connections: 4096, globalContext: 16Mi}
authorization:
  authorizers: [{name: local, driver: ABAC, file: abac.jsonl}]
  chains: {default: [local], open: [AlwaysAllow], shut: [AlwaysDeny]}
"#;
    const ABAC: &str = r#"{"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy", "spec": {"user": "ann", "resource": "pods", "namespace": "*"}}"#;
    const ADMISSION: &str = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: EventRateLimit\n  configuration:\n    apiVersion: eventratelimit.admission.k8s.io/v1alpha1\n    kind: Configuration\n    limits: [{type: Server, qps: 5, burst: 10}]\n";
    let (folder, pki) = (Folder::new(), Pki::new());
    folder.write("portcullis.yaml", EVERY_KEY);
    folder.write("admission.yaml", ADMISSION);
    folder.write("abac.jsonl", ABAC);
    folder.write("tls.crt", &pki.server.certificate_pem);
    folder.write("tls.key", &pki.server.key_pem);
    folder.write("ca.crt", &pki.authority.certificate_pem);
    assert_eq!(examined(&folder), "");
}
