//! What acjs does with policies, case by case: a file, a review and the answer that users rely on. The cases
//! of TLS and of other programs need a process, and are tested with the program.

mod changes;
mod request;
mod results;

use serde_json::Value;

use portcullis_testing::policies::{Want, fruit, review_of};

use crate::tests::harness::Acjs;

/// Asks each of these files about an object.
fn check(object: &Value, cases: Vec<(u8, Value, Want)>) {
    for (id, config, want) in cases {
        let server = Acjs::start(config);
        want.compare(id, &server.ask(&review_of(object)), object);
    }
}

fn check_fruit(cases: Vec<(u8, Value, Want)>) {
    check(&fruit(), cases);
}
