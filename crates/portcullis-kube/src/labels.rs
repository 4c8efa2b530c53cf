//! The syntax of labels: keys, values, and selectors of the form `a=b,c=d`.
//!
//! Rules and messages are those of Kubernetes. Selectors with operators other
//! than `=` are not supported here.

use std::collections::BTreeMap;

/// Labels by key.
pub(crate) type Labels = BTreeMap<String, String>;

/// The most bytes of a name or value.
pub(crate) const MAX_NAME: usize = 63;
/// The most bytes of a prefix.
pub(crate) const MAX_PREFIX: usize = 253;
const NAME: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and \
    end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used \
    for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const PREFIX: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
    characters, '-' or '.', and must start and end with an alphanumeric character (e.g. \
    'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, \
    '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or \
    'my_value',  or '12345', regex used for validation is \
    '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// What is wrong with a label's key, which is an optional prefix and a name.
pub(crate) fn key_faults(key: &str) -> Vec<String> {
    let parts: Vec<&str> = key.split('/').collect();
    let (prefix, name) = match parts.as_slice() {
        [name] => (None, *name),
        [prefix, name] => (Some(*prefix), *name),
        _ => {
            return vec![format!(
                "a valid label key {NAME} with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')"
            )];
        }
    };
    let mut faults = Vec::new();
    if let Some(prefix) = prefix {
        if prefix.is_empty() {
            faults.push("prefix part must be non-empty".to_owned());
        } else {
            if prefix.len() > MAX_PREFIX {
                faults.push(format!("prefix part {}", too_long(MAX_PREFIX)));
            }
            if !is_subdomain(prefix) {
                faults.push(format!("prefix part {PREFIX}"));
            }
        }
    }
    if name.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    } else if name.len() > MAX_NAME {
        faults.push(format!("name part {}", too_long(MAX_NAME)));
    }
    if !is_name(name) {
        faults.push(format!("name part {NAME}"));
    }
    faults
}

/// What is wrong with a label's value.
pub(crate) fn value_faults(value: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if value.len() > MAX_NAME {
        faults.push(too_long(MAX_NAME));
    }
    if !value.is_empty() && !is_name(value) {
        faults.push(VALUE.to_owned());
    }
    faults
}

/// The labels that a selector asks for; of a key given twice, the last counts.
pub(crate) fn parse_selector(selector: &str) -> Result<Labels, String> {
    let mut labels = Labels::new();
    if selector.is_empty() {
        return Ok(labels);
    }
    for label in selector.split(',') {
        let parts: Vec<&str> = label.split('=').collect();
        let [key, value] = parts.as_slice() else {
            return Err(format!("invalid selector: [{}]", parts.join(" ")));
        };
        let (key, value) = (key.trim(), value.trim());
        let faults = key_faults(key);
        if !faults.is_empty() {
            return Err(format!("Invalid value: {key:?}: {}", faults.join("; ")));
        }
        let faults = value_faults(value);
        if !faults.is_empty() {
            let faults = faults.join("; ");
            return Err(format!("[{key}]: Invalid value: {value:?}: {faults}"));
        }
        labels.insert(key.to_owned(), value.to_owned());
    }
    Ok(labels)
}

fn too_long(limit: usize) -> String {
    format!("must be no more than {limit} bytes")
}

/// Letters, digits, `-`, `_` and `.`, with a letter or digit at both ends.
pub(crate) fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let inner = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    [bytes.first(), bytes.last()]
        .iter()
        .all(|end| end.is_some_and(u8::is_ascii_alphanumeric))
        && bytes.iter().all(inner)
}

/// Names of lower-case letters, digits and `-`, with a letter or digit at both ends, and dots between them.
pub(crate) fn is_subdomain(text: &str) -> bool {
    let plain = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    text.split('.').map(str::as_bytes).all(|label| {
        [label.first(), label.last()]
            .iter()
            .all(|end| end.is_some_and(plain))
            && label.iter().all(|b| plain(b) || *b == b'-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_a_name_with_an_optional_prefix() {
        let long = "a".repeat(63);
        for good in ["a", "A-b_c.9", "example.com/a", "e-x.c0m/B", long.as_str()] {
            assert_eq!(key_faults(good), [] as [&str; 0], "{good}");
        }
        let too_long = "a".repeat(64);
        let long_prefix = format!("{}/a", "a".repeat(254));
        for (bad, expected) in [
            ("", "name part must be non-empty"),
            ("-a", "name part must consist of"),
            ("a.", "name part must consist of"),
            ("a b", "name part must consist of"),
            ("ä", "name part must consist of"),
            ("/a", "prefix part must be non-empty"),
            ("A.com/a", "prefix part a lowercase RFC 1123 subdomain"),
            ("a..b/c", "prefix part a lowercase RFC 1123 subdomain"),
            ("a.com/", "name part must be non-empty"),
            ("a/b/c", "a valid label key must consist of"),
            (too_long.as_str(), "name part must be no more than 63 bytes"),
            (
                long_prefix.as_str(),
                "prefix part must be no more than 253 bytes",
            ),
        ] {
            let faults = key_faults(bad);
            assert!(faults[0].starts_with(expected), "{bad}: {faults:?}");
        }
    }

    #[test]
    fn values_may_be_empty_but_not_wild() {
        for good in ["", "a", "1.2_3-4"] {
            assert_eq!(value_faults(good), [] as [&str; 0], "{good}");
        }
        for bad in ["a b", "a/b", "-", "a-", &"a".repeat(64)] {
            assert_eq!(value_faults(bad).len(), 1, "{bad}");
        }
    }

    #[test]
    fn selectors_are_pairs() {
        let pairs = |pairs: &[(&str, &str)]| {
            Ok(pairs
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect())
        };
        assert_eq!(parse_selector(""), pairs(&[]));
        assert_eq!(parse_selector("a=b"), pairs(&[("a", "b")]));
        assert_eq!(
            parse_selector(" a = b , c= "),
            pairs(&[("a", "b"), ("c", "")])
        );
        assert_eq!(parse_selector("a=b,a=c"), pairs(&[("a", "c")]));
    }

    #[test]
    fn a_selector_that_is_no_list_of_pairs_is_refused() {
        for (selector, expected) in [
            (" ", "invalid selector: [ ]"),
            ("a", "invalid selector: [a]"),
            ("a=b,", "invalid selector: []"),
            ("a=b=c", "invalid selector: [a b c]"),
            ("a==b", "invalid selector: [a  b]"),
            ("a!=b", "Invalid value: \"a!\": name part must consist of"),
            ("a b=c", "Invalid value: \"a b\": name part must consist of"),
            (
                "a=b c",
                "[a]: Invalid value: \"b c\": a valid label must be",
            ),
        ] {
            let fault = parse_selector(selector).expect_err("a fault");
            assert!(fault.starts_with(expected), "{selector}: {fault}");
        }
    }
}
