//! `portcullis login`, `logout` and `whoami`: signing in to a server, and keeping what it takes in a context.

mod announced;
mod device;
mod goal;
mod loopback;
mod provider;
mod refused;
mod whoami;

use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use portcullis_authn::TokenFacts;
use portcullis_core::clock::wall;
use portcullis_net::Address;

use self::goal::Given;
use self::provider::{Method, SignIn};
use super::failure::{Failure, ended, remark};
use super::remote::Remote;
use crate::arguments::span;
use crate::client::{ClientError, Secret, ServerAccess};
use crate::contexts::{self, Choice, Context};
use crate::exit::Exit;
use crate::output;

pub(super) use self::whoami::{WhoAmI, run as who_am_i};

/// Longer texts are not tokens.
const LONGEST_TOKEN: u64 = 64 << 10;

#[derive(Debug, Args)]
pub(crate) struct Login {
    /// The server: `https://HOST`, `http://HOST` or `unix:///PATH` [env: `PORTCULLIS_SERVER`] [default: the one of the
    /// context].
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// CA certificates to trust instead of the system's, in PEM format; kept in the context.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    ca: Option<PathBuf>,
    /// The name of the context [default: the host of the server].
    #[arg(long, value_name = "NAME", value_parser = context_name)]
    name: Option<String>,
    /// Read a token from standard input instead of signing in at a provider.
    #[arg(long, conflicts_with_all = ["web", "device"])]
    token_stdin: bool,
    /// Sign in with a browser on this machine (the default on a desktop).
    #[arg(long, conflicts_with = "device")]
    web: bool,
    /// Sign in with a browser on any machine, by typing a code.
    #[arg(long)]
    device: bool,
    /// Print the address without opening a browser.
    #[arg(long)]
    no_browser: bool,
    /// The realm to sign in to [default: the server's default].
    #[arg(long, value_name = "REALM")]
    realm: Option<String>,
    /// The client at the provider [default: the one that the server announces].
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// CA certificates of the provider, if they differ from the system's.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    provider_ca: Option<PathBuf>,
    /// How long to wait for the browser: seconds, or a duration like 5m.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = span)]
    timeout: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct Logout {
    /// Sign out of every context.
    #[arg(long)]
    all: bool,
}

/// A name that can be typed.
pub(super) fn context_name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:@/".contains(c);
    match !text.is_empty()
        && text.len() <= 200
        && text.chars().all(is_plain)
        && !text.starts_with('-')
    {
        true => Ok(text.to_owned()),
        false => Err("invalid name: expected letters, digits and any of - . _ : @ /".to_owned()),
    }
}

/// Signs in.
pub(super) fn run(login: &Login) -> Exit {
    ended(signed_in(login))
}

fn signed_in(login: &Login) -> Result<Exit, Failure> {
    let all = contexts::read().map_err(ClientError::from)?;
    let of_environment = std::env::var("PORTCULLIS_SERVER")
        .ok()
        .filter(|text| !text.is_empty());
    let choice = contexts::choice();
    let given = Given {
        server: login.server.as_deref(),
        name: login.name.as_deref(),
        choice: &choice,
        of_environment: of_environment.as_deref(),
    };
    let goal = given.goal(&all).ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            "no server given: use --server URL, or set PORTCULLIS_SERVER",
        )
    })?;
    let server = goal.server.to_owned();
    let ca = match &login.ca {
        Some(file) => Some(absolute(file)?),
        None => goal.known.and_then(|known| known.ca.clone()),
    };
    let name = match goal.name {
        Some(name) => name.to_owned(),
        None => name_of(&server)?,
    };
    let access = |token| ServerAccess {
        server: server.clone(),
        token,
        ca: ca.clone(),
    };
    let (token, saved) = match login.token_stdin {
        true => (token_of_input()?, None),
        false => {
            let mut anonymous = Remote::of(&access(None))?;
            let mut realm = announced::realm(&mut anonymous, login.realm.as_deref())?;
            // What was said when signing in to this provider before need not be said again.
            let before = goal.known.and_then(|known| known.login.as_ref());
            let before = before.filter(|before| before.issuer == realm.issuer);
            let client = login.client_id.as_ref();
            if let Some(client) = client.or(before.map(|before| &before.client_id)) {
                if client != &realm.client_id && login.client_id.is_none() {
                    remark(&format!(
                        "signing in as the client {client} of the context, not as {}, which the server announces: \
                         --client-id changes it",
                        realm.client_id
                    ));
                }
                realm.client_id.clone_from(client);
            }
            let provider_ca = match &login.provider_ca {
                Some(file) => Some(absolute(file)?),
                None => before.and_then(|before| before.ca.clone()),
            };
            let signing = SignIn {
                realm,
                provider_ca,
                method: method(login),
                opens_browser: !login.no_browser,
                timeout: login.timeout,
            };
            let (token, saved) = signing.run()?;
            (token, Some(saved))
        }
    };
    // What does not work is not kept.
    let token = Secret(token);
    let who = whoami::known(&access(Some(token.clone())))?;
    let context = Context {
        name: name.clone(),
        server: server.clone(),
        ca,
        token: Some(token.clone()),
        login: saved,
    };
    let kept = contexts::change(|contexts| {
        contexts.put(context);
        contexts.current = Some(name.clone());
        Ok::<_, ClientError>(())
    });
    kept?;
    let until = TokenFacts::of(&token.0).and_then(|facts| facts.expires);
    let left = until.and_then(|until| until.duration_since(wall()).ok());
    let left = left.map_or(String::new(), |left| {
        format!(
            ", the token expires in {}",
            super::text::plain::roughly(left.as_secs())
        )
    });
    output::hint(&format!(
        "signed in to {server} as {who} (context {name}{left})"
    ));
    Ok(Exit::Yes)
}

fn method(login: &Login) -> Method {
    match (login.web, login.device) {
        (true, _) => Method::Web,
        (_, true) => Method::Device,
        _ => Method::Any,
    }
}

fn absolute(file: &std::path::Path) -> Result<PathBuf, Failure> {
    let wrong = |error: std::io::Error| {
        Failure::new(
            Exit::Invalid,
            format!("{}: {}", file.display(), output::reason(&error)),
        )
    };
    file.canonicalize().map_err(wrong)
}

/// The host of a server, with its port if it is an unusual one.
fn name_of(server: &str) -> Result<String, Failure> {
    let address = Address::parse(server);
    let address =
        address.map_err(|error| Failure::new(Exit::Invalid, format!("server: {error}")))?;
    let text = address.to_string();
    let rest = text
        .split_once("://")
        .map_or(text.as_str(), |(_, rest)| rest);
    let name = match address {
        Address::Unix(_) => rest.trim_start_matches('/'),
        Address::Web(_) => rest.split('/').next().unwrap_or_default(),
    };
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "-._:@/".contains(c) {
            c
        } else {
            '-'
        }
    };
    Ok(name
        .chars()
        .map(plain)
        .collect::<String>()
        .trim_matches('-')
        .to_owned())
}

fn token_of_input() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin()
        .take(LONGEST_TOKEN)
        .read_to_string(&mut text);
    if read.is_err() || text.trim().is_empty() {
        let message = "no token on standard input: portcullis login --token-stdin < FILE";
        return Err(Failure::new(Exit::Usage, message));
    }
    Ok(text.trim().to_owned())
}

/// Signs out.
pub(super) fn log_out(logout: &Logout) -> Exit {
    ended(signed_out(logout))
}

fn signed_out(logout: &Logout) -> Result<Exit, Failure> {
    let all = contexts::read().map_err(ClientError::from)?;
    let names: Vec<String> = match (logout.all, contexts::choice()) {
        (true, _) => all.contexts.iter().map(|one| one.name.clone()).collect(),
        (false, Choice::Flag(name) | Choice::Variable(name)) => vec![name],
        (false, Choice::Current) => all.current.iter().cloned().collect(),
    };
    if names.is_empty() {
        return Err(Failure::new(
            Exit::Nothing,
            "not signed in: there is no current context",
        ));
    }
    for name in names {
        let before = all.get(&name).map_err(ClientError::from)?;
        if before.token.is_none() {
            output::hint(&format!("not signed in: the context {name} has no token"));
            continue;
        }
        let refresh = before
            .login
            .as_ref()
            .and_then(|login| Some((login, login.refresh_token.as_ref()?)));
        match refresh.map(|(login, token)| provider::revoke(login, token)) {
            Some(Err(why)) => remark(&format!("the provider did not take the token back: {why}")),
            Some(Ok(false)) => {
                remark("the provider has no way to take tokens back: it ends when it expires")
            }
            Some(Ok(true)) | None => {}
        }
        let kept = contexts::change(|contexts| {
            let context = contexts.get_mut(&name)?;
            context.token = None;
            if let Some(login) = &mut context.login {
                login.refresh_token = None;
            }
            Ok::<_, ClientError>(())
        });
        kept?;
        output::hint(&format!("signed out of {} (context {name})", before.server));
    }
    Ok(Exit::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_called_like_their_servers() {
        for (server, expected) in [
            ("https://gate.example", "gate.example"),
            ("https://gate.example:8443/base", "gate.example:8443"),
            ("unix:///run/portcullis.sock", "run/portcullis.sock"),
            ("http://[::1]:8080", "::1-:8080"),
        ] {
            let name = name_of(server).unwrap();
            assert_eq!(name, expected);
            assert!(context_name(&name).is_ok(), "{name}");
        }
        assert!(name_of("gate.example").is_err());
        for wrong in ["", "-x", "a b", "a\u{1b}"] {
            assert!(context_name(wrong).is_err(), "{wrong}");
        }
    }
}
