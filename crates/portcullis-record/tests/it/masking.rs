//! Every rule, with what it masks and what it doesn't.

use portcullis_core::DoorContext;
use portcullis_record::{Decision, Masker};
use serde_json::{Value, json};

use crate::fixtures::{allowed, attributes, creation, kept, masker, material, read, written};

const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl";
const PEM: &str = "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----\n";

#[test]
fn the_data_of_a_secret_is_masked_and_its_keys_stay() {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}, "type": "Opaque",
        "data": {"user": "cm9vdA==", "other": "eA=="}, "stringData": {"plain": "x"}, "immutable": true,
    });
    assert_eq!(
        kept(secret),
        json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}, "type": "Opaque",
            "data": {"user": "(masked)", "other": "(masked)"}, "stringData": {"plain": "(masked)"},
            "immutable": true,
        })
    );
}

#[test]
fn secrets_are_found_in_lists_and_inside_of_other_objects() {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1234"}},
        {"data": {"a": "1234"}, "apiVersion": "v1", "kind": "Secret"},
    ]});
    let list = kept(list);
    assert_eq!(list["items"][0]["data"]["a"], "1234");
    assert_eq!(list["items"][1]["data"]["a"], "(masked)");
    let list =
        kept(json!({"kind": "SecretList", "apiVersion": "v1", "items": [{"data": {"a": "b"}}]}));
    assert_eq!(list["items"][0]["data"]["a"], "(masked)");
    let wrapped = json!({"kind": "Object", "apiVersion": "x/v1", "spec": {
        "manifest": {"kind": "Secret", "apiVersion": "v1", "stringData": {"a": "b"}}}});
    assert_eq!(
        kept(wrapped)["spec"]["manifest"]["stringData"]["a"],
        "(masked)"
    );
}

#[test]
fn data_of_anything_else_stays() {
    for object in [
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}),
        json!({"apiVersion": "example.com/v1", "kind": "Secret", "data": {"a": "b"}}),
    ] {
        assert_eq!(kept(object.clone()), object);
    }
}

#[test]
fn a_secret_is_known_by_the_kind_of_the_request() {
    let mut review = creation(&json!({"metadata": {}, "data": {"a": "b"}}));
    review["request"]["kind"] = json!({"group": "", "version": "v1", "kind": "Secret"});
    review["request"]["oldObject"] = json!({"data": {"a": "c"}});
    let decision = read(&masker(), &review, allowed());
    assert_eq!(
        decision.input.masked,
        [
            "/review/request/object/data/a",
            "/review/request/oldObject/data/a"
        ]
    );
}

#[test]
fn environment_values_are_masked_wherever_they_are() {
    let pod = json!({"kind": "Pod", "apiVersion": "v1",
        "metadata": {"labels": {"env": "production"}},
        "spec": {"containers": [{"env": [
            {"name": "A", "value": "x"},
            {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
            {"name": "C", "value": ""},
        ]}], "any": {"env": {"D": "y", "E": 5, "F": {"value": "z"}, "G": true}}}});
    let pod = kept(pod);
    assert_eq!(pod["metadata"]["labels"]["env"], "production");
    let env = &pod["spec"]["containers"][0]["env"];
    assert_eq!(env[0], json!({"name": "A", "value": "(masked)"}));
    assert_eq!(
        env[1],
        json!({"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}})
    );
    assert_eq!(env[2]["value"], "");
    assert_eq!(
        pod["spec"]["any"]["env"],
        json!({"D": "(masked)", "E": 0, "F": {"value": "(masked)"}, "G": true})
    );
}

#[test]
fn variables_of_ci_jobs_are_masked() {
    let job = json!({"spec": {"variables": {"A": "x", "B": {"value": "y", "masked": true}}},
        "kind": "Job", "apiVersion": "ci.portcullis.dev/v1"});
    assert_eq!(
        kept(job)["spec"]["variables"],
        json!({"A": "(masked)", "B": {"value": "(masked)", "masked": true}})
    );
    let job = json!({"spec": {"variables": {"A": "x"}}, "kind": "Job", "apiVersion": "batch/v1"});
    assert_eq!(kept(job.clone()), job);
}

#[test]
fn values_are_masked_by_their_names() {
    for name in [
        "token",
        "Token",
        "TOKEN",
        "accessToken",
        "access_token",
        "access-token",
        "refresh_token",
        "bearerToken",
        "id_token",
        "idToken",
        "sessionToken",
        "tokens",
        "token2",
        "tokenValue",
        "password",
        "PASSWORD",
        "dbPassword",
        "db.password",
        "passwd",
        "passphrase",
        "pwd",
        "passwordHash",
        "clientSecret",
        "client_secret",
        "secret",
        "webhook-secret",
        "apiKey",
        "api_key",
        "APIKEY",
        "apikeys",
        "X-Api-Key",
        "privateKey",
        "private_key",
        "privateKeyPem",
        "secretKey",
        "secretAccessKey",
        "aws_secret_access_key",
        "accessKey",
        "encryptionKey",
        "signingKey",
        "masterKey",
        "authorization",
        "Authorization",
        "proxy-authorization",
        "cookie",
        "Set-Cookie",
        "connectionString",
        "connection_string",
        "credentials",
        "auth",
        "dsn",
        "kubeconfig",
        ".dockerconfigjson",
        "example.com/token",
        "client-key-data",
        "kubectl.kubernetes.io/last-applied-configuration",
    ] {
        assert_eq!(
            kept(json!({"x": {name: "v"}})),
            json!({"x": {name: "(masked)"}}),
            "{name}"
        );
        assert_eq!(kept(json!({name: 12})), json!({name: 0}), "{name}");
        assert_eq!(
            kept(json!({name: ["v", 1]})),
            json!({name: ["(masked)", 0]}),
            "{name}"
        );
        for other in [
            json!(true),
            json!(null),
            json!(""),
            json!({"secretName": "n"}),
        ] {
            let object = json!({name: other});
            assert_eq!(kept(object.clone()), object, "{name}");
        }
    }
}

#[test]
fn other_names_stay() {
    for name in [
        "secretName",
        "secretRef",
        "secretKeyRef",
        "secretNamespace",
        "tokenExpirationSeconds",
        "tokenFile",
        "tokenPath",
        "passwordFile",
        "key",
        "topologyKey",
        "matchLabelKeys",
        "publicKey",
        "keys",
        "image",
        "name",
        "namespace",
        "value",
        "data",
        "stringData",
        "variables",
        "authority",
        "author",
        "authentication",
        "tokenRequests",
        "maxTokens",
        "imagePullSecrets",
        "existingSecret",
        "config",
        "encoded",
        "hash",
        "environment",
        "envFrom",
        "nodeName",
        "accessKeyId",
        "passwordSecretRef",
        "authorizationMode",
        "cookies-policy",
        "raw",
        "pem",
        "",
        "s",
        "ey",
        "uid",
        "resourceVersion",
        "continue",
        "wordpress",
        "secretariat",
    ] {
        let object = json!({"x": {name: "v"}, name: 12});
        assert_eq!(kept(object.clone()), object, "{name}");
    }
    let object = json!({"automountServiceAccountToken": false, "spec": {"volumes": [
        {"secret": {"secretName": "s", "items": [{"key": "k", "path": "p"}]}},
        {"projected": {"sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}]}},
    ], "imagePullSecrets": [{"name": "regcred"}]}});
    assert_eq!(kept(object.clone()), object);
}

#[test]
fn a_pair_is_masked_by_its_name() {
    let probe = json!({"httpGet": {"httpHeaders": [
        {"name": "Authorization", "value": "Basic eA=="},
        {"value": "k", "name": "X-Api-Key"},
        {"name": "Host", "value": "example.com"},
    ]}, "tolerations": [{"key": "gpu", "value": "yes"}]});
    let probe = kept(probe);
    assert_eq!(probe["httpGet"]["httpHeaders"][0]["value"], "(masked)");
    assert_eq!(probe["httpGet"]["httpHeaders"][1]["value"], "(masked)");
    assert_eq!(probe["httpGet"]["httpHeaders"][2]["value"], "example.com");
    assert_eq!(probe["tolerations"][0]["value"], "yes");
}

#[test]
fn values_are_masked_by_their_looks() {
    for secret in [JWT, PEM, &format!("Bearer {JWT}"), &format!("x {PEM} y")] {
        assert_eq!(kept(json!({"a": [secret]})), json!({"a": ["(masked)"]}));
    }
    for other in [
        "eyJ",
        "eyJhbGciOiJIUzI1NiJ9",
        "eyJhbGciOiJIUzI1NiJ9.abc",
        "a.b.c",
        "greyJohn.a.b",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n",
        "THE PRIVATE KEY",
    ] {
        let object = json!({"a": [other]});
        assert_eq!(kept(object.clone()), object);
    }
}

#[test]
fn escapes_hide_nothing() {
    let hidden_jwt = JWT.replacen("eyJ", "\\u0065yJ", 1);
    let body = format!(
        r#"{{"request":{{"uid":"u","kind":{{"group":"","version":"v1","kind":"\u0053ecret"}},"operation":"CREATE","object":{{
        "d\u0061ta":{{"a/b~c":"c2VjcmV0"}},"\u006bind":"S\u0065cret","apiVersion":"v\u0031","p\u0061ssword":"hunter22",
        "x":{{"\u0065nv":[{{"v\u0061lue":"abc"}}]}},"y":"{hidden_jwt}",
        "kubectl.kubernetes.io\/last-applied-configuration":"{{}}"}}}}}}"#
    );
    let attributes = attributes(&body, DoorContext::default());
    let written = masker()
        .write(&material(&body, attributes, allowed()))
        .unwrap();
    let decision = Decision::from_line(&written.line).unwrap();
    let object = "/review/request/object";
    let expected = [
        "/data/a~1b~0c",
        "/password",
        "/x/env/0/value",
        "/y",
        "/kubectl.kubernetes.io~1last-applied-configuration",
    ]
    .map(|pointer| format!("{object}{pointer}"));
    assert_eq!(decision.input.masked, expected);
    assert!(!written.line.contains('\n'));
}

#[test]
fn what_is_not_masked_stays_byte_for_byte() {
    let body = "{ \"request\" : {\"uid\":\"u\",\"kind\":{\"kind\":\"Pod\"},\t\"operation\":\"CREATE\",\r\n \"object\": {\"z\":1.50e+2,\"a\":-0.0,\"password\" : \"hunter22\" , \"b\":[ ],\"n\":12345678901234567890123,\"u\":\"\\u00e9\"} } } ";
    let attributes = attributes(body, DoorContext::default());
    let written = masker()
        .write(&material(body, attributes, allowed()))
        .unwrap();
    let expected = body
        .replace("hunter22", "(masked)")
        .replace(['\r', '\n'], " ");
    assert!(written.line.contains(&expected));
    let decision = Decision::from_line(&written.line).unwrap();
    assert_eq!(decision.input.review_text(), expected.trim());
}

#[test]
fn tokens_of_reviews_and_requests_are_masked() {
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview",
        "spec": {"token": "opaque", "audiences": ["a"]}});
    assert_eq!(
        kept(review)["spec"],
        json!({"token": "(masked)", "audiences": ["a"]})
    );
    let request = json!({"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1",
        "spec": {"expirationSeconds": 600, "boundObjectRef": {"kind": "Secret", "name": "s"}},
        "status": {"token": "opaque", "expirationTimestamp": "t"}});
    let request = kept(request);
    assert_eq!(
        request["status"],
        json!({"token": "(masked)", "expirationTimestamp": "t"})
    );
    assert_eq!(request["spec"]["expirationSeconds"], 600);
}

#[test]
fn what_the_authenticator_knows_is_masked_by_its_name() {
    let mut review = creation(&json!({}));
    review["request"]["userInfo"]["extra"] = json!({
        "example.com/access-token": ["opaque", "other"],
        "authentication.kubernetes.io/credential-id": ["JTI=1"],
    });
    let decision = read(&masker(), &review, allowed());
    let pointer = "/review/request/userInfo/extra/example.com~1access-token";
    assert_eq!(
        decision.input.masked,
        [format!("{pointer}/0"), format!("{pointer}/1")]
    );
}

#[test]
fn headers_and_parameters_are_masked_by_their_names() {
    let context = DoorContext {
        method: "POST".into(),
        uri: "/mutate?timeout=10s&access_token=a%20b&x=1&SIG=q&key=&token".into(),
        headers: [
            ("host", "localhost"),
            ("authorization", "Bearer opaque"),
            ("cookie", "a=b; c=d"),
            ("x-forwarded-user", "me"),
            ("x-api-key", "k"),
            ("x-other", JWT),
            ("audit-id", "77"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec(),
        ..DoorContext::default()
    };
    let body = creation(&json!({})).to_string();
    let attributes = attributes(&body, context);
    let written = masker()
        .write(&material(&body, attributes, allowed()))
        .unwrap();
    let input = Decision::from_line(&written.line).unwrap().input;
    assert_eq!(
        input.http.uri,
        "/mutate?timeout=10s&access_token=(masked)&x=1&SIG=(masked)&key=&token"
    );
    let values: Vec<&str> = input.http.headers.iter().map(|(_, v)| v.as_str()).collect();
    let m = "(masked)";
    assert_eq!(values, ["localhost", m, m, "me", m, m, "77"]);
    let masked = [
        "headers/1/1",
        "headers/2/1",
        "headers/4/1",
        "headers/5/1",
        "uri",
    ];
    assert_eq!(input.masked, masked.map(|p| format!("/http/{p}")));
}

fn with_paths(paths: &[&str]) -> Masker {
    let paths: Vec<String> = paths.iter().map(|p| (*p).to_owned()).collect();
    Masker::new(&paths).unwrap()
}

#[test]
fn the_configuration_adds_paths() {
    let object = json!({"spec": {"pin": 1234, "notes": {"a": "b", "on": true}, "list": ["x", "y"],
        "users": [{"name": "a", "mail": "a@x"}, {"name": "b", "mail": "b@x"}], "flag": true}});
    let mut review = creation(&object);
    review["request"]["oldObject"] = object;
    let masker = with_paths(&[
        "$.spec.pin",
        "$.spec.notes",
        "$.spec.list",
        "$.spec.users[?@.name == 'b'].mail",
        "$..flag",
        "$.nowhere",
    ]);
    let decision = read(&masker, &review, allowed());
    let kept: Value = serde_json::from_str(decision.input.review_text()).unwrap();
    let expected = json!({"spec": {"pin": 0, "notes": {}, "list": [],
        "users": [{"name": "a", "mail": "a@x"}, {"name": "b", "mail": "(masked)"}], "flag": true}});
    assert_eq!(kept["request"]["object"], expected);
    assert_eq!(kept["request"]["oldObject"], expected);
    assert_eq!(decision.input.masked.len(), 8);
}

#[test]
fn what_is_no_path_is_told() {
    let faults = Masker::new(&["$.a".into(), "spec.password".into(), "$[".into()]).unwrap_err();
    let places: Vec<&str> = faults.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(places, ["mask[1]", "mask[2]"]);
    assert!(faults.iter().all(|f| !f.message.is_empty()));
}

#[test]
fn what_cannot_be_masked_is_not_written() {
    let body = creation(&json!({})).to_string();
    for (bad, reason) in [
        (b"{\"a\": \"\xff\"}".to_vec(), "not UTF-8"),
        (b"{\"password\": \"hunter22\"".to_vec(), "not strict JSON"),
    ] {
        let attributes = attributes(&body, DoorContext::default());
        let mut material = material(&body, attributes, allowed());
        material.body = portcullis_record::Body(std::sync::Arc::new(bad));
        material.index = None;
        let error = masker().write(&material).unwrap_err();
        assert_eq!(error.reason, reason);
        assert!(!error.to_string().contains("hunter"));
    }
}

#[test]
fn an_index_of_another_text_does_no_harm() {
    let body =
        creation(&json!({"data": {"a": "b"}, "kind": "Secret", "apiVersion": "v1"})).to_string();
    let attributes = attributes(&body, DoorContext::default());
    let mut material = material(&body, attributes, allowed());
    let other = portcullis_core::json::scan(b"[[[[[[]]]]]]")
        .unwrap()
        .index()
        .clone();
    material.index = Some(other);
    let line = masker().write(&material).unwrap().line;
    assert!(line.contains(r#""data":{"a":"(masked)"}"#));
}

#[test]
fn the_line_has_no_planted_value() {
    let object = json!({"password": "hunter22", "metadata": {"name": "n"}});
    let line = written(&masker(), &creation(&object), allowed()).line;
    assert!(!line.contains("hunter22"));
}
