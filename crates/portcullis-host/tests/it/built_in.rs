//! `cosignVerify` without a program.

use std::path::Path;
use std::sync::Arc;

use portcullis_core::HostFunction::CosignVerify;
use portcullis_host::{ExternalHost, HostSettings, RegistrySettings, SignatureVerifier};
use portcullis_testing::{Pki, Reply, Request, Server};
use serde_json::{Value, json};

use crate::registry::{Registry, digest};
use crate::script::Folder;
use crate::signing::{PAYLOAD, SIGNATURE, Signer, TYPE, digest_of, payload, sign};
use crate::support::{call, call_until, pod, settings, soon};

/// A host that verifies by itself, and may ask these servers.
pub(crate) fn built_in(allow: &[String], arguments: &[&str]) -> ExternalHost {
    with(
        RegistrySettings {
            allow: allow.to_vec(),
            ..RegistrySettings::default()
        },
        arguments,
    )
}

fn with(registries: RegistrySettings, arguments: &[&str]) -> ExternalHost {
    ExternalHost::new(HostSettings {
        signature_verifier: SignatureVerifier::BuiltIn,
        cosign_arguments: arguments.iter().map(|a| (*a).to_owned()).collect(),
        registries,
        ..settings()
    })
    .unwrap()
}

const NO_LOG: &[&str] = &["--insecure-ignore-tlog=true"];

fn verify(host: &ExternalHost, key: &Path, images: &[&str]) -> Result<Value, String> {
    let key = json!(key.to_str().unwrap());
    call(host, CosignVerify, &[key], &pod(images))
}

#[test]
fn every_kind_of_key() {
    for signer in [Signer::p256(), Signer::ed25519(), Signer::rsa()] {
        let (registry, folder) = (Registry::new(), Folder::new());
        let image = registry.image("app");
        sign(&registry, &image, &signer);
        let host = built_in(&[registry.url()], NO_LOG);
        let found = verify(&host, &signer.key(&folder, "key.pub"), &[&image]).unwrap();
        let critical = &found[image.as_str()][0]["critical"];
        assert_eq!(
            critical["image"]["docker-manifest-digest"],
            digest_of(&image)
        );
    }
}

#[test]
fn a_tag_is_what_it_stands_for_now() {
    let (registry, folder, signer) = (Registry::new(), Folder::new(), Signer::p256());
    let (signed, other) = (registry.image("signed"), registry.image("other"));
    sign(&registry, &signed, &signer);
    let tagged = registry.tag(&signed, "1");
    let host = built_in(&[registry.url()], NO_LOG);
    let key = signer.key(&folder, "key.pub");
    let found = verify(&host, &key, &[&tagged]).unwrap();
    let critical = &found[tagged.as_str()][0]["critical"];
    assert_eq!(
        critical["image"]["docker-manifest-digest"],
        digest_of(&signed)
    );
    registry.tag(&other, "1");
    let error = verify(&host, &key, &[&tagged]).unwrap_err();
    assert!(error.ends_with("no signatures found"), "{error}");
    let missing = tagged.replace(":1", ":2");
    let error = verify(&host, &key, &[&missing]).unwrap_err();
    assert!(
        error.contains("image tag not found: 2") || error.contains("not found"),
        "{error}"
    );
}

#[test]
fn verified_signatures_are_remembered_for_a_while_and_failures_are_not() {
    let (registry, folder, signer) = (Registry::new(), Folder::new(), Signer::p256());
    let image = registry.image("app");
    let host = built_in(&[registry.url()], NO_LOG);
    let key = signer.key(&folder, "key.pub");
    assert!(verify(&host, &key, &[&image]).is_err());
    sign(&registry, &image, &signer);
    assert!(verify(&host, &key, &[&image]).is_ok());
    let asked = registry.requests().len();
    assert!(verify(&host, &key, &[&image]).is_ok());
    assert_eq!(registry.requests().len(), asked);
    // Another key is another question.
    let other = Signer::p256().key(&folder, "other.pub");
    let error = verify(&host, &other, &[&image]).unwrap_err();
    assert!(error.contains("no matching signatures"), "{error}");
}

/// Puts a signature of a text beside an image.
type Build<'a> = dyn Fn(&Registry, &str, &[u8], String) + 'a;

#[test]
fn signatures_that_do_not_count() {
    let (folder, signer) = (Folder::new(), Signer::p256());
    let key = signer.key(&folder, "key.pub");
    let other = format!("sha256:{}", "0".repeat(64));
    let error = |build: &Build<'_>| {
        let registry = Registry::new();
        let image = registry.image("app");
        let payload = payload(digest_of(&image), TYPE, &Value::Null);
        build(&registry, &image, &payload, signer.sign(&payload));
        let host = built_in(&[registry.url()], NO_LOG);
        verify(&host, &key, &[&image]).unwrap_err()
    };
    for (build, words) in [
        (
            &(|r: &Registry, i: &str, p: &[u8], _: String| {
                r.signatures(i, &[(PAYLOAD, p, json!({}))])
            }) as &Build<'_>,
            "a signature is missing",
        ),
        (
            &|r, i, p, _| r.signatures(i, &[(PAYLOAD, p, json!({SIGNATURE: "%"}))]),
            "not base64",
        ),
        (
            &|r, i, p, _| r.signatures(i, &[(PAYLOAD, p, json!({SIGNATURE: ""}))]),
            "invalid signature",
        ),
        (
            &|r, i, _, s| r.signatures(i, &[(PAYLOAD, b"{}", json!({SIGNATURE: s}))]),
            "invalid signature",
        ),
        (
            &|r, i, p, s| r.signatures(i, &[("text/plain", p, json!({SIGNATURE: s}))]),
            "not a simple signing payload",
        ),
        (
            &|r, i, p, s| {
                let annotations = json!({SIGNATURE: s, "dev.sigstore.cosign/certificate": "x"});
                r.signatures(i, &[(PAYLOAD, p, annotations)]);
            },
            "certificate",
        ),
        (
            &|r, i, _, _| {
                let other = payload(&other, TYPE, &Value::Null);
                let signature = signer.sign(&other);
                r.signatures(i, &[(PAYLOAD, &other, json!({SIGNATURE: signature}))]);
            },
            "invalid or missing digest in claim",
        ),
        (
            &|r, i, _, _| {
                let other = payload(digest_of(i), "another type", &Value::Null);
                let signature = signer.sign(&other);
                r.signatures(i, &[(PAYLOAD, &other, json!({SIGNATURE: signature}))]);
            },
            "unknown type",
        ),
        (
            &|r, i, p, s| {
                r.signatures(i, &[(PAYLOAD, p, json!({SIGNATURE: s}))]);
                let mut forged = p.to_vec();
                forged[0] = b' ';
                r.forge(p, &forged);
            },
            "has another digest or size",
        ),
        (&|r, i, _, _| r.signatures(i, &[]), "no signatures found"),
        (
            &|r, i, p, s| {
                let one = (PAYLOAD, p, json!({SIGNATURE: s}));
                r.signatures(i, &vec![one; 65]);
            },
            "more than 64 signatures",
        ),
    ] {
        let error = error(build);
        assert!(error.contains(words), "{words}: {error}");
    }
}

#[test]
fn one_good_signature_among_others_is_enough() {
    let (registry, folder, signer) = (Registry::new(), Folder::new(), Signer::p256());
    let image = registry.image("app");
    let payload = payload(digest_of(&image), TYPE, &json!({"env": "prod"}));
    let (bad, good) = (Signer::p256().sign(&payload), signer.sign(&payload));
    registry.signatures(
        &image,
        &[
            (PAYLOAD, &payload, json!({SIGNATURE: bad})),
            (PAYLOAD, &payload, json!({SIGNATURE: good})),
        ],
    );
    let key = signer.key(&folder, "key.pub");
    let check = |arguments: &[&str]| {
        let host = built_in(&[registry.url()], &[NO_LOG, arguments].concat());
        verify(&host, &key, &[&image])
    };
    assert_eq!(
        check(&[]).unwrap()[image.as_str()]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert!(check(&["-a=env=prod"]).is_ok());
    assert!(check(&["-a=env=test"]).unwrap_err().contains("annotation"));
}

#[test]
fn the_log_and_arguments_without_a_meaning_here() {
    let (registry, folder, signer) = (Registry::new(), Folder::new(), Signer::p256());
    let image = registry.image("app");
    sign(&registry, &image, &signer);
    let key = signer.key(&folder, "key.pub");
    for (arguments, words) in [
        (&[][..], "can't check the transparency log"),
        (
            &["--insecure-ignore-tlog=true", "--offline=true"],
            "does not support the argument `--offline`",
        ),
    ] {
        let host = built_in(&[registry.url()], arguments);
        let error = verify(&host, &key, &[&image]).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    let host = built_in(&[registry.url()], NO_LOG);
    for (key, words) in [
        ("/nonexistent.pub", "no such file"),
        ("k8s://a/b", "install cosign"),
        ("/dev/null", "cannot read the key"),
    ] {
        let error = call(&host, CosignVerify, &[json!(key)], &pod(&[&image])).unwrap_err();
        assert!(error.to_lowercase().contains(words), "{error}");
    }
    assert!(registry.requests().is_empty());
}

#[test]
fn registries_are_public_unless_they_are_listed() {
    let (registry, folder, signer) = (Registry::new(), Folder::new(), Signer::p256());
    let image = registry.image("app");
    sign(&registry, &image, &signer);
    let key = signer.key(&folder, "key.pub");
    let error = verify(&built_in(&[], NO_LOG), &key, &[&image]).unwrap_err();
    assert!(
        error.contains("private and loopback addresses are not allowed"),
        "{error}"
    );
    assert!(registry.requests().is_empty());
    // Listed for TLS, which it does not speak.
    let place = registry.url().replace("http://", "");
    assert!(verify(&built_in(&[place], NO_LOG), &key, &[&image]).is_err());
}

/// A registry over TLS that wants a token of its own token service.
fn guarded(pki: &Pki, good: Arc<Registry>) -> Server {
    let server = Server::https(&pki.server, |_| Reply::Hang);
    let realm = format!("{}/token", server.url());
    server.answer(move |seen| {
        let (path, _) = seen.target().split_once('?').unwrap_or((seen.target(), ""));
        if path == "/token" {
            return match seen.header("authorization") {
                Some("Basic dTpw") => Reply::json(&json!({"token": "good"})),
                _ => Reply::Status(401, "", String::new()),
            };
        }
        if seen.token() != Some("good") {
            let head = format!("WWW-Authenticate: Bearer realm=\"{realm}\",service=\"s\"\r\n");
            return Reply::with("401 Unauthorized", &head, b"{}");
        }
        good.reply(seen)
    });
    server
}

#[test]
fn tokens_come_from_the_token_service() {
    let (pki, folder, signer) = (Pki::new(), Folder::new(), Signer::p256());
    let registry = Arc::new(Registry::new());
    let image = registry.image("app");
    sign(&registry, &image, &signer);
    let server = guarded(&pki, Arc::clone(&registry));
    let image = format!("{}/app@{}", server.place(), digest_of(&image));
    let key = signer.key(&folder, "key.pub");
    let host = |config: Option<Value>| {
        with(
            RegistrySettings {
                allow: vec![server.place()],
                authorities: Some(pki.authority.certificate_pem.clone().into_bytes()),
                docker_config: config.map(|config| config.to_string().into_bytes()),
            },
            NO_LOG,
        )
    };
    let config = json!({"auths": {server.place(): {"auth": "dTpw"}}});
    assert!(verify(&host(Some(config)), &key, &[&image]).is_ok());
    let tokens: Vec<Request> = server.requests();
    let token = tokens
        .iter()
        .find(|seen| seen.target().starts_with("/token"))
        .unwrap();
    assert!(
        token.target().contains("scope=repository%3Aapp%3Apull"),
        "{}",
        token.target()
    );
    assert!(token.target().contains("service=s"));
    let error = verify(&host(None), &key, &[&image]).unwrap_err();
    assert!(
        error.contains("no token for repository:app:pull: status 401"),
        "{error}"
    );
    assert!(!error.contains("dTpw"));
}

#[test]
fn blobs_may_be_elsewhere_and_credentials_stay() {
    let (pki, folder, signer) = (Pki::new(), Folder::new(), Signer::p256());
    let registry = Arc::new(Registry::new());
    let image = registry.image("app");
    sign(&registry, &image, &signer);
    let storage = {
        let good = Arc::clone(&registry);
        Server::https(&pki.server, move |seen| good.reply(seen))
    };
    let server = guarded(&pki, Arc::clone(&registry));
    let (front, place) = (Server::https(&pki.server, |_| Reply::Hang), storage.url());
    let realm = format!("{}/token", server.url());
    let good = Arc::clone(&registry);
    front.answer(move |seen| {
        if seen.token() != Some("good") {
            let head = format!("WWW-Authenticate: Bearer realm=\"{realm}\"\r\n");
            return Reply::with("401 Unauthorized", &head, b"{}");
        }
        match seen.target().contains("/blobs/") {
            true => Reply::with(
                "307 Temporary Redirect",
                &format!("Location: {place}{}?signed=secret\r\n", seen.target()),
                b"",
            ),
            false => good.reply(seen),
        }
    });
    let image = format!("{}/app@{}", front.place(), digest_of(&image));
    let key = signer.key(&folder, "key.pub");
    let host = |allow: Vec<String>| {
        let config = json!({"auths": {front.place(): {"auth": "dTpw"}}});
        with(
            RegistrySettings {
                allow,
                authorities: Some(pki.authority.certificate_pem.clone().into_bytes()),
                docker_config: Some(config.to_string().into_bytes()),
            },
            NO_LOG,
        )
    };
    let all = vec![front.place(), storage.place(), server.place()];
    verify(&host(all), &key, &[&image]).unwrap();
    let fetched = storage.requests();
    assert!(!fetched.is_empty());
    assert!(
        fetched
            .iter()
            .all(|seen| seen.header("authorization").is_none())
    );
    // A registry can't send us where the configuration does not.
    let error = verify(&host(vec![front.place(), server.place()]), &key, &[&image]).unwrap_err();
    assert!(
        error.contains("private and loopback addresses are not allowed"),
        "{error}"
    );
    assert!(!error.contains("secret"), "{error}");
}

#[test]
fn registries_that_misbehave() {
    let (folder, signer) = (Folder::new(), Signer::p256());
    let key = signer.key(&folder, "key.pub");
    let digest = digest(b"x");
    let huge = json!({"layers": [{"mediaType": PAYLOAD, "digest": digest, "size": 1_u64 << 40,
        "annotations": {SIGNATURE: "YQ=="}}]});
    let odd = json!({"layers": [{"mediaType": PAYLOAD, "digest": "sha256:../../x", "size": 1,
        "annotations": {SIGNATURE: "YQ=="}}]});
    for (reply, words) in [
        (Reply::Hang, "before the deadline"),
        (Reply::Raw(b"garbage\r\n\r\n".to_vec()), "request failed"),
        (Reply::with("500 Oops", "", b"oops"), "status 500: oops"),
        (
            Reply::with("301 Moved", "Location: http://169.254.169.254/\r\n", b""),
            "status 301",
        ),
        (
            Reply::with("401 Unauthorized", "", b""),
            "without a challenge",
        ),
        (
            Reply::with(
                "401 Unauthorized",
                "WWW-Authenticate: Bearer realm=\"http://169.254.169.254/\"\r\n",
                b"",
            ),
            "only https:// is allowed",
        ),
        (
            Reply::with(
                "401 Unauthorized",
                "WWW-Authenticate: Basic realm=\"r\"\r\n",
                b"",
            ),
            "no credentials for it",
        ),
        (
            Reply::with("200 OK", "Docker-Content-Digest: sha256:0\r\n", b"{}"),
            "another digest than it says",
        ),
        (
            Reply::with("200 OK", "", &vec![b'['; 5 << 20]),
            "more than 4194304 bytes",
        ),
        (
            Reply::with("200 OK", "", &vec![b'['; 1 << 20]),
            "can't be read",
        ),
        (Reply::with("200 OK", "", b"{}"), "no signatures found"),
        (Reply::json(&huge), "is larger than"),
        (Reply::json(&odd), "invalid digest"),
    ] {
        let server = Server::http(move |_| reply.clone());
        let host = built_in(&[server.url()], NO_LOG);
        let image = format!("{}/app@{digest}", server.place());
        let arguments = [json!(key.to_str().unwrap())];
        let deadline = soon(1500);
        let error = call_until(&host, CosignVerify, &arguments, &pod(&[&image]), deadline);
        let error = error.unwrap_err();
        assert!(error.contains(words), "{words}: {error}");
    }
}
