//! Simple signing: the JSON text that a signature of an image is over.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::text::excerpt;

/// What cosign's signatures say they are.
const TYPES: [&str; 2] = [
    "cosign container image signature",
    "atomic container signature",
];

#[derive(Deserialize)]
struct SimpleSigning {
    critical: Critical,
    #[serde(default)]
    optional: Option<BTreeMap<String, Value>>,
}

#[derive(Deserialize)]
struct Critical {
    image: Image,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Image {
    #[serde(rename = "docker-manifest-digest")]
    digest: String,
}

/// Whether a text that was signed is about this manifest, and says what it must besides.
pub(super) fn check(
    payload: &[u8],
    digest: &str,
    annotations: &BTreeMap<String, String>,
) -> Result<Value, String> {
    let invalid = |_| "the signed text is not a simple signing payload".to_owned();
    let signed: SimpleSigning = serde_json::from_slice(payload).map_err(invalid)?;
    if !TYPES.contains(&signed.critical.kind.as_str()) {
        let kind = excerpt(signed.critical.kind.as_bytes(), 64);
        return Err(format!("the signed text is of the unknown type `{kind}`"));
    }
    let optional = signed.optional.unwrap_or_default();
    let has = |(key, value): (&String, &String)| {
        optional.get(key).and_then(Value::as_str) == Some(value.as_str())
    };
    if !annotations.iter().all(has) {
        return Err("missing or incorrect annotation".to_owned());
    }
    if signed.critical.image.digest != digest {
        let found = excerpt(signed.critical.image.digest.as_bytes(), 80);
        return Err(format!("invalid or missing digest in claim: {found}"));
    }
    serde_json::from_slice(payload).map_err(invalid)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DIGEST: &str = "sha256:00";

    fn payload(kind: &str, digest: &str, optional: &Value) -> Vec<u8> {
        let payload = json!({
            "critical": {"identity": {"docker-reference": "r/app"}, "type": kind,
                "image": {"docker-manifest-digest": digest}},
            "optional": optional,
        });
        payload.to_string().into_bytes()
    }

    #[test]
    fn it_is_about_the_image() {
        let none = BTreeMap::new();
        let good = payload(TYPES[0], DIGEST, &Value::Null);
        let checked = check(&good, DIGEST, &none).unwrap();
        assert_eq!(checked["critical"]["identity"]["docker-reference"], "r/app");
        for bad in [
            payload(TYPES[0], "sha256:01", &Value::Null),
            payload(TYPES[0], "", &Value::Null),
            payload("other", DIGEST, &Value::Null),
            payload(TYPES[0], DIGEST, &json!([])),
            b"{}".to_vec(),
            b"".to_vec(),
            br#"{"critical":{"image":{"docker-manifest-digest":"sha256:00","docker-manifest-digest":"sha256:01"},"type":"cosign container image signature"}}"#.to_vec(),
        ] {
            assert!(check(&bad, DIGEST, &none).is_err());
        }
    }

    #[test]
    fn annotations_must_be_there() {
        let wanted = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
        let with = |optional: Value| check(&payload(TYPES[0], DIGEST, &optional), DIGEST, &wanted);
        assert!(with(json!({"a": "1", "b": "2"})).is_ok());
        for bad in [json!(null), json!({}), json!({"a": "2"}), json!({"a": 1})] {
            assert!(with(bad.clone()).is_err(), "{bad}");
        }
    }
}
