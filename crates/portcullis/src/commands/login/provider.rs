//! Signing in at the provider of a realm, by a browser here or anywhere.

use std::path::PathBuf;
use std::time::Duration;

use portcullis_authn::TerminalLogin;
use portcullis_core::clock::wall;
use tokio::runtime::Runtime;

use super::announced::Realm;
use super::refused::failed;
use super::{device, loopback};
use crate::client::Secret;
use crate::commands::failure::Failure;
use crate::contexts::SavedLogin;
use crate::exit::Exit;

/// How people sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// With a browser here, if there is a desktop, or else with a code if the provider takes one.
    Any,
    /// With a browser here.
    Web,
    /// With a code.
    Device,
}

/// Everything that is needed to sign in.
#[derive(Debug)]
pub(super) struct SignIn {
    pub(super) realm: Realm,
    pub(super) provider_ca: Option<PathBuf>,
    pub(super) method: Method,
    pub(super) opens_browser: bool,
    pub(super) timeout: Duration,
}

impl SignIn {
    /// Signs in; gives the token for the server, and what renews it.
    pub(super) fn run(self) -> Result<(String, SavedLogin), Failure> {
        let mut saved = SavedLogin {
            issuer: self.realm.issuer.clone(),
            client_id: self.realm.client_id.clone(),
            audience: self.realm.audience.clone(),
            scopes: self.realm.scopes.clone(),
            ca: self.provider_ca.clone(),
            refresh_token: None,
        };
        let client = client(&saved)?;
        let runtime = runtime()?;
        let tokens = runtime.block_on(async {
            match self.by_code(&client).await? {
                true => device::sign_in(&client, self.opens_browser).await,
                false => loopback::sign_in(&client, self.opens_browser, self.timeout).await,
            }
        })?;
        saved.refresh_token = tokens.refresh_token.clone().map(Secret);
        let token = tokens.for_audience(saved.audience.as_deref()).to_owned();
        Ok((token, saved))
    }

    async fn by_code(&self, client: &TerminalLogin) -> Result<bool, Failure> {
        match self.method {
            Method::Web => Ok(false),
            Method::Device => Ok(true),
            Method::Any if crate::browser::is_there() && self.opens_browser => Ok(false),
            Method::Any => client
                .has_devices(wall())
                .await
                .map_err(|error| failed(&error)),
        }
    }
}

/// Takes a refresh token back; says whether the provider can.
pub(super) fn revoke(login: &SavedLogin, token: &Secret) -> Result<bool, String> {
    let client = login.client().map_err(|error| error.to_string())?;
    let runtime = runtime().map_err(|_| "cannot start".to_owned())?;
    let revoked = runtime.block_on(client.revoke(&token.0, wall()));
    revoked.map_err(|error| error.to_string())
}

fn client(saved: &SavedLogin) -> Result<TerminalLogin, Failure> {
    saved
        .client()
        .map_err(|error| Failure::new(Exit::Invalid, error))
}

fn runtime() -> Result<Runtime, Failure> {
    let built = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    built.map_err(|error| Failure::new(Exit::Failed, format!("cannot start: {error}")))
}
