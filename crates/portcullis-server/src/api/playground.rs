//! Trying a policy: one that somebody is writing, over one object.

use portcullis_gate::playground::{self, Question, Verdict};
use portcullis_roles::{Condition, Parameters, Permission};

use super::access::at_root;
use super::action::Action;
use super::answer;
use super::body;
use super::call::{Answering, Call};
use super::endpoint::{Content, Endpoint, Success, Tag, post, schema_of};
use crate::http::error::HttpError;
use crate::playground::in_place;

/// Bytes of a question, at most.
const MOST_BYTES: u64 = 1 << 20;

/// Tries policies that are not in force.
#[derive(Debug, Clone, Copy)]
pub(super) struct TryPolicies;

impl Action for TryPolicies {
    const PERMISSION: Permission = Permission::Playground;
    const CONDITIONS: &'static [Condition] = &[];

    fn parameters(&self) -> Parameters<'_> {
        Parameters::new()
    }
}

/// Errors of calls that need the playground.
pub(super) const OFF: (u16, &str) = (404, "The playground is off.");
/// The same, where there is no place left.
pub(super) const BUSY: (u16, &str) = (429, "Too many policies are being tried.");
/// The same, where a field is too large.
pub(super) const TOO_LARGE: (u16, &str) = (422, "A field is too large.");

/// What may be tried.
pub(super) const ENDPOINTS: &[Endpoint] = &[Endpoint {
    success: Success::Json {
        description: "What the policy makes of the request; a policy that can't be compiled has `faults`.",
        schema: schema_of::<Verdict>,
    },
    ..post(
        ("/api/v1/playground", "tryPolicy"),
        Tag::Decisions,
        at_root::<TryPolicies>(),
        (
            "Try a policy",
            "Evaluates a policy over one object, in a process of its own, within the limits of the configuration. The other \
             policies and plug-ins are not asked, and host calls throw. Only with `web: {playground: true}`.",
        ),
        Content {
            schema: schema_of::<Question>,
            example: r#"{"policy": "if (object.metadata.name === 'web') deny('no web')", "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}}"#,
        },
        &[OFF, TOO_LARGE, BUSY],
        try_policy,
    )
}];

/// `POST /api/v1/playground`
fn try_policy(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let root = call.gate.access.roles.root();
        call.admit::<TryPolicies>(root)?;
        is_on(&call)?;
        let question: Question = body::parse(&call.take_bytes(MOST_BYTES).await?)?;
        call.authorize(root, TryPolicies).await?;
        if let Some((field, most)) = question.too_large() {
            return Err(too_large(field, &most));
        }
        let playground = &call.visitor.server.playground;
        let (command, place) = (playground.command()?, playground.for_policy()?);
        let gate = std::sync::Arc::clone(call.gate);
        let asked = in_place(place, move || {
            let globals = gate.replays.policies().globals.text();
            playground::ask(&command, question, globals, &gate.limits)
        });
        let (_, verdict) = asked.await?;
        answer::ok(&verdict?)
    })
}

/// Goes on only if the playground is on.
pub(super) fn is_on(call: &Call<'_>) -> Result<(), HttpError> {
    match call.gate.web.playground {
        true => Ok(()),
        false => Err(HttpError::not_found(
            "the playground is off: `web: {playground: true}` in the configuration turns it on",
        )),
    }
}

/// A field that is too large.
pub(super) fn too_large(field: &str, most: &str) -> HttpError {
    let message = format!("larger than {most}");
    HttpError::unprocessable(&[portcullis_document::Fault::at(field, message)])
}
