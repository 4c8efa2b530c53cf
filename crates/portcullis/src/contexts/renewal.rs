//! Tokens that expire are renewed, once, whichever command comes first.

use std::time::{Duration, SystemTime};

use portcullis_authn::{LoginError, TerminalLogin, TerminalSettings, TokenFacts};
use portcullis_core::clock::wall;

use super::{Context, ContextError, SavedLogin, change};
use crate::secret::Secret;

/// A token is renewed so long before it expires.
const BEFORE: Duration = Duration::from_secs(60);
/// Larger files are not certificates.
const LARGEST: u64 = 1 << 20;

/// The token of a context, renewed if it is about to expire; nothing if there is none.
pub(crate) fn current_token(context: &Context) -> Result<Option<Secret>, ContextError> {
    let Some(token) = &context.token else {
        return Ok(None);
    };
    if !ends_before(token, wall() + BEFORE) {
        return Ok(Some(token.clone()));
    }
    let can_renew = |one: &Context| {
        one.login
            .as_ref()
            .is_some_and(|login| login.refresh_token.is_some())
    };
    if !can_renew(context) {
        return match ends_before(token, wall()) {
            true => Err(expired(&context.name)),
            false => Ok(Some(token.clone())),
        };
    }
    change(|contexts| {
        let context = contexts.get_mut(&context.name)?;
        let still = context
            .token
            .clone()
            .filter(|token| !ends_before(token, wall() + BEFORE));
        // Another command was faster.
        if let Some(fresh) = still {
            return Ok(Some(fresh));
        }
        renewed(context).map(Some)
    })
}

fn ends_before(token: &Secret, time: SystemTime) -> bool {
    let facts = TokenFacts::of(&token.0);
    facts
        .and_then(|facts| facts.expires)
        .is_some_and(|expires| expires <= time)
}

fn expired(name: &str) -> ContextError {
    ContextError::SignedOut(format!(
        "the token of the context `{name}` has expired: sign in again with `portcullis login --name {name}`"
    ))
}

fn renewed(context: &mut Context) -> Result<Secret, ContextError> {
    let name = context.name.clone();
    let old = context.token.clone();
    let Some(login) = &mut context.login else {
        return Err(expired(&name));
    };
    let Some(refresh) = login.refresh_token.clone() else {
        return Err(expired(&name));
    };
    let client = client(login)?;
    let runtime = runtime()?;
    match runtime.block_on(client.renew(&refresh.0, wall())) {
        Ok(renewed) => {
            let fresh = renewed.for_audience(login.audience.as_deref());
            let fresh = fresh.map(|token| Secret(token.to_owned()));
            // Without a new one, the old one is good as long as it is valid.
            let token = fresh.or(old.filter(|token| !ends_before(token, wall())));
            let token = token.ok_or_else(|| {
                ContextError::SignedOut(format!(
                    "the provider does not renew the token of the context `{name}`: sign in again with `portcullis \
                     login --name {name}`"
                ))
            })?;
            login.refresh_token = Some(Secret(renewed.refresh_token));
            context.token = Some(token.clone());
            Ok(token)
        }
        // As long as the old one is good, it does not matter.
        Err(LoginError::Unavailable(why)) => {
            match old.filter(|token| !ends_before(token, wall())) {
                Some(old) => Ok(old),
                None => Err(ContextError::Unreachable(format!(
                    "the token of the context `{name}` can't be renewed: {why}"
                ))),
            }
        }
        Err(why) => Err(ContextError::SignedOut(format!(
            "the token of the context `{name}` can't be renewed ({why}): sign in again with `portcullis login --name {name}`"
        ))),
    }
}

/// A client of the provider.
fn client(login: &SavedLogin) -> Result<TerminalLogin, ContextError> {
    let ca = login.ca.as_ref().map(|file| {
        let read = portcullis_files::read(file, LARGEST);
        read.map_err(|why| ContextError::File(format!("{}: {why}", file.display())))
    });
    let settings = TerminalSettings {
        issuer: login.issuer.clone(),
        client_id: login.client_id.clone(),
        scopes: login.scopes.clone(),
        ca: ca.transpose()?,
    };
    TerminalLogin::new(settings)
        .map_err(|why| ContextError::File(format!("{}: {why}", login.issuer)))
}

impl SavedLogin {
    /// A client of the provider.
    pub(crate) fn client(&self) -> Result<TerminalLogin, ContextError> {
        client(self)
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, ContextError> {
    let built = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    built.map_err(|error| ContextError::Unreachable(format!("cannot start: {error}")))
}
