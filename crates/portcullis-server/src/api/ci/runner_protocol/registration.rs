//! Runners about themselves: registering, verifying, leaving, getting another token.
//!
//! There are no registration tokens: `POST /api/v4/user/runners` creates a runner, and its token is what
//! `gitlab-runner register` is given, of new versions (`--token`) and old ones (`--registration-token`).

use portcullis_ci::CiError;
use portcullis_document::Fault;
use portcullis_jobs::Runner;
use serde_json::{Value, json};

use super::{BAD_RUNNER_TOKEN, of_runner};
use crate::api::access::{Access, Credential};
use crate::api::answer;
use crate::api::call::{Answering, Call};
use crate::api::ci::{INVALID, OBJECT, Object, created, object};
use crate::api::endpoint::{Content, Endpoint, Success, Tag, Verb, post};
use crate::http::error::HttpError;

const TOKEN: Content = Content {
    schema: OBJECT,
    example: r#"{"token": "glrt-0123456789"}"#,
};

const ACCESS: Access = Access::Credential(Credential::Runner);

/// What runners do with their own registration.
pub(in crate::api::ci) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        success: object::<Object>("The runner's `id` and `token`."),
        ..post(
            ("/api/v4/runners/verify", "verifyRunner"),
            Tag::Runners,
            ACCESS,
            ("Verify the token of a runner", ""),
            TOKEN,
            &[BAD_RUNNER_TOKEN, INVALID],
            verify,
        )
    }
    .with_ci(),
    Endpoint {
        success: created::<Object>("The runner's `id` and `token`."),
        ..post(
            ("/api/v4/runners", "registerRunner"),
            Tag::Runners,
            ACCESS,
            (
                "Register a runner",
                "For old runners, which register themselves. The token is that of a runner that was added before; \
                 there are no registration tokens. What else they send is ignored.",
            ),
            TOKEN,
            &[BAD_RUNNER_TOKEN, INVALID],
            register,
        )
    }
    .with_ci(),
    Endpoint {
        method: Verb::Delete,
        success: Success::Nothing {
            description: "It is removed.",
        },
        ..post(
            ("/api/v4/runners", "unregisterRunner"),
            Tag::Runners,
            ACCESS,
            ("Remove a runner by its token", ""),
            TOKEN,
            &[BAD_RUNNER_TOKEN, INVALID],
            unregister,
        )
    }
    .with_ci(),
    Endpoint {
        method: Verb::Delete,
        success: Success::Nothing {
            description: "It is forgotten.",
        },
        ..post(
            ("/api/v4/runners/managers", "forgetRunnerManager"),
            Tag::Runners,
            ACCESS,
            (
                "Forget a machine of a runner",
                "The runner stays: others may use its token.",
            ),
            Content {
                schema: OBJECT,
                example: r#"{"token": "glrt-0123456789", "system_id": "s_0123456789ab"}"#,
            },
            &[BAD_RUNNER_TOKEN, INVALID],
            forget_manager,
        )
    }
    .with_ci(),
    Endpoint {
        success: created::<Object>("The new `token`."),
        ..post(
            (
                "/api/v4/runners/reset_authentication_token",
                "resetRunnerToken",
            ),
            Tag::Runners,
            ACCESS,
            (
                "Give a runner another token",
                "The one it has is not valid any more.",
            ),
            TOKEN,
            &[BAD_RUNNER_TOKEN, INVALID],
            reset,
        )
    }
    .with_ci(),
];

/// What a runner is told of itself.
fn own(runner: &Runner, token: &str) -> Value {
    json!({"id": runner.id, "token": token, "token_expires_at": null})
}

/// `POST /api/v4/runners/verify`
fn verify(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let (_, runner, token, _) = of_runner(&mut call).await?;
        answer::ok(&own(&runner, &token))
    })
}

/// `POST /api/v4/runners`
fn register(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let (_, runner, token, _) = of_runner(&mut call).await?;
        answer::created(&own(&runner, &token))
    })
}

/// `DELETE /api/v4/runners`
fn unregister(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let (jobs, runner, ..) = of_runner(&mut call).await?;
        jobs.delete_runner(runner.id).await?;
        Ok(answer::nothing())
    })
}

/// `DELETE /api/v4/runners/managers`
fn forget_manager(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let (jobs, runner, _, body) = of_runner(&mut call).await?;
        let system_id = body.get("system_id").and_then(Value::as_str);
        let Some(system_id) = system_id.filter(|id| !id.is_empty()) else {
            let fault = Fault::at("system_id", "it is required");
            return Err(HttpError::unprocessable(&[fault]));
        };
        match jobs.delete_manager(runner.id, system_id).await {
            // It is forgotten already.
            Ok(()) | Err(CiError::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(answer::nothing())
    })
}

/// `POST /api/v4/runners/reset_authentication_token`
fn reset(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let (jobs, runner, ..) = of_runner(&mut call).await?;
        let token = jobs.reset_runner_token(runner.id).await?;
        answer::created(&json!({"token": token, "token_expires_at": null}))
    })
}
