//! No text crashes the process.

use portcullis_script::{Language, prepare};
use proptest::prelude::*;

/// Something that nests, how often it may be repeated, and how it ends.
const DEEP: &[(&str, &str, &str, usize)] = &[
    ("(", "a", ")", 250),
    ("[", "a", "]", 250),
    ("({a:", "1", "})", 120),
    ("{", ";", "}", 250),
    ("`${", "a", "}`", 120),
    ("()=>{", "a", "}", 120),
    ("function f(){", "", "}", 120),
    ("class A{a=class{b(){", "", "}}}", 80),
    ("!", "a", "", 3900),
    ("- ", "a", "", 3900),
    ("a+", "a", "", 1900),
    ("a=", "a", "", 1900),
    ("a**", "a", "", 1300),
    ("a.", "a", "", 1900),
    ("a?a:", "a", "", 950),
    ("a=>", "a", "", 1900),
    ("if(a)", "b", "", 1300),
    ("if(a)b;else ", "b", "", 3900),
    ("if(a){}else ", "b", "", 900),
    ("while(a)", "b", "", 1300),
    ("do ", "b", ";while(a)", 700),
    ("typeof ", "b", "", 3900),
    ("new ", "b", "", 3900),
    ("a()", "", "", 1),
    ("a:", "b", "", 1),
    ("let a:A<", "B", ">", 3000),
    ("let a:", "B", "[]", 1200),
    ("let a:keyof ", "B", "", 1),
    ("class A extends ", "B", "{}", 600),
    ("<T>(", "a", ")", 8),
    ("(a:(", "b", ")=>1)=>1", 60),
    ("a?(b):(", "c", ")", 120),
    ("x`", "", "`", 1),
];

#[test]
fn deep_texts_are_read_or_refused() {
    for (open, middle, close, times) in DEEP {
        // As deep as is let through, and far deeper.
        for times in [*times, 10_000] {
            let text = format!("{}{middle}{}", open.repeat(times), close.repeat(times));
            let type_of = format!("let a: {};", text.replace("let a:", ""));
            for text in [text, type_of] {
                for language in [Language::JavaScript, Language::TypeScript] {
                    if let Ok(script) = prepare(&text, language) {
                        script.with_marks(0);
                    }
                }
            }
        }
    }
}

#[test]
fn texts_at_the_bounds_are_read() {
    for (text, language) in [
        (
            "(".repeat(250) + "a" + &")".repeat(250),
            Language::TypeScript,
        ),
        ("!".repeat(3900) + "a", Language::TypeScript),
        ("if(a)b;else ".repeat(1900) + "b", Language::TypeScript),
        ("a+".repeat(1900) + "a", Language::TypeScript),
        ("a=>".repeat(1200) + "a", Language::TypeScript),
    ] {
        let script = prepare(&text, language);
        assert!(script.is_ok(), "{text:.20} {script:?}");
        assert!(!script.unwrap().with_marks(0).1.is_empty(), "{text:.20}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn no_text_is_too_odd(parts in prop::collection::vec(prop::sample::select(vec![
        "import ", "export ", "default ", "{", "}", "(", ")", "a", " from ", "'b'", "*", " as ",
        "function ", "class ", "=", "=>", ";", "\n", "/", "`", "${", "\"", "//", "/*", "*/", "\\",
        "type ", ":", "<", ">", ",", "é", "𝒳", "\u{2028}", "\r\n", "await ", "return ", "async ",
        "let ", "enum ", "!", "?", ".", "[", "]", "#", "@", "1", "if", "else ", "\u{feff}", "policy",
    ]), 0..40)) {
        let text: String = parts.concat();
        for language in [Language::JavaScript, Language::TypeScript] {
            match prepare(&text, language) {
                Ok(script) => {
                    let lines = |text: &str| text.matches('\n').count();
                    prop_assert_eq!(lines(script.code()), lines(&text));
                    prop_assert_eq!(lines(&script.with_marks(0).0), lines(&text));
                }
                Err(faults) => {
                    prop_assert!(!faults.is_empty());
                    let gave_up = faults.iter().any(|f| f.message.contains("the parser failed"));
                    prop_assert!(!gave_up, "{:?}", text);
                }
            }
        }
    }
}
