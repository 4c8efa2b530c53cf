//! `slsaVerify` with stand-ins for slsa-verifier.

use portcullis_core::HostFunction::SlsaVerify;
use portcullis_host::ExternalHost;
use serde_json::{Value, json};

use crate::script::Folder;
use crate::support::{call, pod, settings};

fn options() -> Value {
    json!({"SourceURI": "github.com/o/r", "BuilderID": "b", "ProvenancePath": "p.json"})
}

#[test]
fn true_when_every_image_is_fine() {
    let folder = Folder::new();
    let host = folder.slsa_verifier("printf '%s\\n' \"$@\" >> \"$D/seen\"");
    assert_eq!(
        call(&host, SlsaVerify, &[options()], &pod(&["a", "b:1"])),
        Ok(json!(true))
    );
    let one = |image| {
        format!(
            "verify-image\n--provenance-path\np.json\n--builder-id\nb\n--source-uri\ngithub.com/o/r\n--\n{image}\n"
        )
    };
    assert_eq!(folder.read("seen"), one("a") + &one("b:1"));
}

#[test]
fn the_words_of_the_verifier_come_first() {
    let folder = Folder::new();
    let host = folder.slsa_verifier("echo FAILED; exit 1");
    assert_eq!(
        call(&host, SlsaVerify, &[options()], &pod(&["a"])).unwrap_err(),
        "invoking the slsa-verifier cli failed: FAILED (slsa-verifier failed with exit code 1 for a)"
    );
    let host = ExternalHost::new(settings()).unwrap();
    let message = call(&host, SlsaVerify, &[options()], &pod(&["a"])).unwrap_err();
    assert!(
        message
            .starts_with("invoking the slsa-verifier cli failed: slsa-verifier can't be started"),
        "{message}"
    );
}

#[test]
fn one_bad_image_is_enough() {
    let folder = Folder::new();
    let host = folder.slsa_verifier("case \"$*\" in *bad*) echo FAILED >&2; exit 1;; esac");
    assert_eq!(
        call(&host, SlsaVerify, &[options()], &pod(&["good"])),
        Ok(json!(true))
    );
    assert!(call(&host, SlsaVerify, &[options()], &pod(&["good", "bad"])).is_err());
}

#[test]
fn options_are_complete_and_known() {
    let folder = Folder::new();
    let host = folder.slsa_verifier("touch \"$D/ran\"");
    let object = pod(&["a"]);
    for key in ["SourceURI", "BuilderID", "ProvenancePath"] {
        for value in [
            json!(null),
            json!(""),
            json!("-x"),
            json!(1),
            json!("a\u{0}"),
        ] {
            let mut given = options();
            given[key] = value;
            let message = call(&host, SlsaVerify, &[given], &object).unwrap_err();
            assert!(message.starts_with(key), "{message}");
        }
    }
    let mut unknown = options();
    unknown["SourceTag"] = json!("v1");
    let message = call(&host, SlsaVerify, &[unknown], &object).unwrap_err();
    assert!(message.contains("`SourceTag`"), "{message}");
    assert!(call(&host, SlsaVerify, &[], &object).is_err());
    assert!(call(&host, SlsaVerify, &[json!("x")], &object).is_err());
    assert!(!folder.path("ran").exists());

    let spelled = json!({"SourceUri": "s", "builderId": "b", "PROVENANCEPATH": "p"});
    assert_eq!(
        call(&host, SlsaVerify, &[spelled], &object),
        Ok(json!(true))
    );
}
