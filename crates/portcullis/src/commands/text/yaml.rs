//! JSON data as YAML, for commands.

pub(in crate::commands) use portcullis_document::yaml::write;

#[cfg(test)]
mod tests {
    use portcullis_core::text::is_odd;
    use portcullis_document::Source;
    use portcullis_gate::offline::read_documents;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    /// What a manifest of this text holds.
    #[track_caller]
    fn read_back(text: &str) -> Value {
        assert!(!text.contains(|c: char| is_odd(c) && c != '\n'), "{text:?}");
        let items = read_documents(&Source::text_named("out", text), "default");
        assert_eq!(items.len(), 1, "{text}");
        let read = items.into_iter().next().unwrap().into_manifest();
        read.unwrap_or_else(|f| panic!("{f:#}\n{text}")).object
    }

    fn values() -> impl Strategy<Value = Value> {
        let texts = prop_oneof![
            any::<String>(),
            "[-+.~0-9eExXob_:TZ]{0,12}",
            "[ \t\n#&*!|>'\"%@`,?:{}\\[\\]a\u{85}\u{202e}\u{200b}\u{feff}-]{0,8}",
            "(?i)(true|false|yes|no|on|off|y|n|null|nan|inf|\\.inf|\\.nan|<<|=|~)",
        ];
        let texts = texts.boxed();
        let flat = prop_oneof![
            texts.clone().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-1e300..1e300f64).prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            Just(Value::Null),
        ];
        flat.prop_recursive(4, 32, 4, move |inner| {
            prop_oneof![
                vec(inner.clone(), 0..4).prop_map(Value::from),
                vec((texts.clone(), inner), 0..4)
                    .prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_read_back(value in values()) {
            let value = json!({
                "apiVersion": "v1", "kind": "X", "metadata": {"namespace": "default"}, "value": value,
            });
            prop_assert_eq!(read_back(&write(&value)), value);
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let odd = [
            "",
            " ",
            "a b",
            "true",
            "No",
            "1",
            "0x1f",
            "1e3",
            "1_000",
            "-",
            "- a",
            "a: b",
            "#",
            "a #b",
            "'",
            "\"",
            "\\",
            "~",
            "null",
            "é",
            "\u{7f}\u{85}\u{9b}\u{2028}\u{202e}\u{200b}\u{feff}\u{1f600}\u{1}",
            "a\nb\n",
            "\t",
            "%",
            "@a",
            "`a",
            "{a",
            "[a",
            "&a",
            "*a",
            "!a",
            "|",
            ">",
            "?",
            "12:30:45",
            "2001-01-01",
            "---",
            "...",
            ".inf",
            "=",
            "<<",
            "trailing ",
        ];
        let keys: serde_json::Map<String, Value> =
            odd.iter().map(|k| ((*k).to_owned(), json!(k))).collect();
        let value = json!({
            "apiVersion": "v1", "kind": "X", "metadata": {"namespace": "default"},
            "texts": &odd[..], "keys": keys,
            "nested": [[1, [2, []], {}], {"a": [{"b": {}, "c": [null]}]}, [], "x"],
            "numbers": [0, -1, 1.5, 1e300, u64::MAX, i64::MIN, true, false, null],
        });
        assert_eq!(read_back(&write(&value)), value);
    }

    #[test]
    fn it_looks_as_people_write_it() {
        let value = json!({"a": [{"b": 1, "c": "x y"}, "z"], "d": {}});
        assert_eq!(
            write(&value),
            "a:\n  - b: 1\n    c: \"x y\"\n  - z\nd: {}\n"
        );
    }
}
