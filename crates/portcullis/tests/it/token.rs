//! `portcullis token create`.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::access::{ask, folder};
use crate::harness::{Folder, Ran};

const TENANTS: &str = "- tenant: {name: t1}\n";

fn create(folder: &Folder, authenticator: &str, more: &[&str]) -> Ran {
    let base = ["token", "create", "--authenticator", authenticator];
    ask(folder, &[&base[..], &["--subject", "zoe"], more].concat())
}

/// What the only line of output says.
#[track_caller]
fn claims(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let lines: Vec<&str> = ran.out.lines().collect();
    let parts: Vec<&str> = lines[0].split('.').collect();
    assert_eq!((lines.len(), parts.len()), (1, 3), "{}", ran.out);
    let claims = BASE64_URL_SAFE_NO_PAD.decode(parts[1]).unwrap();
    serde_json::from_slice(&claims).unwrap()
}

fn seconds(claims: &Value) -> u64 {
    claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap()
}

#[test]
fn a_token_says_what_it_shall() {
    let folder = folder(TENANTS);
    let said = [
        "level=5",
        "groups=[\"a\",\"b\"]",
        "ok=true",
        "name=Zoe Z",
        "quoted=\"7\"",
        "eq=a=b",
    ];
    let more: Vec<&str> = said.iter().flat_map(|claim| ["--claim", claim]).collect();
    let ran = create(&folder, "our-institution", &more);
    let claims = claims(&ran);
    for (key, value) in [
        ("iss", json!("our-institution")),
        ("aud", json!("portal")),
        ("sub", json!("zoe")),
        ("level", json!(5)),
        ("groups", json!(["a", "b"])),
        ("ok", json!(true)),
        ("name", json!("Zoe Z")),
        ("quoted", json!("7")),
        ("eq", json!("a=b")),
        ("zuul", json!(null)),
    ] {
        assert_eq!(claims[key], value, "{claims}");
    }
    assert_eq!(seconds(&claims), 600);
    assert_eq!(
        ran.err,
        "issued by our-institution for zoe, expires in 10m\n"
    );
}

#[test]
fn its_end_is_given_in_seconds_or_as_a_duration() {
    let folder = folder(TENANTS);
    for (given, wanted) in [("90", 90), ("5m", 300), ("1h", 3600)] {
        let ran = create(&folder, "op", &["--expires-in", given]);
        assert_eq!(seconds(&claims(&ran)), wanted);
    }
    for given in ["0", "-5", "soon"] {
        let given = format!("--expires-in={given}");
        assert_eq!(create(&folder, "op", &[&given]).code, Some(2), "{given}");
    }
}

#[test]
fn only_who_may_say_so_makes_admins() {
    let folder = folder(TENANTS);
    let ran = create(&folder, "op", &["--tenant", "t1", "--tenant", "t2"]);
    assert_eq!(claims(&ran)["zuul"], json!({"admin": ["t1", "t2"]}));
    assert!(ran.err.contains("no tenant t2"), "{}", ran.err);
    assert!(!ran.err.contains("no tenant t1"), "{}", ran.err);
    let ran = create(&folder, "our-institution", &["--tenant", "t1"]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["our-institution", "allowAuthzOverride"]);
}

#[test]
fn what_can_not_be_made_is_told() {
    let folder = folder(TENANTS);
    let ran = create(&folder, "nosuch", &[]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["nosuch", "our-institution, op"]);
    for wrong in [
        &["--claim", "iss=me"][..],
        &["--claim", "zuul={}"],
        &["--claim", "novalue"],
        &["--claim", "a=1", "--claim", "a=2"],
    ] {
        let ran = create(&folder, "op", wrong);
        assert_eq!(ran.code, Some(2), "{wrong:?}: {}", ran.err);
        assert_eq!(ran.out, "");
    }
    let ran = ask(&folder, &["token", "create", "--authenticator", "op"]);
    assert_eq!(ran.code, Some(2));
    ran.says(&["--subject"]);
}

#[test]
fn who_makes_it_and_for_whom_need_not_be_said_where_there_is_one_answer() {
    let folder = folder(TENANTS);
    let ran = ask(
        &folder,
        &["token", "create", "--subject", "zoe", "--tenant", "t1"],
    );
    assert_eq!(claims(&ran)["iss"], "op", "only one makes admins");
    let ran = ask(&folder, &["token", "create", "--subject", "zoe"]);
    assert_eq!(ran.code, Some(2));
    ran.says(&["--authenticator", "op", "our-institution"]);
    let mut command = crate::harness::program(folder.root());
    command.args([
        "token",
        "create",
        "--authenticator",
        "op",
        "--config",
        "portcullis.yaml",
    ]);
    let output = command.env("USER", "yuri").output().unwrap();
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("for yuri"),
        "{output:?}"
    );
}
