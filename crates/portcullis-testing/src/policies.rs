//! Configurations with policies, the reviews that they are mostly asked about, and the answers that users of acjs
//! rely on.

use serde_json::{Value, json};

use crate::{Review, Verdict};

/// The reason of a policy's denial.
pub const VIOLATES: &str = "VIOLATES_POLICY";
/// The reason where a policy failed.
pub const ERROR: &str = "INTERNAL_ERROR";

/// The pod that most policies are asked about.
#[must_use]
pub fn fruit() -> Value {
    json!({
        "kind": "Pod",
        "metadata": {"name": "p", "labels": {"a": "1"}},
        "spec": {"containers": [{"name": "apple", "image": "img", "args": ["a", "b", "c"]}]},
    })
}

/// Its creation by bob.
#[must_use]
pub fn review_of(object: &Value) -> Review {
    Review::create(object)
        .set("uid", "u1")
        .set("name", "p1")
        .set("namespace", "ns1")
        .set("userInfo", json!({"username": "bob", "groups": ["staff"]}))
}

/// The creation of an object whose name controls the policies.
#[must_use]
pub fn named(name: &str) -> Review {
    review_of(&fruit()).set("name", name)
}

/// A configuration with these policies, each a name and a text; an acjs file looks the same.
#[must_use]
pub fn native(policies: &[(&str, &str)]) -> Value {
    let list = policies.iter();
    let list = list.map(|(name, code)| json!({"name": name, "code": code}));
    json!({"policies": list.collect::<Vec<_>>()})
}

/// The answer that users of acjs rely on.
#[derive(Debug)]
pub enum Want {
    /// Allowed, without a patch.
    Yes,
    /// Allowed, and this object after the patch.
    Changed(Value),
    /// Denied with this reason and exactly this message.
    No(&'static str, &'static str),
    /// Denied with this reason, and a message that begins so.
    NoLike(&'static str, &'static str),
    /// Denied because no policy allowed it.
    Default,
}

impl Want {
    /// Asserts that this is the verdict on an object, in the case of this number.
    #[track_caller]
    pub fn compare(&self, id: u8, verdict: &Verdict, object: &Value) {
        let status = &verdict.0["status"];
        let says = format!("case {id}: {}", verdict.0);
        match self {
            Self::Yes | Self::Changed(_) => {
                assert!(verdict.is_allowed(), "{says}");
                assert_eq!(status["status"], "Success", "{says}");
                let wanted = match self {
                    Self::Changed(wanted) => wanted,
                    _ => object,
                };
                assert_eq!(verdict.patch().is_some(), wanted != object, "{says}");
                assert_eq!(&verdict.patched(object), wanted, "{says}");
            }
            Self::No(reason, _) | Self::NoLike(reason, _) => {
                assert!(!verdict.is_allowed(), "{says}");
                assert_eq!(status["status"], "Failure", "{says}");
                assert_eq!(status["reason"], *reason, "{says}");
                match self {
                    Self::NoLike(_, start) => {
                        assert!(verdict.message().starts_with(start), "{says}");
                    }
                    Self::No(_, message) => assert_eq!(verdict.message(), *message, "{says}"),
                    _ => {}
                }
            }
            Self::Default => {
                assert!(!verdict.is_allowed(), "{says}");
                assert_ne!(verdict.message(), "", "{says}");
                assert_eq!(verdict.annotation("policy"), None, "{says}");
            }
        }
    }
}
