//! `portcullis token`: creates tokens with the keys of a configuration.

use std::time::Duration;

use clap::{Args, Subcommand};
use portcullis_authn::{Authenticators, Mint, MintError};
use portcullis_core::clock;
use serde_json::{Map, Value, json};

use super::access::scope::configuration;
use super::failure::{Failure, ended, remark};
use super::text::data::{self, Output};
use super::text::plain;
use super::text::plain::printable;
use crate::arguments::{Configuration, span};
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct Token {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Create a short-lived token, and print it.
    Create(TokenCreate),
}

#[derive(Debug, Args)]
struct TokenCreate {
    /// The authenticator that issues the token, by its name in the configuration; it needs a signing key
    /// [default: the only one with a signing key].
    #[arg(long, value_name = "NAME")]
    authenticator: Option<String>,
    /// The subject of the token [default: your user name].
    #[arg(long, value_name = "SUBJECT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    subject: Option<String>,
    /// Make the bearer an admin of this tenant, if the authenticator allows it; may be repeated.
    #[arg(long = "tenant", value_name = "TENANT")]
    tenants: Vec<String>,
    /// A further claim: the value is JSON if it is valid JSON, otherwise a string; may be repeated.
    #[arg(long = "claim", value_name = "NAME=VALUE", value_parser = claim)]
    claims: Vec<(String, Value)>,
    /// When the token expires: seconds, or a duration like 10m.
    #[arg(long, value_name = "TIME", default_value = "600", value_parser = span)]
    expires_in: Duration,
    /// Output format; a table is the token alone, so that it can be put into a variable.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    configuration: Configuration,
}

fn claim(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    if name.is_empty() {
        return Err("the name is empty: expected NAME=VALUE".to_owned());
    }
    let read = serde_json::from_str(value);
    Ok((name.to_owned(), read.unwrap_or_else(|_| value.into())))
}

/// Does what the command line says.
pub(super) fn run(token: &Token) -> Exit {
    ended(match &token.command {
        TokenCommand::Create(create) => created(create),
    })
}

/// Prints the token.
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
    let value = json!({
        "token": token,
        "authenticator": signer,
        "subject": wish.subject,
        "tenants": wish.tenants,
        "expires_in": create.expires_in.as_secs(),
    });
    output::data(&data::write(&value, create.output, || format!("{token}\n")));
    if create.output != Output::Table {
        return Ok(Exit::Yes);
    }
    let (subject, left) = (&wish.subject, plain::span(create.expires_in.as_secs()));
    output::hint(&printable(&format!(
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

/// The subject: as given, or else the user who runs the program.
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

/// Errors of the command line have another exit code than those of the configuration.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_json_or_else_text() {
        for (text, name, value) in [
            ("level=5", "level", json!(5)),
            ("groups=[\"a\",\"b\"]", "groups", json!(["a", "b"])),
            ("ok=true", "ok", json!(true)),
            ("name=Zoe Z", "name", json!("Zoe Z")),
            ("quoted=\"7\"", "quoted", json!("7")),
            ("eq=a=b", "eq", json!("a=b")),
            ("none=", "none", json!("")),
        ] {
            assert_eq!(claim(text), Ok((name.to_owned(), value)));
        }
        assert!(claim("a").is_err() && claim("=a").is_err());
    }
}
