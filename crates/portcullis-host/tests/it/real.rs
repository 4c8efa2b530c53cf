//! The real cosign and slsa-verifier, as `scripts/build-signature-tools` builds them.
//!
//! Skipped if they are not installed, unless `PORTCULLIS_REQUIRE_SIGNATURE_TOOLS` is set.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use portcullis_core::HostFunction::{CosignVerify, SlsaEnsureComingFrom, SlsaVerify};
use portcullis_host::{ExternalHost, HostSettings};
use serde_json::{Value, json};

use crate::built_in::built_in;
use crate::origin_world::{World, builds};
use crate::registry::Registry;
use crate::script::Folder;
use crate::signing::{self, PAYLOAD, SIGNATURE, Signer, TYPE, digest_of, sign};
use crate::support::{call, pod, settings};

/// Something that the build script makes; none, with a word about it, where it is missing.
#[allow(clippy::print_stdout, reason = "what is skipped is said")]
fn made(name: &str) -> Option<PathBuf> {
    let cache = std::env::var_os("PORTCULLIS_CACHE").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cache"));
    let path = cache.join("tools").join(name);
    if path.exists() {
        return Some(path);
    }
    let needed = std::env::var_os("PORTCULLIS_REQUIRE_SIGNATURE_TOOLS").is_some_and(|v| v == "1");
    assert!(
        !needed,
        "{} is missing: run scripts/build-signature-tools",
        path.display()
    );
    println!(
        "SKIPPED: {} is missing: run scripts/build-signature-tools",
        path.display()
    );
    None
}

fn with_cosign(cosign: &Path, arguments: &[&str]) -> ExternalHost {
    ExternalHost::new(HostSettings {
        cosign: cosign.to_owned(),
        cosign_arguments: arguments.iter().map(|a| (*a).to_owned()).collect(),
        ..settings()
    })
    .unwrap()
}

/// Has cosign do something in a folder.
fn cosign(program: &Path, folder: &Folder, arguments: &[&str]) {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder.path(""))
        .env("COSIGN_PASSWORD", "")
        .env("HOME", folder.path(""))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_signature_is_verified() {
    let Some(program) = made("bin/cosign") else {
        return;
    };
    let (folder, other) = (Folder::new(), Folder::new());
    cosign(&program, &folder, &["generate-key-pair"]);
    cosign(&program, &other, &["generate-key-pair"]);
    let registry = Registry::new();
    let (signed, unsigned) = (registry.image("signed"), registry.image("unsigned"));
    cosign(
        &program,
        &folder,
        &[
            "sign",
            "--yes",
            "--key",
            "cosign.key",
            "--tlog-upload=false",
            &signed,
        ],
    );

    let host = with_cosign(&program, &["--insecure-ignore-tlog=true"]);
    let verify = |key: &Folder, images: &[&str]| {
        let key = key.path("cosign.pub");
        call(
            &host,
            CosignVerify,
            &[json!(key.to_str().unwrap())],
            &pod(images),
        )
    };
    let found = verify(&folder, &[&signed]).unwrap();
    let (_, digest) = signed.split_once('@').unwrap();
    let critical = &found[signed.as_str()][0]["critical"];
    assert_eq!(
        critical["image"]["docker-manifest-digest"], digest,
        "{found}"
    );

    let message = verify(&folder, &[&signed, &unsigned]).unwrap_err();
    assert!(
        message.contains("cosign failed with exit code"),
        "{message}"
    );
    assert!(message.contains("no signatures found"), "{message}");
    let message = verify(&other, &[&signed]).unwrap_err();
    assert!(message.contains("no matching signatures"), "{message}");
}

/// What is put beside an image, and whether that is a signature of the key.
type Case = (&'static str, bool, fn(&Registry, &str, &Signer));

const CASES: &[Case] = &[
    ("signed", true, sign),
    ("unsigned", false, |_, _, _| {}),
    ("of another key", false, |registry, image, _| {
        sign(registry, image, &Signer::p256());
    }),
    ("of another image", false, |registry, image, signer| {
        sign_text(
            registry,
            image,
            signer,
            &payload(registry.image("x").as_str(), &Value::Null),
        );
    }),
    ("not about an image", false, |registry, image, signer| {
        sign_text(registry, image, signer, b"{}");
    }),
    ("not JSON", false, |registry, image, signer| {
        sign_text(registry, image, signer, b"text");
    }),
    ("without a signature", false, |registry, image, _| {
        let payload = payload(image, &Value::Null);
        registry.signatures(image, &[(PAYLOAD, &payload, json!({}))]);
    }),
    ("not base64", false, |registry, image, _| {
        let payload = payload(image, &Value::Null);
        registry.signatures(image, &[(PAYLOAD, &payload, json!({SIGNATURE: "%%%"}))]);
    }),
    ("forged", false, |registry, image, signer| {
        sign(registry, image, signer);
        let good = payload(image, &Value::Null);
        registry.forge(&good, &good.to_ascii_uppercase());
    }),
    ("one of two", true, |registry, image, signer| {
        let payload = payload(image, &Value::Null);
        let (bad, good) = (Signer::p256().sign(&payload), signer.sign(&payload));
        registry.signatures(
            image,
            &[
                (PAYLOAD, &payload, json!({SIGNATURE: bad})),
                (PAYLOAD, &payload, json!({SIGNATURE: good})),
            ],
        );
    }),
    ("with annotations", true, |registry, image, signer| {
        sign_text(registry, image, signer, &payload(image, &json!({"a": "b"})));
    }),
];

fn payload(image: &str, optional: &Value) -> Vec<u8> {
    signing::payload(digest_of(image), TYPE, optional)
}

fn sign_text(registry: &Registry, image: &str, signer: &Signer, text: &[u8]) {
    let signature = signer.sign(text);
    registry.signatures(image, &[(PAYLOAD, text, json!({SIGNATURE: signature}))]);
}

#[test]
fn both_verifiers_agree() {
    let Some(program) = made("bin/cosign") else {
        return;
    };
    let folder = Folder::new();
    for (index, signer) in [Signer::p256(), Signer::ed25519(), Signer::rsa()]
        .iter()
        .enumerate()
    {
        let key = signer.key(&folder, &format!("{index}.pub"));
        let key = json!(key.to_str().unwrap());
        for (name, is_good, put) in CASES {
            let registry = Registry::new();
            let image = registry.image(name);
            put(&registry, &image, signer);
            let tagged = registry.tag(&image, "1");
            for arguments in [
                &["--insecure-ignore-tlog=true"][..],
                &["--insecure-ignore-tlog=true", "--annotations=a=b"],
            ] {
                let hosts = [
                    with_cosign(&program, arguments),
                    built_in(&[registry.url()], arguments),
                ];
                for image in [&image, &tagged] {
                    let [theirs, ours] = hosts.each_ref().map(|host| {
                        call(
                            host,
                            CosignVerify,
                            std::slice::from_ref(&key),
                            &pod(&[image]),
                        )
                    });
                    assert_eq!(ours.is_ok(), theirs.is_ok(), "{name}: {ours:?} {theirs:?}");
                    let wants_annotation = arguments.len() > 1;
                    let is_good = *is_good && (!wants_annotation || *name == "with annotations");
                    assert_eq!(ours.is_ok(), is_good, "{name}: {ours:?}");
                    if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
                        let critical = |found: &Value| found[image.as_str()][0]["critical"].clone();
                        assert_eq!(critical(&ours), critical(&theirs), "{name}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_cosign_signs_is_verified_without_it() {
    let Some(program) = made("bin/cosign") else {
        return;
    };
    let folder = Folder::new();
    cosign(&program, &folder, &["generate-key-pair"]);
    let registry = Registry::new();
    let image = registry.image("signed");
    let sign = [
        "sign",
        "--yes",
        "--key",
        "cosign.key",
        "--tlog-upload=false",
        "-a",
        "env=prod",
    ];
    cosign(&program, &folder, &[&sign[..], &[&image]].concat());
    let key = json!(folder.path("cosign.pub").to_str().unwrap());
    for (arguments, is_good) in [
        (&["--insecure-ignore-tlog=true"][..], true),
        (&["--insecure-ignore-tlog=true", "-a=env=prod"], true),
        (&["--insecure-ignore-tlog=true", "-a=env=test"], false),
        (&[], false),
    ] {
        let host = built_in(&[registry.url()], arguments);
        let found = call(
            &host,
            CosignVerify,
            std::slice::from_ref(&key),
            &pod(&[&image]),
        );
        assert_eq!(found.is_ok(), is_good, "{arguments:?}: {found:?}");
    }
}

#[test]
fn cosign_takes_our_arguments_and_fails_in_its_own_words() {
    let Some(program) = made("bin/cosign") else {
        return;
    };
    let folder = Folder::new();
    cosign(&program, &folder, &["generate-key-pair"]);
    let key = json!(folder.path("cosign.pub").to_str().unwrap());
    let host = with_cosign(&program, &["--insecure-ignore-tlog=true"]);
    let message = call(
        &host,
        CosignVerify,
        std::slice::from_ref(&key),
        &pod(&["127.0.0.1:1/app:1"]),
    )
    .unwrap_err();
    assert!(
        message.contains("cosign failed with exit code 1"),
        "{message}"
    );
    assert!(message.contains("connection refused"), "{message}");
    assert!(!message.contains("unknown"), "{message}");
    let message = call(
        &host,
        CosignVerify,
        &[json!("/nonexistent.pub")],
        &pod(&["127.0.0.1:1/app:1"]),
    )
    .unwrap_err();
    assert!(message.contains("no such file"), "{message}");
    let message = call(&host, CosignVerify, &[key], &pod(&["--help"])).unwrap_err();
    assert!(message.contains("`--help` is not a reference"), "{message}");
    // It would take it for an image, not for a flag.
    let output = Command::new(&program)
        .args([
            "verify",
            "--key",
            "k",
            "--insecure-ignore-tlog=true",
            "--",
            "--help",
        ])
        .output()
        .unwrap();
    assert!(!output.status.success());
}

/// A provenance, its image, and the repository it names.
fn provenance() -> Option<(PathBuf, Value, String)> {
    let path = made("provenance.json")?;
    let document: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let image = document["image_summary"]["fully_qualified_digest"]
        .as_str()
        .unwrap()
        .to_owned();
    Some((path, document, image))
}

const REPOSITORY: &str = "github.com/laurentsimon/gcb-tests";

#[test]
fn a_provenance_is_verified() {
    let (Some(program), Some((path, _, image))) = (made("bin/slsa-verifier"), provenance()) else {
        return;
    };
    let host = ExternalHost::new(HostSettings {
        slsa_verifier: program,
        ..settings()
    })
    .unwrap();
    let verify = |source: &str, path: &Path, image: &str| {
        let options = json!({"SourceURI": source, "ProvenancePath": path.to_str().unwrap(),
            "BuilderID": "https://cloudbuild.googleapis.com/GoogleHostedWorker"});
        call(&host, SlsaVerify, &[options], &pod(&[image]))
    };
    assert_eq!(verify(REPOSITORY, &path, &image), Ok(json!(true)));

    let failed = "invoking the slsa-verifier cli failed: ";
    let message = verify("github.com/other/gcb-tests", &path, &image).unwrap_err();
    assert!(message.starts_with(failed), "{message}");
    assert!(
        message.contains("source used to generate the binary does not match provenance"),
        "{message}"
    );
    let (name, _) = image.split_once('@').unwrap();
    let other = format!("{name}@sha256:{}", "0".repeat(64));
    assert!(
        verify(REPOSITORY, &path, &other)
            .unwrap_err()
            .contains("does not match provenance subject")
    );
    let folder = Folder::new();
    let bogus = folder.script("bogus.json", "{}");
    let message = verify(REPOSITORY, &bogus, &image).unwrap_err();
    assert!(
        message.contains("FAILED: SLSA verification failed"),
        "{message}"
    );
    assert!(!message.contains("unknown flag"), "{message}");
    assert!(
        verify(REPOSITORY, Path::new("/nonexistent"), &image)
            .unwrap_err()
            .contains("no such file")
    );
}

#[test]
fn the_origin_of_an_image_is_verified() {
    let (Some(program), Some((_, document, image))) = (made("bin/slsa-verifier"), provenance())
    else {
        return;
    };
    let occurrence = document["provenance_summary"]["provenance"][0].clone();
    let entry = "us-west2-docker.pkg.dev/$PROJECT_ID/quickstart-docker-repo/quickstart-image:v1";
    let files = [
        (
            "/laurentsimon/gcb-tests/main/cloudbuild.yaml",
            builds(&[entry]),
        ),
        ("/other/gcb-tests/main/cloudbuild.yaml", builds(&[entry])),
    ];
    let world = World::new(&files, vec![json!({"occurrences": [occurrence]})]);
    let host = world.host(&program);
    let ensure = |repository: &str| {
        call(
            &host,
            SlsaEnsureComingFrom,
            &[json!([repository])],
            &pod(&[&image]),
        )
    };
    assert_eq!(ensure(REPOSITORY), Ok(json!(true)));
    let message = ensure("github.com/other/gcb-tests").unwrap_err();
    assert!(
        message.contains("source used to generate the binary does not match provenance"),
        "{message}"
    );
}
