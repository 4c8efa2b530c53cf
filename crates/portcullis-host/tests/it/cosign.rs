//! `cosignVerify` with stand-ins for cosign.

use portcullis_core::HostFunction::CosignVerify;
use portcullis_host::{ExternalHost, HostSettings};
use serde_json::{Value, json};

use crate::script::Folder;
use crate::support::{call, pod, settings};

const OK: &str = "echo '[{\"critical\":{}}]'";

fn verify(host: &ExternalHost, images: &[&str]) -> Result<Value, String> {
    call(host, CosignVerify, &[json!("key.pub")], &pod(images))
}

#[test]
fn what_cosign_prints_by_image() {
    let folder = Folder::new();
    let host = folder.cosign(OK);
    let signatures = json!([{"critical": {}}]);
    assert_eq!(
        verify(&host, &["r.example/a:1", "b", "b"]),
        Ok(json!({"r.example/a:1": signatures, "b": signatures}))
    );
}

#[test]
fn arguments_are_exactly_these() {
    let folder = Folder::new();
    let script = format!("printf '%s\\n' \"$@\" >> \"$D/seen\"; {OK}");
    let host = ExternalHost::new(HostSettings {
        cosign: folder.script("cosign", &script),
        cosign_arguments: vec!["--insecure-ignore-tlog=true".to_owned()],
        ..settings()
    })
    .unwrap();
    let object = pod(&["r.example/a:1", "r.example/a:1", "b"]);
    call(&host, CosignVerify, &[json!("$(id)/k ey.pub")], &object).unwrap();
    let one = |image| {
        format!("verify\n--key\n$(id)/k ey.pub\n--insecure-ignore-tlog=true\n--\n{image}\n")
    };
    assert_eq!(folder.read("seen"), one("r.example/a:1") + &one("b"));
}

#[test]
fn a_failure_for_one_image_fails_all() {
    let folder = Folder::new();
    let host = folder.cosign(&format!(
        "case \"$*\" in *img2*) echo no signature >&2; exit 1;; esac\n{OK}"
    ));
    assert!(verify(&host, &["r.example/img1:1"]).is_ok());
    assert_eq!(
        verify(&host, &["r.example/img1:1", "r.example/img2:1"]).unwrap_err(),
        "invoking the cosign cli failed for r.example/img2:1: cosign failed with exit code 1: no signature"
    );
}

#[test]
fn failures_say_what_happened() {
    let folder = Folder::new();
    let failure = |script: &str| verify(&folder.cosign(script), &["a"]).unwrap_err();
    for (script, text) in [
        (
            "exit 3",
            "cosign failed with exit code 3 and printed nothing",
        ),
        ("kill -9 $$", "cosign was ended by signal 9"),
        ("echo out; echo err >&2; exit 1", "exit code 1: out err"),
        (
            "printf 'a\\033[1m\\tb\\000\\n' >&2; exit 1",
            "exit code 1: a[1m b",
        ),
        ("exit 0", "what it printed is not JSON"),
        ("echo true", "it printed no list of signatures"),
        ("echo '[]'", "it printed no list of signatures"),
        ("echo '{\"a\":[1]}'", "it printed no list of signatures"),
        ("echo '[{}] x'", "what it printed is not JSON"),
        ("echo '[{'", "what it printed is not JSON"),
        ("yes '['", "cosign printed more than 4 MiB"),
        ("yes x >&2", "cosign printed more than 4 MiB"),
    ] {
        let message = failure(script);
        assert!(message.contains(text), "{script}: {message}");
    }
}

#[test]
fn little_of_the_output_is_repeated() {
    let folder = Folder::new();
    let host = folder.cosign("yes spam | head -c 3000000 >&2; exit 1");
    let message = verify(&host, &["a"]).unwrap_err();
    assert!(message.contains("spam spam"), "{message}");
    assert!(message.chars().count() < 1200, "{}", message.len());
}

#[test]
fn much_on_both_outputs_blocks_nothing() {
    let folder = Folder::new();
    let host = folder.cosign(
        "yes | head -c 3000000 >&2; printf '['; yes 1, | head -c 3000000 | tr -d '\\n'; echo '1]'",
    );
    assert!(verify(&host, &["a"]).is_ok());
}

#[test]
fn a_missing_program() {
    let host = ExternalHost::new(settings()).unwrap();
    assert_eq!(
        verify(&host, &["a"]).unwrap_err(),
        "invoking the cosign cli failed for a: cosign can't be started: no such program"
    );
}

#[test]
fn nothing_odd_reaches_the_program() {
    let folder = Folder::new();
    let host = folder.cosign(&format!("touch \"$D/ran\"; {OK}"));
    for image in ["--help", "-h", "a b", "a\nb", "", "$(id)", "a;id"] {
        assert!(verify(&host, &[image]).is_err(), "{image}");
        assert!(verify(&host, &["good", image]).is_err(), "{image}");
    }
    let message = verify(&host, &["--help"]).unwrap_err();
    assert!(message.contains("`--help`"), "{message}");
    for key in [
        json!(null),
        json!(""),
        json!("-k"),
        json!("--help"),
        json!("a\nb"),
        json!(["k"]),
    ] {
        assert!(call(&host, CosignVerify, &[key], &pod(&["a"])).is_err());
    }
    assert!(call(&host, CosignVerify, &[], &pod(&["a"])).is_err());
    for object in [json!(null), json!({"kind": "Service"}), pod(&[])] {
        assert!(call(&host, CosignVerify, &[json!("k")], &object).is_err());
    }
    assert!(!folder.path("ran").exists());
}
