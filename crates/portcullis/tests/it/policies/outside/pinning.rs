//! The example that pins images to the digests that a stand-in for cosign verified.

use serde_json::{Value, json};

use crate::harness::{Acjs, AcjsSetup, Verdict, acjs, repository};
use crate::policies::review_of;

/// Prints a signature for the digest that the registry has now, which the file `digest` says.
const COSIGN: &str = r#"echo "$@" >> "$HOME/calls"
case "$*" in *bad*) echo 'no signatures found' >&2; exit 1;; esac
echo "[{\"critical\":{\"identity\":{},\"image\":{\"docker-manifest-digest\":\"$(cat "$HOME/digest")\"},\"type\":\"cosign container image signature\"},\"optional\":{}}]""#;

fn digest(n: u8) -> String {
    format!("sha256:{}", format!("{n:02x}").repeat(32))
}

fn server() -> Acjs {
    let mut config = acjs(&[]);
    let example = repository().join("examples/policies/signed");
    config["policyDirs"] = json!([example.to_str().unwrap()]);
    config["defaultAction"] = json!("allow");
    let server = AcjsSetup::new(config).tool("cosign", COSIGN).start();
    server.folder.write("digest", digest(1));
    server
}

fn deployment(images: &[&str]) -> Value {
    let containers = images.iter().enumerate();
    let containers = containers.map(|(n, image)| json!({"name": format!("c{n}"), "image": image}));
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"containers": containers.collect::<Vec<_>>()}}}})
}

fn ask(server: &Acjs, object: &Value) -> Verdict {
    let kind = json!({"group": "apps", "version": "v1", "kind": "Deployment"});
    server.ask(&review_of(object).set("kind", kind))
}

#[test]
fn what_was_verified_is_what_will_be_pulled() {
    let server = server();
    let before = deployment(&["r.example/a:1", "r.example/b:2"]);
    let verdict = ask(&server, &before);
    verdict.allowed();
    let after = verdict.patched(&before);
    let pinned = |image: &str| format!("{image}@{}", digest(1));
    let images = [pinned("r.example/a:1"), pinned("r.example/b:2")];
    assert_eq!(after, deployment(&[&images[0], &images[1]]));
    let calls = std::fs::read_to_string(server.folder.path("calls")).unwrap();
    assert!(
        calls.contains("verify --key /etc/portcullis/cosign.pub -- r.example/a:1\n"),
        "{calls}"
    );

    // Once more as the API server stores it: nothing is left to change.
    let verdict = ask(&server, &after);
    verdict.allowed();
    assert_eq!(verdict.patch(), None);

    // The digest that was asked for is not the one that was signed.
    server.folder.write("digest", digest(2));
    ask(&server, &after).denied("was verified as sha256:0202");
}

#[test]
fn an_image_without_a_signature_is_refused() {
    let verdict = ask(
        &server(),
        &deployment(&["r.example/a:1", "r.example/bad:1"]),
    );
    verdict.denied("no signatures found");
    assert_eq!(verdict.patch(), None);
}
