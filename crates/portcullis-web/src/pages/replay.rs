//! A decision then, and what it would be now.

use serde::Deserialize;

use crate::backend::{Pending, Problem};
use crate::diff::{Change, Operation, changes};
use crate::frame::Frame;
use crate::query::segment;
use crate::reply::{Reply, page};
use crate::request::Request;
use crate::route::Route;
use crate::shown::sentence;

pub(super) const ROUTES: &[Route] = &[Route::page("/decisions/*/replay", show)];

/// What the API says.
#[derive(Debug, Deserialize)]
struct Replayed {
    id: String,
    outcome: String,
    reason: Option<String>,
    by: Option<String>,
    change: Option<String>,
    denied_by_another: bool,
    then: Answer,
    now: Option<Answer>,
}

#[derive(Debug, Deserialize)]
struct Answer {
    verdict: String,
    policy: Option<String>,
    message: String,
    mutated: bool,
    patch: Vec<Operation>,
}

/// One of the two sides.
#[derive(Debug)]
struct Side {
    heading: &'static str,
    one: Option<Shown>,
    /// What is said in place of an answer.
    remark: &'static str,
}

/// An answer as it is shown.
#[derive(Debug)]
struct Shown {
    verdict: String,
    mutated: bool,
    policy: Option<String>,
    message: String,
    changes: Vec<Change>,
}

impl Answer {
    fn shown(self) -> Shown {
        Shown {
            verdict: self.verdict,
            mutated: self.mutated,
            policy: self.policy,
            message: self.message,
            changes: changes(self.patch),
        }
    }
}

#[derive(Debug, askama::Template)]
#[template(path = "replay.html")]
struct ReplayPage {
    frame: Frame,
    lead: String,
    reason: Option<String>,
    back: String,
    sides: [Side; 2],
    /// Whether it was decided again at all.
    is_replayed: bool,
}

fn show(request: Request<'_>) -> Pending<'_, Result<Reply, Problem>> {
    Box::pin(async move {
        request.query(&[])?;
        let path = format!("/api/v1/decisions/{}/replay", segment(request.value(0)));
        let replayed: Replayed = request.backend.get(&path).await?;
        let lead = lead(&replayed);
        let remark = match (replayed.outcome.as_str(), replayed.denied_by_another) {
            ("same", true) => "Denied as well, by another policy or plug-in.",
            ("same", false) => "The same answer.",
            ("unclear", _) => "Unknown.",
            _ => "It is not decided again.",
        };
        let is_replayed = matches!(replayed.outcome.as_str(), "same" | "changed" | "unclear");
        page(&ReplayPage {
            is_replayed,
            frame: request.frame(format!("Replay of decision {}", replayed.id)),
            lead,
            reason: replayed.reason.as_deref().map(sentence),
            back: format!("/decisions/{}", segment(&replayed.id)),
            sides: [
                Side {
                    heading: "Then",
                    one: Some(replayed.then.shown()),
                    remark: "",
                },
                Side {
                    heading: "Now",
                    one: replayed.now.map(Answer::shown),
                    remark,
                },
            ],
        })
    })
}

/// What came of it, in a sentence.
fn lead(replayed: &Replayed) -> String {
    let by = replayed.by.as_deref().unwrap_or("the chain");
    match (replayed.outcome.as_str(), replayed.change.as_deref()) {
        ("same", _) => "Nothing would change.".to_owned(),
        ("changed", Some("newlyDenied")) => format!("It would be denied now, by {by}."),
        ("changed", Some("newlyAllowed")) => {
            format!("It would be allowed now; then it was denied by {by}.")
        }
        ("changed", _) => format!("It would be allowed with other changes, by {by}."),
        ("unclear", _) => "It is unclear what would change.".to_owned(),
        _ => "Such decisions are not replayed.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::Fake;

    fn fake(answer: &Value) -> Fake {
        let answer = answer.clone();
        Fake::new().with("/api/v1/decisions/01K/replay", answer)
    }

    fn answer(verdict: &str, message: &str, patch: &Value) -> Value {
        json!({"verdict": verdict, "policy": "pin", "message": message, "mutated": *patch != json!([]), "patch": patch})
    }

    #[test]
    fn both_answers_are_shown_with_what_made_the_difference() {
        let patch = json!([{"op": "add", "path": "/metadata/labels", "value": {"a": "<b>"}}]);
        let html = fake(&json!({"id": "01K", "outcome": "changed", "reason": "it was busy", "change": "newlyDenied",
            "by": "pin", "denied_by_another": false, "then": answer("allow", "", &patch), "now": answer("deny", "no latest", &json!([]))}))
        .page_with("/decisions/01K/replay", 200);
        assert!(html.contains("It would be denied now, by pin."), "{html}");
        assert!(
            html.contains("no latest") && html.contains("It was busy."),
            "{html}"
        );
        assert!(
            html.contains("/metadata/labels") && !html.contains("<b>"),
            "{html}"
        );
        assert!(html.contains("href=\"/decisions/01K\""), "{html}");
    }

    #[test]
    fn what_is_the_same_or_unclear_says_so() {
        let told = |outcome: &str, another: bool| {
            fake(&json!({"id": "01K", "outcome": outcome, "reason": null, "change": null, "by": null,
                "denied_by_another": another, "then": answer("deny", "no", &json!([])), "now": null}))
            .page_with("/decisions/01K/replay", 200)
        };
        assert!(told("same", false).contains("The same answer."));
        assert!(told("same", true).contains("by another policy"));
        assert!(told("unclear", false).contains("It is unclear what would change."));
        assert!(told("same", false).contains("was decided again"));
        let not = told("not_applicable", false);
        assert!(
            not.contains("not replayed") && !not.contains("was decided again"),
            "{not}"
        );
    }
}
