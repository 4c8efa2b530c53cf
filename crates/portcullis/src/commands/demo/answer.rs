//! What a server answers to an example, as far as it is counted.

use serde_json::Value;

use super::requests::ExampleDoor;
use crate::client::ClientError;

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Came {
    pub(super) outcome: Outcome,
    /// Whether the object was changed.
    pub(super) mutated: bool,
    /// Whether there were warnings.
    pub(super) warned: bool,
    /// Why, in the words of the server; empty if it says nothing.
    pub(super) message: String,
}

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Allowed,
    Denied,
    /// A job waits for its controllers.
    Waiting,
}

impl Came {
    fn new(outcome: Outcome) -> Self {
        Self {
            outcome,
            mutated: false,
            warned: false,
            message: String::new(),
        }
    }

    /// In words.
    pub(super) fn words(&self) -> String {
        let mut text = match self.outcome {
            Outcome::Allowed => "allowed",
            Outcome::Denied => "denied",
            Outcome::Waiting => "waiting",
        }
        .to_owned();
        if self.mutated {
            text.push_str(", mutated");
        }
        if self.warned {
            text.push_str(", with warnings");
        }
        if !self.message.is_empty() {
            text.push_str(&format!(": {}", self.message));
        }
        text
    }
}

/// Reads the answer to a request at this door.
pub(super) fn read(door: ExampleDoor, body: &[u8]) -> Result<Came, ClientError> {
    let answer: Value =
        serde_json::from_slice(body).map_err(|error| ClientError::senseless("JSON", &error))?;
    let at = |pointer: &str| answer.pointer(pointer);
    let text = |pointer: &str| {
        let text = at(pointer).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let verdict = |pointer: &str| match at(pointer).and_then(Value::as_bool) {
        Some(true) => Ok(Outcome::Allowed),
        Some(false) => Ok(Outcome::Denied),
        None => Err(ClientError::Unreachable(
            "the server's answer is not a review with a verdict".to_owned(),
        )),
    };
    Ok(match door {
        ExampleDoor::Admission => {
            let warnings = at("/response/warnings").and_then(Value::as_array);
            Came {
                outcome: verdict("/response/allowed")?,
                mutated: at("/response/patch").is_some_and(Value::is_string),
                warned: warnings.is_some_and(|all| !all.is_empty()),
                message: text("/response/status/message"),
            }
        }
        ExampleDoor::Authorization => Came {
            message: text("/status/reason"),
            ..Came::new(verdict("/status/allowed")?)
        },
        ExampleDoor::Api => Came::new(Outcome::Allowed),
        ExampleDoor::Job | ExampleDoor::Pipeline => Came {
            message: text("/failure_reason"),
            ..Came::new(of_status(&text("/status")))
        },
    })
}

/// What the status of a job or pipeline means right after it was submitted.
fn of_status(status: &str) -> Outcome {
    match status {
        "failed" | "canceled" => Outcome::Denied,
        "preparing" | "created" => Outcome::Waiting,
        _ => Outcome::Allowed,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(door: ExampleDoor, answer: &Value) -> Result<Came, ClientError> {
        read(door, answer.to_string().as_bytes())
    }

    #[test]
    fn reviews_say_what_was_decided() {
        let answer =
            json!({"response": {"allowed": false, "status": {"message": "no"}, "warnings": ["w"]}});
        let came = of(ExampleDoor::Admission, &answer).unwrap();
        assert_eq!(came.words(), "denied, with warnings: no");
        let answer = json!({"response": {"allowed": true, "patch": "W10=", "warnings": []}});
        let came = of(ExampleDoor::Admission, &answer).unwrap();
        assert_eq!(came.words(), "allowed, mutated");
        let answer = json!({"status": {"allowed": false, "denied": true, "reason": "AlwaysDeny"}});
        let came = of(ExampleDoor::Authorization, &answer).unwrap();
        assert_eq!(came.words(), "denied: AlwaysDeny");
    }

    #[test]
    fn jobs_wait_are_accepted_or_denied() {
        let outcome = |status| {
            of(ExampleDoor::Job, &json!({"status": status}))
                .unwrap()
                .outcome
        };
        assert_eq!(outcome("preparing"), Outcome::Waiting);
        assert_eq!(outcome("pending"), Outcome::Allowed);
        assert_eq!(outcome("failed"), Outcome::Denied);
    }

    #[test]
    fn something_else_is_no_answer() {
        assert!(of(ExampleDoor::Admission, &json!({"items": []})).is_err());
        assert!(of(ExampleDoor::Authorization, &json!(3)).is_err());
        assert!(read(ExampleDoor::Job, b"<html>").is_err());
    }
}
