use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn refused(text: &str) -> JsonFault {
    scan(text.as_bytes()).expect_err(text)
}

#[test]
fn accepts_what_json_allows() {
    for text in [
        "{}",
        "[]",
        "null",
        " true ",
        "-0",
        "1.5e-3",
        "18446744073709551615",
        r#""\ud83d\ude00""#,
        r#"{"a":{"b":[1,{"a":2}]},"c":""}"#,
        "[[],{},[{}]]",
        "\"\u{7f}ü\"",
    ] {
        assert!(scan(text.as_bytes()).is_ok(), "{text}");
    }
}

#[test]
fn refuses_with_line_and_column() {
    let f = refused("{\n  \"kind\": \"x\",\n  \"request\": {,}\n}");
    assert_eq!(
        (f.line, f.column, f.message.as_str()),
        (3, 15, "expected a key in quotes")
    );
    assert_eq!(refused("").message, "expected a value, found nothing");
    assert_eq!(refused("{\"a\":1").message, "the text ends too early");
}

#[test]
fn refuses_a_key_twice_however_it_is_written() {
    for text in [
        r#"{"a":1,"a":2}"#,
        r#"{"x":{"a":1,"\u0061":2}}"#,
        r#"[{"":1,"":2}]"#,
    ] {
        assert!(refused(text).message.contains("duplicate key"), "{text}");
    }
    let mut many: Vec<String> = (0..100).map(|i| format!("\"k{i}\":1")).collect();
    assert!(scan(format!("{{{}}}", many.join(",")).as_bytes()).is_ok());
    many.push("\"k7\":1".into());
    assert_eq!(
        refused(&format!("{{{}}}", many.join(","))).message,
        "duplicate key `k7`"
    );
}

#[test]
fn refuses_a_key_twice_wherever_it_stands_and_however_long_it_is() {
    for length in 0..40 {
        let key = "k".repeat(length);
        for behind in ["", "          ", "                                        "] {
            let text = format!(r#"{{"{key}":1,"{key}":2}}{behind}"#);
            assert!(refused(&text).message.contains("duplicate key"), "{text}");
            let other = format!(r#"{{"{key}a":1,"{key}b":2,"{key}":3}}{behind}"#);
            assert!(scan(other.as_bytes()).is_ok(), "{other}");
        }
    }
}

#[test]
fn the_same_key_in_neighbouring_objects_is_fine() {
    assert!(scan(br#"[{"a":1},{"a":2},{"b":{"a":1},"a":3}]"#).is_ok());
}

#[test]
fn refuses_depth_numbers_text_behind_and_bad_strings() {
    assert!(
        refused(&"[".repeat(100_000))
            .message
            .contains("nested deeper")
    );
    let fine = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    assert!(serde_json::from_str::<Value>(&fine).is_ok() && scan(fine.as_bytes()).is_ok());
    for text in [
        "1e999",
        "01",
        "-",
        "1.",
        "1e",
        "+1",
        ".5",
        "NaN",
        "{} {}",
        "{}\0",
        "\"\n\"",
        r#""\x""#,
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\u12g4""#,
        r#""\u+123""#,
        "[1,]",
        "{\"a\":1,}",
        "tru",
        "{a:1}",
    ] {
        refused(text);
    }
    assert_eq!(
        scan(b"\"\xff\"").expect_err("utf-8").message,
        "invalid UTF-8"
    );
}

#[test]
fn finds_the_members_of_the_outer_objects() {
    let text = r#"{ "kind" : "R", "other": {"uid": "no"}, "request": {"uid": "u", "object": {"uid": 7}, "list": [{"uid": 8}]} }"#;
    let scanned = scan(text.as_bytes()).expect("valid");
    assert_eq!(scanned.member("kind"), Some("\"R\""));
    assert_eq!(scanned.member("uid"), None);
    let members: Vec<_> = scanned.members_of("request").collect();
    assert_eq!(
        members,
        [
            ("uid", "\"u\""),
            ("object", "{\"uid\": 7}"),
            ("list", "[{\"uid\": 8}]")
        ]
    );
}

proptest! {
    /// The scanner agrees with `serde_json` on everything but what it rejects on purpose.
    #[test]
    fn agrees_with_the_parser(text in r#"[\[\]{}:,"\\a-c0-9eEu.\- \ntrfalsn]{0,24}"#) {
        let parsed = serde_json::from_str::<Value>(&text);
        match scan(text.as_bytes()) {
            Ok(_) => prop_assert!(parsed.is_ok(), "{text:?}: scanned but not parsed"),
            Err(f) if f.message.contains("duplicate key") => {}
            Err(f) => prop_assert!(parsed.is_err(), "{text:?}: parsed but refused: {f}"),
        }
    }

    #[test]
    fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = scan(&bytes);
    }
}

#[test]
fn the_index_says_where_lists_and_objects_end() {
    let text = r#" {"a":[1,{"b":{}}],"c":"[{"} "#;
    let scanned = scan(text.as_bytes()).unwrap();
    let part = |start: usize| text.get(start..scanned.index().end_of(start)?);
    assert_eq!(part(1), Some(text.trim()));
    assert_eq!(part(6), Some(r#"[1,{"b":{}}]"#));
    assert_eq!(part(9), Some(r#"{"b":{}}"#));
    assert_eq!(part(0), None);
    assert_eq!(part(text.find("[{").unwrap()), None);
    assert_eq!(scanned.index().end_of(usize::MAX), None);
}
