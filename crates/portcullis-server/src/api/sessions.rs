//! Ending sessions of other users.

use portcullis_core::clock;
use portcullis_roles::{Condition, Parameters, Permission};

use super::access::at_root;
use super::action::Action;
use super::answer;
use super::call::{Answering, Call};
use super::endpoint::{Endpoint, Success, Tag, Verb, get, text};
use super::query::Query;
use crate::http::error::HttpError;

/// Longer subjects are invalid.
const LONGEST: usize = 1024;

/// Ends sessions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndSessions;

impl Action for EndSessions {
    const PERMISSION: Permission = Permission::ManageSessions;
    const CONDITIONS: &'static [Condition] = &[];

    fn parameters(&self) -> Parameters<'_> {
        Parameters::new()
    }
}

/// What may be done to sessions.
pub(super) const ENDPOINTS: &[Endpoint] = &[Endpoint {
    method: Verb::Delete,
    query: &[text(
        "subject",
        "The subject: the `user` of `GET /auth/session`. Required.",
        "alice",
    )],
    refusals: &[(404, "Sessions are not enabled.")],
    ..get(
        ("/api/v1/sessions", "endSessions"),
        Tag::SignIn,
        at_root::<EndSessions>(),
        (
            "End all sessions of a subject",
            "In every realm, on every server that shares the store, within five seconds. Tokens are not affected.",
        ),
        Success::Nothing {
            description: "The sessions have ended.",
        },
        end_sessions,
    )
}];

/// `DELETE /api/v1/sessions`
fn end_sessions(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let root = call.gate.access.roles.root();
        call.admit::<EndSessions>(root)?;
        let mut query = Query::of(call.head);
        let subject = query.take("subject")?.filter(|subject| !subject.is_empty());
        query.done()?;
        let Some(subject) = subject else {
            return Err(HttpError::bad_request("subject is required"));
        };
        if subject.len() > LONGEST {
            return Err(HttpError::bad_request("subject is too long"));
        }
        let Some(sessions) = &call.gate.access.sessions else {
            return Err(HttpError::not_found("sessions are not enabled"));
        };
        call.authorize(root, EndSessions).await?;
        tracing::info!(subject, "sessions ended");
        let until = sessions.ends(clock::wall());
        let operator_state = &call.visitor.server.operator_state;
        operator_state.end_sessions_of(subject, until).await?;
        Ok(answer::nothing())
    })
}
