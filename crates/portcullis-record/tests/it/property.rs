//! No planted secret survives, and nothing else is lost.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use portcullis_core::patch;
use portcullis_core::{
    DoorContext, HostCallStep, HostFunction, PolicyMode, PolicyOutcome, PolicyStep, StepOutcome,
    Verdict,
};
use portcullis_record::{Decision, Masker};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::fixtures::{allowed, attributes, denied, material, step};

/// Where secrets are planted.
#[derive(Debug, Clone, Copy)]
enum Place {
    SecretData,
    SecretStringData,
    ListedSecret,
    NestedSecret,
    EnvList,
    EnvMap,
    EnvObject,
    CiVariable,
    Named,
    NamedList,
    NamedObject,
    Pair,
    Jwt,
    PrivateKey,
    LastApplied,
    Configured,
    ConfiguredObject,
    ConfiguredFilter,
    Extra,
    Header,
    Bearer,
    Cookie,
    Query,
    Patch,
    PatchEnv,
}

const PLACES: [Place; 25] = [
    Place::SecretData,
    Place::SecretStringData,
    Place::ListedSecret,
    Place::NestedSecret,
    Place::EnvList,
    Place::EnvMap,
    Place::EnvObject,
    Place::CiVariable,
    Place::Named,
    Place::NamedList,
    Place::NamedObject,
    Place::Pair,
    Place::Jwt,
    Place::PrivateKey,
    Place::LastApplied,
    Place::Configured,
    Place::ConfiguredObject,
    Place::ConfiguredFilter,
    Place::Extra,
    Place::Header,
    Place::Bearer,
    Place::Cookie,
    Place::Query,
    Place::Patch,
    Place::PatchEnv,
];

const NAMES: [&str; 14] = [
    "token",
    "accessToken",
    "REFRESH_TOKEN",
    "id-token",
    "db.password",
    "Passwd",
    "passphrase",
    "clientSecret",
    "api_key",
    "privateKey",
    "authorization",
    "connectionString",
    "tokens",
    "password2",
];

/// Names that hide nothing, some of them odd.
const HARMLESS: [&str; 14] = [
    "spec",
    "a/b~c",
    "secretName",
    "tokenExpirationSeconds",
    "name \"quoted\"",
    "back\\slash",
    "ünïcödé",
    "value",
    "data",
    "variables",
    "kind",
    "key",
    "x\ty",
    "automountServiceAccountToken",
];

#[derive(Debug, Clone)]
struct Planted {
    place: Place,
    secret: String,
    name: usize,
    /// How deep it is wrapped.
    depth: usize,
    form: usize,
    cut: usize,
}

fn any_planted() -> impl Strategy<Value = Planted> {
    let secret = (
        "[a-zA-Z0-9]{9,24}",
        "(|[\"\\\\<>&é/+~ %\n]{1,3})",
        "[a-zA-Z0-9]{3,30}",
    );
    (
        proptest::sample::select(&PLACES[..]),
        secret,
        0..NAMES.len(),
        0..4_usize,
        0..7_usize,
        4..9_usize,
    )
        .prop_map(|(place, (a, b, c), name, depth, form, cut)| {
            let secret = match place {
                // What headers, addresses and tokens can be.
                Place::Header
                | Place::Bearer
                | Place::Cookie
                | Place::Query
                | Place::Jwt
                | Place::PrivateKey => {
                    format!("{a}{c}")
                }
                _ => format!("{a}{b}{c}"),
            };
            Planted {
                place,
                secret,
                name,
                depth,
                form,
                cut,
            }
        })
}

/// Anything, without secrets.
fn any_noise() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = proptest::sample::select(&HARMLESS[..]).prop_map(str::to_owned);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(key, inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Writes JSON with blanks and escapes in unexpected places.
struct OddWriter {
    state: u64,
    text: String,
}

impl OddWriter {
    fn chance(&mut self, one_in: u64) -> bool {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.state >> 33).is_multiple_of(one_in)
    }

    fn blank(&mut self) {
        if self.chance(12) {
            let blanks = [" ", "\n", "\t", "\r\n  "];
            let which = (self.state >> 40) as usize % blanks.len();
            self.text.push_str(blanks[which]);
        }
    }

    fn string(&mut self, text: &str) {
        self.text.push('"');
        let is_odd = self.chance(5);
        for c in text.chars() {
            if is_odd && self.chance(3) {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    self.text.push_str(&format!("\\u{unit:04X}"));
                }
            } else if c == '/' && self.chance(2) {
                self.text.push_str("\\/");
            } else {
                let quoted = serde_json::to_string(&c).unwrap();
                self.text.push_str(&quoted[1..quoted.len() - 1]);
            }
        }
        self.text.push('"');
    }

    fn value(&mut self, value: &Value) {
        self.blank();
        match value {
            Value::String(text) => self.string(text),
            Value::Array(list) => {
                self.text.push('[');
                for (place, element) in list.iter().enumerate() {
                    if place > 0 {
                        self.text.push(',');
                    }
                    self.value(element);
                }
                self.text.push(']');
            }
            Value::Object(object) => {
                self.text.push('{');
                let mut members: Vec<_> = object.iter().collect();
                if self.chance(2) {
                    members.reverse();
                }
                for (place, (key, member)) in members.into_iter().enumerate() {
                    if place > 0 {
                        self.text.push(',');
                    }
                    self.blank();
                    self.string(key);
                    self.blank();
                    self.text.push(':');
                    self.value(member);
                    self.blank();
                }
                self.text.push('}');
            }
            other => self.text.push_str(&other.to_string()),
        }
        self.blank();
    }
}

fn wrapped(value: Value, depth: usize) -> Value {
    match depth {
        0 => value,
        1 => json!({ "a": wrapped(value, 0) }),
        2 => json!([1, wrapped(value, 1)]),
        _ => json!({ "x/y~z": wrapped(value, 2), "é": null }),
    }
}

/// The object with what is planted in it.
fn planted_object(planted: &[Planted], noise: &Value, base: usize) -> Value {
    let mut object = Map::new();
    match base {
        0 => {
            object.insert("kind".into(), json!("Pod"));
            object.insert("apiVersion".into(), json!("v1"));
        }
        1 => {
            object.insert("kind".into(), json!("Job"));
            object.insert("apiVersion".into(), json!("ci.portcullis.dev/v1"));
        }
        _ => {
            object.insert("kind".into(), json!("Secret"));
            object.insert("apiVersion".into(), json!("v1"));
        }
    }
    object.insert("metadata".into(), json!({"name": "web"}));
    object.insert("noise".into(), noise.clone());
    let mut items = Vec::new();
    for (place, one) in planted.iter().enumerate() {
        let secret = one.secret.as_str();
        let encoded = STANDARD.encode(secret);
        let name = NAMES[one.name];
        let inner = match one.place {
            Place::SecretData => {
                json!({"kind": "Secret", "apiVersion": "v1", "data": {"k": encoded}})
            }
            Place::SecretStringData => {
                json!({"kind": "Secret", "apiVersion": "v1", "stringData": {"k": secret}})
            }
            Place::ListedSecret => json!({"kind": "SecretList", "apiVersion": "v1",
                "items": [{"metadata": {}, "data": {"k": encoded}}]}),
            Place::NestedSecret => {
                json!({"manifest": {"data": {"a": {"b": [encoded]}}, "kind": "Secret"}})
            }
            Place::EnvList => json!({"env": [{"name": "A", "value": secret}, {"name": "B"}]}),
            Place::EnvMap => json!({"env": {"A": secret, "B": true}}),
            Place::EnvObject => json!({"env": {"A": {"value": secret}}}),
            Place::CiVariable if base == 1 => {
                json!({"variables": {"A": secret, "B": {"value": secret}}})
            }
            Place::CiVariable => json!({"env": ["A=B", secret]}),
            Place::Named => json!({ name: secret }),
            Place::NamedList => json!({ name: [secret, 1, true] }),
            Place::NamedObject => json!({ name: {"value": secret, "from": "here"} }),
            Place::Pair => json!({"value": secret, "name": name}),
            Place::Jwt => json!({"note": format!("see eyJhbGciOiJIUzI1NiJ9.{secret}.{secret}")}),
            Place::PrivateKey => {
                json!({"note": format!("-----BEGIN PRIVATE KEY-----\n{secret}\n-----END PRIVATE KEY-----")})
            }
            Place::LastApplied => json!({"annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": json!({"password": secret}).to_string()}}),
            Place::Configured => {
                object.insert(
                    format!("configured{place}"),
                    json!({"own": {"pin": secret}}),
                );
                continue;
            }
            Place::ConfiguredObject => {
                object.insert(
                    format!("configured{place}"),
                    json!({"whole": {"a": [secret], "b": {}, "c": true}}),
                );
                continue;
            }
            Place::ConfiguredFilter => {
                items.push(json!({"hide": true, "text": secret}));
                items.push(json!({"hide": false, "text": "shown"}));
                continue;
            }
            _ => continue,
        };
        object.insert(format!("planted{place}"), wrapped(inner, one.depth));
    }
    for (place, one) in planted.iter().enumerate() {
        if let Some(text) = echoed(one) {
            let echo = json!({"annotations": {"kapp.k14s.io/original": text}});
            object.insert(format!("echo{place}"), wrapped(echo, one.depth));
        }
    }
    object.insert("list".into(), Value::Array(items));
    Value::Object(object)
}

/// What else of the review repeats a secret, where it is one for sure.
fn echoed(one: &Planted) -> Option<String> {
    match one.place {
        // These may be words, images or addresses.
        Place::EnvList | Place::EnvMap | Place::EnvObject | Place::CiVariable | Place::PatchEnv => {
            None
        }
        // Only long lines of a key are looked for by themselves.
        Place::PrivateKey if one.secret.len() < 16 => None,
        _ if one.form == 5 => Some(one.secret.clone()),
        _ if one.form == 6 => Some(json!({"deep": {"text": one.secret}}).to_string()),
        _ => Some(repeated(one)),
    }
}

fn context(planted: &[Planted]) -> DoorContext {
    let mut context = DoorContext {
        uri: "/mutate?timeout=10s".into(),
        headers: vec![("host".into(), "h".into())],
        ..DoorContext::default()
    };
    for one in planted {
        let mut header = |name: &str, value: String| context.headers.push((name.into(), value));
        match one.place {
            Place::Header => header("x-auth-token", one.secret.clone()),
            Place::Bearer => header("authorization", format!("Bearer {}", one.secret)),
            Place::Cookie => header("cookie", format!("a=b; session={}", one.secret)),
            Place::Query => context.uri.push_str(&format!("&api_key={}", one.secret)),
            _ => {}
        }
    }
    context
}

/// A form in which a policy may repeat a secret.
fn repeated(one: &Planted) -> String {
    let secret = one.secret.as_str();
    let in_json = |text: &str| {
        let quoted = serde_json::to_string(text).unwrap();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let text = match one.form {
        0 => STANDARD.encode(secret),
        1 => URL_SAFE_NO_PAD.encode(secret),
        2 => in_json(secret),
        3 => in_json(&in_json(secret)),
        _ => secret.to_owned(),
    };
    if one.form == 5 {
        let mut end = one.cut;
        while !text.is_char_boundary(end) {
            end += 1;
        }
        // Cut at its end.
        return format!("it is {}", &text[..end]);
    }
    format!("it is {text}, {text}.")
}

fn verdict(planted: &[Planted], is_allowed: bool) -> Verdict {
    let mut verdict = if is_allowed { allowed() } else { denied("no") };
    let mut own = step("Policies", StepOutcome::Changed);
    for (place, one) in planted.iter().enumerate() {
        let text = repeated(one);
        match place % 6 {
            0 if !is_allowed => {
                let id = verdict.id;
                verdict = denied(&text);
                verdict.id = id;
            }
            1 => own.detail = Some(text.clone().into()),
            2 => own.policies.push(PolicyStep {
                started: None,
                duration: None,
                name: format!("policy-{place}"),
                changed: false,
                mode: PolicyMode::Warn,
                outcome: PolicyOutcome::Deny,
                message: Some(text.clone()),
                source: None,
                line: Some(1),
                column: Some(1),
                limit: None,
                description: Some("Pods have an owner.".into()),
                category: Some("c".into()),
                severity: Some("high".into()),
                link: Some("https://policies.example/pods".into()),
            }),
            3 => own.host_calls.push(HostCallStep {
                started: None,
                policy: "policy".into(),
                function: HostFunction::ForwardToAdmissionController,
                arguments: vec![
                    json!(text),
                    json!({"deep": [text], text.clone(): 1, "env": {"A": one.secret}}),
                ],
                result: Some(
                    json!({"patch": STANDARD.encode(json!([text]).to_string()), "ok": true}),
                ),
                error: Some(text.clone()),
                duration: Duration::ZERO,
            }),
            _ => verdict.warnings.push(text.clone()),
        }
        verdict.warnings.push(text);
    }
    own.warnings = verdict.warnings.len();
    verdict.trace = vec![own];
    verdict
}

/// What policies change in an object.
fn change(object: &mut Value, planted: &[Planted]) {
    for (place, one) in planted.iter().enumerate() {
        match one.place {
            Place::Patch => {
                object[format!("added{place}")] =
                    wrapped(json!({NAMES[one.name]: one.secret, "n": 1}), one.depth);
            }
            Place::PatchEnv => {
                object[format!("spec{place}")]["containers"] =
                    json!([{"env": [{"name": "N", "value": one.secret}]}]);
            }
            _ => {
                object["metadata"]["labels"][format!("l{place}")] = json!(one.secret);
            }
        }
    }
}

fn paths() -> Masker {
    let paths = [
        "$[?@.pin].pin",
        "$.*.own.pin",
        "$.*.whole",
        "$.list[?@.hide == true].text",
    ];
    Masker::new(&paths.map(str::to_owned)).unwrap()
}

/// Every text in a tree, names of members included.
fn texts(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::String(text) => all.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|v| texts(v, all)),
        Value::Object(object) => {
            for (key, value) in object {
                all.push(key.clone());
                texts(value, all);
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_planted_secret_survives(
        planted in proptest::collection::vec(any_planted(), 1..7),
        noise in any_noise(),
        base in 0..3_usize,
        operation in 0..3_usize,
        is_allowed in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let object = planted_object(&planted, &noise, base);
        let mut request = json!({
            "uid": "0b7f", "namespace": "shop", "name": "web",
            "operation": (["CREATE", "UPDATE", "DELETE"][operation]),
            "userInfo": {"username": "ci-bot", "extra": {"token": planted.iter()
                .filter(|one| matches!(one.place, Place::Extra))
                .map(|one| one.secret.clone()).collect::<Vec<_>>()}},
        });
        let (group, kind) = [("", "Pod"), ("ci.portcullis.dev", "Job"), ("", "Secret")][base];
        request["kind"] = json!({"group": group, "version": "v1", "kind": kind});
        if operation < 2 {
            request["object"] = object.clone();
        }
        if operation > 0 {
            request["oldObject"] = object.clone();
        }
        let mut writer = OddWriter { state: seed, text: String::new() };
        writer.value(&json!({"kind": "AdmissionReview", "request": request}));
        let body = writer.text;

        let mut attributes = attributes(&body, context(&planted));
        let mut verdict = verdict(&planted, is_allowed);
        if let Some(document) = &mut attributes.object {
            let mut after = object.clone();
            change(&mut after, &planted);
            document.replace(after.clone()).unwrap();
            let changes = patch::diff(&object, &after);
            verdict.trace[0].patch = changes.clone();
            if is_allowed {
                verdict.patch = changes;
            }
        }
        let is_patched = attributes.object.is_some();
        let written = paths().write(&material(&body, attributes, verdict)).unwrap();

        // Nothing of what was planted is left.
        let whole: Value = serde_json::from_str(&written.line).unwrap();
        let mut all = Vec::new();
        texts(&whole, &mut all);
        texts(&serde_json::to_value(&written.summary).unwrap(), &mut all);
        all.push(written.line.clone());
        all.push(serde_json::to_string(&written.summary).unwrap());
        for one in &planted {
            // Only what was there can be known to be a secret.
            let is_there = match one.place {
                Place::Patch | Place::PatchEnv => is_patched,
                _ => true,
            };
            if !is_there {
                continue;
            }
            let secret = one.secret.as_str();
            let encoded = STANDARD_NO_PAD.encode(secret);
            let url_safe = URL_SAFE_NO_PAD.encode(secret);
            let in_json = serde_json::to_string(secret).unwrap();
            let in_json = &in_json[1..in_json.len() - 1];
            for needle in [
                secret,
                in_json,
                &encoded[..encoded.len() - 2],
                &url_safe[..url_safe.len() - 2],
            ] {
                for text in &all {
                    prop_assert!(!text.contains(needle), "{:?} in {}", one, text);
                }
            }
        }

        // Nothing else is lost.
        let decision = Decision::from_line(&written.line).unwrap();
        prop_assert!(!written.line.contains(['\n', '\r']));
        prop_assert_eq!(&decision.summary, &written.summary);
        let mut before: Value = serde_json::from_str(&body).unwrap();
        let mut after: Value = serde_json::from_str(decision.input.review_text()).unwrap();
        for pointer in decision.input.masked.iter().filter_map(|p| p.strip_prefix("/review")) {
            let was = before.pointer_mut(pointer).unwrap().take();
            prop_assert!(!was.is_boolean() && !was.is_null(), "{}", pointer);
            let is = after.pointer_mut(pointer).unwrap().take();
            prop_assert_eq!(was.is_string(), is == json!("(masked)"), "{}", pointer);
        }
        prop_assert_eq!(before, after);
        prop_assert_eq!(decision.patch.is_empty(), !(is_allowed && is_patched));
    }
}
