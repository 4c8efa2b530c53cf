//! The arguments that a policy passed.

use portcullis_js::HostRequest;
use serde_json::Value;

use crate::text::{excerpt, has_control};

/// An argument of a call; what was not passed is null.
pub(crate) fn argument<'a>(request: &HostRequest<'a>, index: usize) -> &'a Value {
    request.arguments.get(index).unwrap_or(&Value::Null)
}

/// Text that can be an argument of a program: not empty, no flag, no control characters.
pub(crate) fn plain<'a>(value: &'a Value, what: &str) -> Result<&'a str, String> {
    let Some(text) = value.as_str().filter(|text| !text.is_empty()) else {
        return Err(format!("{what} must be text that is not empty"));
    };
    if text.starts_with('-') {
        return Err(format!("{what} must not begin with `-`"));
    }
    if has_control(text) || text.len() > 4096 {
        return Err(format!("{what} must be plain text of at most 4096 bytes"));
    }
    Ok(text)
}

/// The options of a call by name, whatever the case of their letters; all of them known.
pub(crate) fn options<'a, const N: usize>(
    value: &'a Value,
    names: [&str; N],
) -> Result<[&'a Value; N], String> {
    let given = match value {
        Value::Object(given) => given,
        Value::Null => return Ok([&Value::Null; N]),
        _ => return Err("the options must be an object".to_owned()),
    };
    let mut found: [Option<&Value>; N] = [None; N];
    for (key, value) in given {
        let slot = names
            .iter()
            .zip(found.iter_mut())
            .find(|(name, _)| name.eq_ignore_ascii_case(key));
        let Some((name, slot)) = slot else {
            let key = excerpt(key.as_bytes(), 64);
            return Err(format!(
                "unknown option `{key}`: expected {}",
                names.join(", ")
            ));
        };
        if slot.replace(value).is_some() {
            return Err(format!("the option {name} is given twice"));
        }
    }
    Ok(found.map(|value| value.unwrap_or(&Value::Null)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_by_name() {
        let given = json!({"SourceUri": "s", "BUILDERID": 1});
        let [source, builder, path] = options(&given, ["SourceURI", "BuilderID", "Path"]).unwrap();
        assert_eq!(
            (source, builder, path),
            (&json!("s"), &json!(1), &Value::Null)
        );
        assert_eq!(options(&Value::Null, ["a"]), Ok([&Value::Null]));
        assert!(
            options(&json!({"b": 1}), ["a"])
                .unwrap_err()
                .contains("`b`")
        );
        assert!(options(&json!({"a": 1, "A": 1}), ["a"]).is_err());
        assert!(options(&json!([]), ["a"]).is_err());
    }

    #[test]
    fn plain_text() {
        assert_eq!(plain(&json!("k.pub"), "key"), Ok("k.pub"));
        for bad in [
            json!(null),
            json!(1),
            json!(""),
            json!("-x"),
            json!("a\u{0}b"),
            json!("x".repeat(4097)),
        ] {
            assert!(
                plain(&bad, "key").unwrap_err().starts_with("key must"),
                "{bad}"
            );
        }
    }
}
