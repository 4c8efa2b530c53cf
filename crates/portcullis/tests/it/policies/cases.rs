//! What acjs does with policies, case by case: a file, a review and the answer that users rely on.

mod changes;
mod listeners;
mod outside;
mod request;
mod results;

use serde_json::Value;

use super::{fruit, review_of};
use crate::harness::{Acjs, Verdict};

const VIOLATES: &str = "VIOLATES_POLICY";
const ERROR: &str = "INTERNAL_ERROR";

/// The answer that users rely on.
#[derive(Debug)]
enum Want {
    /// Allowed, without a patch.
    Yes,
    /// Allowed, and this object after the patch.
    Changed(Value),
    /// Refused with this reason and exactly this message.
    No(&'static str, &'static str),
    /// Refused with this reason, and a message that begins so.
    NoLike(&'static str, &'static str),
    /// Refused because nobody allowed it.
    Default,
}

/// Asks each of these files about an object.
fn check(object: &Value, cases: Vec<(u8, Value, Want)>) {
    for (id, config, want) in cases {
        let server = Acjs::start(config);
        compare(id, &server.ask(&review_of(object)), object, &want);
    }
}

fn check_fruit(cases: Vec<(u8, Value, Want)>) {
    check(&fruit(), cases);
}

#[track_caller]
fn compare(id: u8, verdict: &Verdict, object: &Value, want: &Want) {
    let status = &verdict.0["status"];
    let says = format!("case {id}: {}", verdict.0);
    match want {
        Want::Yes | Want::Changed(_) => {
            assert!(verdict.is_allowed(), "{says}");
            assert_eq!(status["status"], "Success", "{says}");
            let wanted = match want {
                Want::Changed(wanted) => wanted,
                _ => object,
            };
            assert_eq!(verdict.patch().is_some(), wanted != object, "{says}");
            assert_eq!(&verdict.patched(object), wanted, "{says}");
        }
        Want::No(reason, _) | Want::NoLike(reason, _) => {
            assert!(!verdict.is_allowed(), "{says}");
            assert_eq!(status["status"], "Failure", "{says}");
            assert_eq!(status["reason"], *reason, "{says}");
            match want {
                Want::NoLike(_, start) => assert!(verdict.message().starts_with(start), "{says}"),
                Want::No(_, message) => assert_eq!(verdict.message(), *message, "{says}"),
                _ => {}
            }
        }
        Want::Default => {
            assert!(!verdict.is_allowed(), "{says}");
            assert_ne!(verdict.message(), "", "{says}");
            assert_eq!(verdict.annotation("policy"), None, "{says}");
        }
    }
}
