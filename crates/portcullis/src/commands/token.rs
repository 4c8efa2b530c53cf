//! `portcullis token`: creates tokens with the keys of a configuration.

use portcullis_authn::{Authenticators, Mint, MintError};
use portcullis_core::clock;
use serde_json::Map;

use super::access::{Failure, configuration, ended, remark};
use super::text::plain::{printable, span};
use crate::cli::{Token, TokenCommand, TokenCreate};
use crate::exit::Exit;
use crate::output;

/// Does what the command line says.
pub(super) fn run(token: &Token) -> Exit {
    ended(match &token.command {
        TokenCommand::Create(create) => created(create),
    })
}

/// Prints the token alone, so that it can be put into a variable.
fn created(create: &TokenCreate) -> Result<Exit, Failure> {
    let wish = wish(create)?;
    let configuration = configuration(&create.configuration.file())?;
    for tenant in &create.tenants {
        if tenant != "*" && configuration.roles.tenant(tenant).is_none() {
            remark(&format!("the configuration has no tenant {tenant}"));
        }
    }
    let authenticators = &configuration.authenticators;
    let signer = signer(create, authenticators)?;
    let made = authenticators.mint(signer, &wish, clock::wall());
    let token = made.map_err(|error| {
        let message = format!("authenticator {signer}: {error}");
        Failure::new(exit(&error), message)
    })?;
    output::data(&format!("{token}\n"));
    let (subject, left) = (&wish.subject, span(create.expires_in.as_secs()));
    output::tell(&printable(&format!(
        "issued by {signer} for {subject}, expires in {left}"
    )));
    Ok(Exit::Yes)
}

/// The authenticator that is meant: the named one, or the only one that can.
fn signer<'a>(
    create: &'a TokenCreate,
    authenticators: &'a Authenticators,
) -> Result<&'a str, Failure> {
    if let Some(named) = &create.authenticator {
        return Ok(named);
    }
    match authenticators
        .signers(!create.tenants.is_empty())
        .as_slice()
    {
        [only] => Ok(only),
        [] => {
            let message = "no authenticator of the configuration can issue this token";
            Err(Failure::new(Exit::Invalid, message.to_owned()))
        }
        several => {
            let message = format!(
                "several authenticators can issue this token: choose one with --authenticator ({})",
                several.join(", ")
            );
            Err(Failure::new(Exit::Usage, message))
        }
    }
}

/// Who it is for: as given, or else who runs the program.
fn subject(create: &TokenCreate) -> Result<String, Failure> {
    let variable = |name| std::env::var(name).ok().filter(|name| !name.is_empty());
    let usual = || variable("USER").or_else(|| variable("LOGNAME"));
    create.subject.clone().or_else(usual).ok_or_else(|| {
        let message = "no subject: give --subject SUBJECT; without it your user name is taken, \
                       but neither USER nor LOGNAME is set";
        Failure::new(Exit::Usage, message)
    })
}

fn wish(create: &TokenCreate) -> Result<Mint, Failure> {
    let mut claims = Map::new();
    for (name, value) in &create.claims {
        if claims.insert(name.clone(), value.clone()).is_some() {
            let message = format!("--claim {name} is given twice");
            return Err(Failure::new(Exit::Usage, message));
        }
    }
    Ok(Mint {
        subject: subject(create)?,
        tenants: create.tenants.clone(),
        claims,
        expires_in: create.expires_in,
    })
}

/// What is wrong with the command line is told apart from what the configuration doesn't have.
fn exit(error: &MintError) -> Exit {
    match error {
        MintError::Unknown(_) | MintError::NoPrivateKey | MintError::OverrideNotAllowed => {
            Exit::Invalid
        }
        MintError::Failed => Exit::Failed,
        MintError::Reserved(_)
        | MintError::TooLong(_)
        | MintError::TooShort
        | MintError::NoSubject
        | MintError::UidNotText(_)
        | MintError::TooLarge => Exit::Usage,
    }
}
