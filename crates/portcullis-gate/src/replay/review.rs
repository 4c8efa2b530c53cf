//! A recorded review, as it is judged again.
//!
//! A masked string is replaced by another string that says so. A masked number, list or object is an
//! empty one in the record, and only the list of masked places says so. All of them are given the string
//! that stands for what is masked: reading one is noticed.

use std::borrow::Cow;

use portcullis_core::{Attributes, Door, clock};
use portcullis_kube::review;
use portcullis_record::{Decision, Input};
use serde_json::Value;

use super::{MASK, context};
use crate::policies::job_request;

/// The request of a recorded review.
pub(super) fn read(decision: &Decision) -> Result<Attributes, String> {
    let body = marked(&decision.input)?;
    if decision.summary.door == Door::Ci {
        return job(decision, &body);
    }
    let context = context::context(&decision.input.http);
    let review = review::decode_admission(body.as_bytes(), context, clock::monotonic(), None);
    let review = review.map_err(|fault| format!("the recorded review: {}", fault.message))?;
    Ok(review.attributes)
}

/// The request of a recorded CI job, whose record has the job itself.
fn job(decision: &Decision, body: &str) -> Result<Attributes, String> {
    let object: Value = serde_json::from_str(body).map_err(|e| e.to_string())?;
    let user = object.pointer("/user/id").and_then(Value::as_u64);
    let uid = decision.summary.id.clone();
    Ok(job_request(object, user.unwrap_or_default(), uid, None))
}

/// The text of the review, with every masked place marked.
fn marked(input: &Input) -> Result<Cow<'_, str>, String> {
    let text = input.review_text();
    let places = input.masked.iter();
    let mut places = places.filter_map(|p| p.strip_prefix("/review")).peekable();
    if places.peek().is_none() {
        return Ok(Cow::Borrowed(text));
    }
    let mut review: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let mut is_marked = true;
    for place in places {
        let Some(value) = review.pointer_mut(place) else {
            return Err(format!("{place} is listed as masked, but missing"));
        };
        if value.as_str().is_none_or(|text| !text.contains(MASK)) {
            *value = MASK.into();
            is_marked = false;
        }
    }
    Ok(match is_marked {
        true => Cow::Borrowed(text),
        false => Cow::Owned(review.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use portcullis_record::Http;
    use serde_json::value::RawValue;

    use super::*;

    fn input(review: &str, masked: &[&str]) -> Input {
        Input {
            truncated: Vec::new(),
            review: Some(RawValue::from_string(review.to_owned()).unwrap()),
            masked: masked.iter().map(|&place| place.to_owned()).collect(),
            http: Http::default(),
            received: String::new(),
            webhook: None,
            chain: None,
            action: None,
        }
    }

    #[test]
    fn every_masked_place_is_marked() {
        let text = r#"{ "a": "(masked)", "n": 0, "l": [], "o": {}, "s": "" }"#;
        let same = input(text, &["/review/a", "/http/headers/0/1"]);
        assert_eq!(marked(&same).unwrap(), text);
        let all = input(text, &["/review/a", "/review/n", "/review/l", "/review/o"]);
        let value: Value = serde_json::from_str(&marked(&all).unwrap()).unwrap();
        for key in ["a", "n", "l", "o"] {
            assert_eq!(value[key], MASK, "{key}");
        }
        assert_eq!(value["s"], "");
        assert!(marked(&input(text, &["/review/x"])).is_err());
    }
}
