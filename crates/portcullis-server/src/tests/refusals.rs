//! Configurations that are refused, by `check` and `serve` alike, with file, line and key. The exit codes are with
//! the program.

use crate::tests::harness::{Folder, Pki, examined, not_served};

/// Lines 1 and 2 of a file that has no listeners of its own.
const HEAD: &str =
    "listeners:\n- {name: all, tcp: \"127.0.0.1:1\", serves: [kubernetes, health]}\n";

/// The text, where it must be told (0 for anywhere), and what must be named.
const TABLE: &[(&str, u32, &[&str])] = &[
    (
        "admission: {order: [AlwaysAdmit]}\nlistenerz: []\n",
        4,
        &["listenerz", "did you mean `listeners`"],
    ),
    (
        "admission:\n  order: [AlwaysAdmit]\n  ordre: [AlwaysDeny]\n",
        5,
        &["ordre", "did you mean `order`"],
    ),
    (
        "listeners:\n- name: all\n  tcp: \"127.0.0.1:1\"\n  servs: [kubernetes]\n",
        4,
        &["servs", "did you mean `serves`"],
    ),
    ("limits:\n  bodies: 3Mi\n", 4, &["limits.bodies"]),
    (
        "limits:\n  headertimeout: 3s\n",
        4,
        &["did you mean `headerTimeout`"],
    ),
    (
        "admission:\n  order: {AlwaysAdmit: 5}\n",
        4,
        &["admission.order", "list"],
    ),
    ("limits: [2s]\n", 3, &["limits", "map"]),
    (
        "limits:\n  deadline: banana\n",
        4,
        &["limits.deadline", "banana"],
    ),
    ("limits:\n  deadline: 5\n", 4, &["limits.deadline", "`5`"]),
    (
        "limits:\n  body: 3Mibibytes\n",
        4,
        &["limits.body", "3Mibibytes"],
    ),
    ("limits:\n  body: -1\n", 4, &["limits.body"]),
    ("limits:\n  connections: 0\n", 4, &["limits.connections"]),
    (
        "limits:\n  connections: 99999999999\n",
        4,
        &["limits.connections"],
    ),
    (
        "- {name: all, tcp: \"127.0.0.1:2\", serves: [health]}\n",
        3,
        &["`all`"],
    ),
    (
        "- {name: two, tcp: \"127.0.0.1:1\", serves: [health]}\n",
        3,
        &["127.0.0.1:1"],
    ),
    (
        "admission: {order: [AlwaysAdmit]}\nadmission: {order: [AlwaysDeny]}\n",
        4,
        &["admission", "twice"],
    ),
    (
        "admission:\n  order: [AlwaysAdmit, PodSecurity, AlwaysAdmit]\n",
        4,
        &["AlwaysAdmit", "twice"],
    ),
    (
        "admission:\n  order: [AlwaysPullImage]\n",
        4,
        &["AlwaysPullImage", "did you mean `AlwaysPullImages`"],
    ),
    (
        "admission:\n  plugins:\n  - {name: PodSecurity}\n  - {name: PodSecurity}\n",
        6,
        &["PodSecurity", "twice"],
    ),
    (
        "admission:\n  plugins:\n  - {name: PodSecurity, failure: sometimes}\n",
        5,
        &["sometimes", "closed, open"],
    ),
    (
        "admission:\n  plugins:\n  - name: PodSecurity\n    configuration:\n      apiVersion: pod-security.admission.config.k8s.io/v1\n      kind: PodSecurityConfiguration\n      defaults: {enforce: strikt}\n",
        9,
        &["strikt", "PodSecurity"],
    ),
    (
        "admission:\n  plugins:\n  - name: PodSecurity\n    configuration:\n      apiVersion: pod-security.admission.config.k8s.io/v1\n      kind: PodSecurityConfiguration\n      defalts: {enforce: baseline}\n",
        9,
        &["defalts"],
    ),
    (
        "admission:\n  plugins:\n  - name: AlwaysAdmit\n    configuration: {a: 1}\n",
        0,
        &["AlwaysAdmit"],
    ),
    ("admission: {order: [AlwaysAdmit\nlimits: {}\n", 0, &[]),
    ("admission: {order: *nowhere}\n", 3, &[]),
    ("\tadmission: {}\n", 3, &[]),
    (
        "listeners:\n- {name: all, tcp: \"127.0.0.1:1\", serves: [kubernets]}\n",
        2,
        &["kubernets", "did you mean `kubernetes`"],
    ),
    (
        "listeners:\n- {name: all, tcp: \"127.0.0.1:1\", serves: []}\n",
        2,
        &["serves"],
    ),
    (
        "listeners:\n- {name: all, tcp: \"nonsense\", serves: [health]}\n",
        2,
        &["nonsense"],
    ),
    (
        "listeners:\n- {name: all, tcp: \"127.0.0.1:99999\", serves: [health]}\n",
        2,
        &["127.0.0.1:99999"],
    ),
    (
        "listeners:\n- {name: wide, tcp: \"0.0.0.0:1\", serves: [kubernetes]}\n",
        2,
        &["0.0.0.0:1", "insecure: true"],
    ),
    (
        "listeners:\n- {name: wide, tcp: \"[::]:1\", serves: [kubernetes]}\n",
        2,
        &["insecure: true"],
    ),
    (
        "listeners:\n- {name: a, unix: {path: a.sock, mode: \"0888\"}, serves: [health]}\n",
        2,
        &["0888", "mode"],
    ),
    (
        "listeners:\n- {name: a, unix: {path: a.sock}, tls: {development: true}, serves: [health]}\n",
        2,
        &["tls"],
    ),
    (
        "listeners:\n- {name: a, serves: [health]}\n",
        2,
        &["tcp", "unix"],
    ),
    ("listeners: []\n", 1, &["listener"]),
    ("listeners:\n", 1, &["listeners"]),
    (
        "listeners:\n- {name: t, tcp: \"127.0.0.1:1\", tls: {certificate: gone.crt, key: gone.key}, serves: [kubernetes]}\n",
        2,
        &["gone.crt", "gone.key"],
    ),
    (
        "listeners:\n- {name: t, tcp: \"127.0.0.1:1\", tls: {certificate: here.txt, key: here.txt}, serves: [kubernetes]}\n",
        2,
        &["here.txt"],
    ),
    (
        "authorization:\n  chains: {c: [NoSuchAuthorizer]}\n",
        4,
        &["NoSuchAuthorizer"],
    ),
    ("authorization:\n  chains: {c: []}\n", 4, &["chains.c"]),
    (
        "authorization:\n  authorizers: [{name: local, driver: ABAC, file: gone.jsonl}]\n  chains: {default: [local]}\n",
        4,
        &["gone.jsonl"],
    ),
    (
        "authorization:\n  authorizers: [{name: local, driver: ABAC, file: here.txt}]\n  chains: {default: [local]}\n",
        4,
        &["here.txt:2"],
    ),
    (
        "authorization:\n  authorizers: [{name: local, driver: RBAC}]\n",
        4,
        &["RBAC", "did you mean `ABAC`"],
    ),
    ("namespaces: [{name: a}, {name: a}]\n", 3, &["`a`"]),
    (
        "namespaces: [{name: a, labels: {x: true}}]\n",
        3,
        &["labels.x"],
    ),
    ("log: {format: xml}\n", 3, &["xml"]),
    ("shutdown: {grace: soon}\n", 3, &["soon"]),
];

#[test]
fn every_fault_is_told_with_file_line_and_key_by_check_and_serve() {
    for (text, line, needles) in TABLE {
        let folder = Folder::new();
        let whole = if text.starts_with("listeners:") {
            (*text).to_owned()
        } else {
            format!("{HEAD}{text}")
        };
        folder.write("portcullis.yaml", &whole);
        folder.write("here.txt", "# a comment\nthis is neither\n");
        let place = if *line == 0 {
            "portcullis.yaml:".to_owned()
        } else {
            format!("portcullis.yaml:{line}:")
        };
        let faults = examined(&folder);
        for needle in [&[place.as_str()], *needles].concat() {
            assert!(
                faults.contains(needle),
                "`{needle}` is not named of\n{whole}\n{faults}"
            );
        }
        assert_eq!(faults, not_served(&folder), "of check and serve");
    }
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
