//! Every rejection names file, line, column and key, and says what to do.

use super::{setup, with_head};

/// The fault of a file that begins with the usual listener.
fn fault(text: &str) -> String {
    with_head(text).fault()
}

/// The fault of a whole file.
fn whole(text: &str) -> String {
    setup(text).fault()
}

#[test]
fn an_unknown_key_gets_a_suggestion() {
    assert_eq!(
        fault("admission: {order: [AlwaysAdmit]}\nlistenerz: []\n"),
        "portcullis.yaml:4:1: listenerz: unknown key, did you mean `listeners`? \
         (known keys: admission, authenticators, authorization, ci, decisions, defaultAction, globals, graph, hostCalls, \
         kube, limits, listener, listeners, log, namespaces, policies, policyDirs, sessions, shutdown, store, tenants, web)"
    );
}

#[test]
fn an_unknown_nested_key_gets_a_suggestion() {
    assert_eq!(
        fault("admission:\n  order: [AlwaysAdmit]\n  ordre: [AlwaysDeny]\n"),
        "portcullis.yaml:5:3: admission.ordre: unknown key, did you mean `order`? \
         (known keys: configFile, order, pendingMutation, plugins)"
    );
}

#[test]
fn an_unknown_key_of_a_listener_is_named() {
    assert_eq!(
        whole("listeners:\n- name: all\n  tcp: \"127.0.0.1:1\"\n  servs: [kubernetes]\n"),
        "portcullis.yaml:4:3: listeners[0].servs: unknown key, did you mean `serves`? \
         (known keys: connections, insecure, name, serves, tcp, tls, unix)"
    );
}

#[test]
fn an_unknown_limit_is_named() {
    let text = fault("limits:\n  bodies: 3Mi\n");
    assert!(
        text.starts_with("portcullis.yaml:4:3: limits.bodies: unknown key, did you mean `body`?"),
        "{text}"
    );
}

#[test]
fn keys_of_features_that_do_not_exist_yet_are_unknown() {
    let text = fault("web: {themes: true}\n");
    assert!(
        text.starts_with("portcullis.yaml:3:7: web.themes: unknown key"),
        "{text}"
    );
}

#[test]
fn an_admission_of_jobs_that_is_too_short_is_invalid() {
    let text = fault("ci: {deadline: 9s}\n");
    assert!(
        text.starts_with("portcullis.yaml:3:16: ci.deadline: expected 10s"),
        "{text}"
    );
    let text = fault("ci: {webhooks: {allow: [localhost]}}\n");
    assert!(text.contains("ci.webhooks.allow[0]"), "{text}");
}

#[test]
fn wrong_types_are_told_in_plain_words() {
    for (text, expected) in [
        (
            "admission:\n  order: {AlwaysAdmit: 5}\n",
            "4:10: admission.order: expected a list, found a map",
        ),
        (
            "limits: [2s]\n",
            "3:9: limits: expected a map, found a list",
        ),
        (
            "limits:\n",
            "3:1: limits: expected a map, found nothing: remove the key or write `{}`",
        ),
        (
            "namespaces:\n",
            "3:1: namespaces: expected a list, found nothing: remove the key or write `[]`",
        ),
        (
            "admission: {order: [5]}\n",
            "3:21: admission.order[0]: expected text, found a number: put it in quotes",
        ),
        (
            "namespaces: [{name: a, labels: {x: true}}]\n",
            "3:36: namespaces[0].labels.x: expected text, found true or false: put it in quotes",
        ),
        (
            "limits: {connections: -1}\n",
            "3:23: limits.connections: expected a whole number from 0 to 4294967295, found the number `-1`",
        ),
        (
            "limits: {connections: 1.5}\n",
            "3:23: limits.connections: expected a whole number, found the number `1.5`",
        ),
        (
            "limits: {connections: many}\n",
            "3:23: limits.connections: expected a whole number, found the text `many`",
        ),
        (
            "namespaces: [{labels: {}}]\n",
            "3:14: namespaces[0]: the key `name` is missing",
        ),
        (
            "log: {format: [text]}\n",
            "3:15: log.format: expected one of text, json, found a list",
        ),
    ] {
        assert_eq!(fault(text), format!("portcullis.yaml:{expected}"), "{text}");
    }
    let insecure =
        whole("listeners:\n- {name: a, tcp: \"127.0.0.1:1\", insecure: yes, serves: [api]}\n");
    assert_eq!(
        insecure,
        "portcullis.yaml:2:43: listeners[0].insecure: expected true or false, found the text `yes`"
    );
}

#[test]
fn what_is_no_duration_or_size_is_told_what_would_be() {
    assert_eq!(
        fault("limits:\n  deadline: banana\n"),
        "portcullis.yaml:4:13: limits.deadline: `banana` is not a duration: \
         use a number and ms, s, m, h or d, like `500ms` or `2s`"
    );
    assert_eq!(
        fault("limits:\n  deadline: 2\n"),
        "portcullis.yaml:4:13: limits.deadline: expected a duration like `500ms` or `2s`, found the number `2`"
    );
    assert_eq!(
        fault("limits:\n  body: 3Mibibytes\n"),
        "portcullis.yaml:4:9: limits.body: `3Mibibytes` is not a size: \
         use a number of bytes, or a number and Ki, Mi, Gi, k, M or G, like `32Mi`"
    );
}

#[test]
fn a_limit_of_zero_is_refused() {
    assert_eq!(
        with_head("limits: {body: 0, connections: 0, deadline: 0s}\nadmission: {plugins: [{name: AlwaysAdmit, timeout: 0ms}]}\n")
            .faults(),
        [
            "portcullis.yaml:3:45: limits.deadline: must be more than zero",
            "portcullis.yaml:3:16: limits.body: must be more than zero",
            "portcullis.yaml:3:32: limits.connections: must be more than zero",
            "portcullis.yaml:4:52: admission.plugins[0].timeout: must be more than zero",
        ]
    );
}

#[test]
fn names_given_twice_are_refused_at_the_second_place() {
    for (text, expected) in [
        (
            "- {name: all, tcp: \"127.0.0.1:2\", serves: [health]}\n",
            "3:10: listeners[1].name: the name `all` is taken by listeners[0]",
        ),
        (
            "- {name: b, tcp: \"127.0.0.1:1\", serves: [health]}\n",
            "3:18: listeners[1].tcp: the address `127.0.0.1:1` is taken by the listener `all`",
        ),
        (
            "- {name: b, tcp: \"0.0.0.0:1\", insecure: true, serves: [health]}\n",
            "3:18: listeners[1].tcp: the address `0.0.0.0:1` is taken by the listener `all`",
        ),
        (
            "- {name: b, tcp: \"127.0.0.1:2\", serves: [api, api]}\n",
            "3:47: listeners[1].serves[1]: `api` is named twice",
        ),
        (
            "namespaces: [{name: a}, {name: a}]\n",
            "3:32: namespaces[1].name: the namespace `a` is given twice",
        ),
        (
            "admission: {order: [AlwaysAdmit]}\nadmission: {order: [AlwaysDeny]}\n",
            "4:1: the key `admission` is given twice",
        ),
        (
            "admission:\n  order: [AlwaysAdmit, PodSecurity, AlwaysAdmit]\n",
            "4:37: admission.order[2]: the plug-in `AlwaysAdmit` is in the order twice",
        ),
        (
            "admission:\n  plugins:\n  - name: PodSecurity\n  - name: PodSecurity\n",
            "6:11: admission.plugins[1].name: the plug-in `PodSecurity` is configured twice, first at portcullis.yaml:5:11",
        ),
    ] {
        assert_eq!(fault(text), format!("portcullis.yaml:{expected}"));
    }
}

#[test]
fn an_unknown_plugin_gets_a_suggestion() {
    assert_eq!(
        fault("admission:\n  order: [AlwaysPullImage]\n"),
        "portcullis.yaml:4:11: admission.order[0]: unknown plug-in `AlwaysPullImage`, did you mean `AlwaysPullImages`? \
         (known plug-ins: AlwaysAdmit, AlwaysDeny, AlwaysPullImages, EventRateLimit, PodSecurity)"
    );
    let text = fault("admission:\n  plugins: [{name: podsecurity}]\n");
    assert!(
        text.starts_with("portcullis.yaml:4:20: admission.plugins[0].name: unknown plug-in `podsecurity`, did you mean `PodSecurity`?"),
        "{text}"
    );
}

#[test]
fn a_word_that_is_none_of_the_known_is_refused_with_the_list() {
    let plugins = "admission:\n  order: [PodSecurity]\n  plugins:\n  - {name: PodSecurity, failure: sometimes}\n";
    assert_eq!(
        fault(plugins),
        "portcullis.yaml:6:34: admission.plugins[0].failure: unknown value `sometimes` (known values: closed, open)"
    );
    assert_eq!(
        whole("listeners:\n- {name: all, tcp: \"127.0.0.1:1\", serves: [kubernets]}\n"),
        "portcullis.yaml:2:44: listeners[0].serves[0]: unknown value `kubernets`, did you mean `kubernetes`? \
         (known values: api, ci, health, kubernetes, metrics, web)"
    );
}

#[test]
fn plain_tcp_beyond_loopback_needs_a_word() {
    assert_eq!(
        whole("listeners:\n- {name: wide, tcp: \"0.0.0.0:1\", serves: [kubernetes]}\n"),
        "portcullis.yaml:2:21: listeners[0].tcp: plain TCP on `0.0.0.0:1` can be reached from other hosts: \
         use a loopback address, add `tls`, or set `insecure: true`"
    );
    for address in ["[::]:1", "192.0.2.1:1", "[::ffff:10.0.0.1]:1"] {
        let text = whole(&format!(
            "listeners:\n- {{name: a, tcp: \"{address}\", serves: [api]}}\n"
        ));
        assert!(text.contains("insecure: true"), "{text}");
    }
    for address in [
        "127.0.0.1:0",
        "127.9.9.9:1",
        "[::1]:1",
        "[::ffff:127.0.0.1]:1",
        "localhost:1",
    ] {
        setup(&format!(
            "listeners:\n- {{name: a, tcp: \"{address}\", serves: [api]}}\n"
        ))
        .loaded();
    }
}

#[test]
fn what_is_no_address_is_told_what_would_be() {
    for (address, expected) in [
        (
            ":80",
            "`:80` has no host: use `127.0.0.1:80`, or `0.0.0.0:80` for all of them",
        ),
        ("127.0.0.1", "the address `127.0.0.1` has no port"),
        (
            "example.org:80",
            "`example.org:80` is not an address: use an IP address and a port, like `127.0.0.1:8443` or `[::1]:8443`",
        ),
        (
            "127.0.0.1:99999",
            "`127.0.0.1:99999` is not an address: use an IP address and a port, like `127.0.0.1:8443` or `[::1]:8443`",
        ),
    ] {
        let text = whole(&format!(
            "listeners:\n- {{name: a, tcp: \"{address}\", serves: [api]}}\n"
        ));
        assert_eq!(
            text,
            format!("portcullis.yaml:2:18: listeners[0].tcp: {expected}")
        );
    }
}

#[test]
fn a_listener_has_one_address_and_serves_something() {
    for (listener, expected) in [
        (
            "{name: a, serves: [api]}",
            "2:3: listeners[0]: the listener has neither `tcp` nor `unix`: give it one",
        ),
        (
            "{name: a, tcp: \"127.0.0.1:1\", unix: {path: x}, serves: [api]}",
            "2:3: listeners[0]: the listener has both `tcp` and `unix`: use one",
        ),
        (
            "{name: a, tcp: \"127.0.0.1:1\", serves: []}",
            "2:41: listeners[0].serves: the listener serves nothing: name at least one",
        ),
        (
            "{name: a, unix: {path: x}, tls: {development: true}, serves: [api]}",
            "2:35: listeners[0].tls: TLS is for TCP: a unix socket has file permissions and no TLS",
        ),
        (
            "{name: a, tcp: \"127.0.0.1:1\"}",
            "2:3: listeners[0]: the key `serves` is missing",
        ),
        (
            "{name: \"\", tcp: \"127.0.0.1:1\", serves: [api]}",
            "2:10: listeners[0].name: the name is empty",
        ),
    ] {
        assert_eq!(
            whole(&format!("listeners:\n- {listener}\n")),
            format!("portcullis.yaml:{expected}")
        );
    }
    assert_eq!(
        whole("limits: {}\n"),
        "portcullis.yaml:1:1: listeners: no listener is configured: at least one is needed"
    );
    let long = "x".repeat(200);
    let text = whole(&format!(
        "listeners:\n- {{name: a, unix: {{path: {long}}}, serves: [api]}}\n"
    ));
    assert!(text.contains("is too long for a socket"), "{text}");
}

#[test]
fn a_mode_that_is_none_is_refused() {
    for mode in [
        "\"0888\"", "\"\"", "abc", "0999", "17777", "\"-660\"", "1.5", "0x1b0", "\"+660\"",
    ] {
        let text = whole(&format!(
            "listeners:\n- {{name: a, unix: {{path: x, mode: {mode}}}, serves: [api]}}\n"
        ));
        assert!(
            text.starts_with("portcullis.yaml:2:35: listeners[0].unix.mode: `"),
            "{text}"
        );
        assert!(
            text.contains("is not a mode: use three octal digits in quotes, like \"0660\""),
            "{text}"
        );
    }
}

#[test]
fn files_that_are_not_there_are_named() {
    let tls = "listeners:\n- {name: t, tcp: \"127.0.0.1:1\", tls: {certificate: gone.crt, key: gone.key, clientCA: gone.ca}, serves: [api]}\n";
    assert_eq!(
        setup(tls).faults(),
        [
            "portcullis.yaml:2:52: listeners[0].tls.certificate: cannot read `gone.crt`: no such file or directory",
            "portcullis.yaml:2:67: listeners[0].tls.key: cannot read `gone.key`: no such file or directory",
            "portcullis.yaml:2:87: listeners[0].tls.clientCA: cannot read `gone.ca`: no such file or directory",
        ]
    );
    assert_eq!(
        fault(
            "authorization:\n  authorizers: [{name: local, driver: ABAC, file: gone.jsonl}]\n  chains: {default: [local]}\n"
        ),
        "portcullis.yaml:4:51: authorization.authorizers[0].file: cannot read `gone.jsonl`: no such file or directory"
    );
    assert_eq!(
        fault("admission: {configFile: sub/gone.yaml}\n"),
        "portcullis.yaml:3:25: admission.configFile: cannot read `sub/gone.yaml`: no such file or directory"
    );
    assert_eq!(
        with_head("admission: {configFile: sub}\n")
            .file("sub/x", "")
            .fault(),
        "portcullis.yaml:3:25: admission.configFile: cannot read `sub`: it is a directory"
    );
}

#[test]
fn tls_needs_a_certificate_and_a_key_or_development() {
    for (tls, expected) in [
        (
            "{}",
            "TLS needs `certificate` and `key`, `managed`, or `development: true`",
        ),
        (
            "{development: false}",
            "TLS needs `certificate` and `key`, `managed`, or `development: true`",
        ),
        (
            "{certificate: a.crt}",
            "the key `key` is missing: a certificate needs its private key",
        ),
        (
            "{key: a.key}",
            "the key `certificate` is missing: a private key needs its certificate",
        ),
        (
            "{development: true, certificate: a.crt, key: a.key}",
            "`development` makes its own certificate: remove `certificate` and `key`, or `development`",
        ),
    ] {
        let text =
            format!("listeners:\n- {{name: t, tcp: \"127.0.0.1:1\", tls: {tls}, serves: [api]}}\n");
        let fault = setup(&text).file("a.crt", "x").file("a.key", "x").fault();
        assert_eq!(
            fault,
            format!("portcullis.yaml:2:38: listeners[0].tls: {expected}")
        );
    }
}

#[test]
fn authorizers_and_chains_are_checked() {
    for (authorization, expected) in [
        (
            "{chains: {c: [NoSuchAuthorizer]}}",
            "3:30: authorization.chains.c[0]: unknown authorizer `NoSuchAuthorizer` (known authorizers: AlwaysAllow, AlwaysDeny)",
        ),
        (
            "{chains: {c: [alwaysAllow]}}",
            "3:30: authorization.chains.c[0]: unknown authorizer `alwaysAllow`, did you mean `AlwaysAllow`? \
             (known authorizers: AlwaysAllow, AlwaysDeny)",
        ),
        (
            "{chains: {c: []}}",
            "3:29: authorization.chains.c: the chain `c` is empty: name at least one authorizer",
        ),
        (
            "{chains: {a/b: [AlwaysDeny]}}",
            "3:31: authorization.chains.a/b: invalid name `a/b`: use letters, digits, `-`, `_` and `.`",
        ),
        (
            "{chains: {c: [AlwaysDeny, AlwaysDeny]}}",
            "3:42: authorization.chains.c[1]: the authorizer `AlwaysDeny` is named twice",
        ),
        (
            "{authorizers: [{name: a, driver: ABAC}], chains: {c: [a]}}",
            "3:31: authorization.authorizers[0]: the key `file` is missing: the authorizer `a` is ABAC",
        ),
        (
            "{authorizers: [{name: a, driver: AlwaysDeny, file: x}], chains: {c: [a]}}",
            "3:67: authorization.authorizers[0].file: the driver AlwaysDeny takes no file",
        ),
        (
            "{authorizers: [{name: AlwaysAllow, driver: AlwaysDeny}], chains: {c: [AlwaysAllow]}}",
            "3:38: authorization.authorizers[0].name: the name `AlwaysAllow` is the built-in authorizer's: choose another",
        ),
        (
            "{authorizers: [{name: a, driver: AlwaysDeny}, {name: a, driver: AlwaysAllow}], chains: {c: [a]}}",
            "3:69: authorization.authorizers[1].name: the authorizer `a` is declared twice, first at portcullis.yaml:3:31",
        ),
        (
            "{authorizers: [{name: a, driver: RBAC}]}",
            "3:49: authorization.authorizers[0].driver: unknown value `RBAC`, did you mean `ABAC`? \
             (known values: ABAC, AlwaysAllow, AlwaysDeny)",
        ),
    ] {
        assert_eq!(
            fault(&format!("authorization: {authorization}\n")),
            format!("portcullis.yaml:{expected}")
        );
    }
}

#[test]
fn several_faults_are_told_at_once() {
    let text = "- {name: all, tcp: \"0.0.0.0:2\", serves: []}\nadmission: {order: [Nope]}\n";
    assert_eq!(with_head(text).faults().len(), 4);
}

#[test]
fn the_frame_shows_the_line() {
    let faults = with_head("admission:\n  ordre: [AlwaysDeny]\n")
        .load()
        .unwrap_err();
    let text = format!("{faults:#}");
    assert!(
        text.ends_with("\n  |\n4 |   ordre: [AlwaysDeny]\n  |   ^"),
        "{text}"
    );
}

#[test]
fn limits_no_engine_could_work_with_are_refused() {
    for (limit, why) in [
        ("memory: 100Ki", "limits.memory: policies need at least 2Mi"),
        ("stack: 16Ki", "limits.stack: policies need at least 64Ki"),
        ("stack: 64Mi", "limits.stack: at most 16Mi"),
    ] {
        let text = fault(&format!("limits:\n  {limit}\n"));
        assert!(text.contains(why), "{text}");
    }
}

#[test]
fn limits_of_host_calls_that_are_zero_are_refused_where_they_stand() {
    assert_eq!(
        with_head("hostCalls: {timeout: 0s, body: 0}\n").faults(),
        [
            "portcullis.yaml:3:32: hostCalls.body: must be more than 0",
            "portcullis.yaml:3:22: hostCalls.timeout: must be more than 0",
        ]
    );
}

#[test]
fn managed_certificates_need_a_secret_and_names() {
    for (managed, expected) in [
        (
            "{}",
            "listeners[0].tls.managed: the key `secret` is missing",
        ),
        (
            "{secret: tls, webhooks: [p]}",
            "listeners[0].tls.managed.secret: expected NAMESPACE/NAME, found `tls`",
        ),
        (
            "{secret: n/tls}",
            "listeners[0].tls.managed: the certificate has no names: give `service`, `dnsNames` or `webhooks`",
        ),
        (
            "{secret: n/tls, service: p}",
            "listeners[0].tls.managed.service: expected NAMESPACE/NAME, found `p`",
        ),
        (
            "{secret: n/tls, dnsNames: [ok.example, Bad_Name]}",
            "listeners[0].tls.managed.dnsNames[1]: invalid name `Bad_Name`: use a host name in lower case, like \
             `webhook.example.com`, or an IP address",
        ),
        (
            "{secret: n/tls, webhooks: [p, p]}",
            "listeners[0].tls.managed.webhooks[1]: `p` is named twice",
        ),
        (
            "{secret: n/tls, webhooks: [\"a/b\"]}",
            "listeners[0].tls.managed.webhooks[0]: invalid name: `/`, `%` and control characters are not allowed",
        ),
        (
            "{secret: n/tls, webhooks: [p], validity: 9s}",
            "listeners[0].tls.managed.validity: must be between 10s and 3650d",
        ),
        (
            "{secret: n/tls, webhooks: [p], validity: 20s, renewBefore: 16s}",
            "listeners[0].tls.managed.renewBefore: must be between 2s and three quarters of `validity`",
        ),
        (
            "{secret: n/tls, webhooks: [p], kubeconfig: a.key}",
            "listeners[0].tls.managed.kubeconfig: the kubeconfig DIR/a.key can't be used: not a kubeconfig file",
        ),
    ] {
        let text = format!(
            "listeners:\n- {{name: t, tcp: \"127.0.0.1:1\", tls: {{managed: {managed}}}, serves: [api]}}\n"
        );
        let setup = setup(&text).file("a.key", "just a text");
        let fault = setup.fault();
        let place = expected.split(": ").next().unwrap();
        let message = expected.strip_prefix(place).unwrap();
        let start = message.split("DIR").next().unwrap();
        assert!(fault.contains(place) && fault.contains(start), "{fault}");
        assert!(fault.starts_with("portcullis.yaml:2:"), "{fault}");
    }
    let text = "listeners:\n- {name: t, tcp: \"127.0.0.1:1\", tls: {development: true, managed: {secret: n/s, webhooks: [p]}}, serves: [api]}\n";
    assert_eq!(
        setup(text).fault(),
        "portcullis.yaml:2:38: listeners[0].tls: `managed` makes its own certificate: remove `certificate`, `key` and \
         `development`, or `managed`"
    );
}
