//! Which tokens are accepted.

mod attacks;
mod cached;
mod cases;
mod rules;
mod settings;

use portcullis_core::Identity;
use std::sync::Arc;
use std::time::SystemTime;

use super::Authenticators;
use crate::error::{Code, TokenError};
use crate::settings::AuthenticatorSettings;
use crate::testing::at;

fn made(list: Vec<AuthenticatorSettings>) -> Authenticators {
    Authenticators::new(list, None).unwrap()
}

/// Verifies where nothing must be waited for.
fn verify_at(
    authenticators: &Authenticators,
    token: &str,
    now: SystemTime,
) -> Result<Arc<Identity>, TokenError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(authenticators.verify(token, now))
}

fn verify(authenticators: &Authenticators, token: &str) -> Result<Arc<Identity>, TokenError> {
    verify_at(authenticators, token, at(0))
}

#[track_caller]
fn refused(authenticators: &Authenticators, token: &str, code: Code) -> TokenError {
    let error = verify(authenticators, token).unwrap_err();
    assert_eq!(error.code, code, "{error}");
    error
}
