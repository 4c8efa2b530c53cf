//! The command line of `portcullis token`.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::Value;

use super::Configuration;
use super::span::span;

#[derive(Debug, Args)]
pub(crate) struct Token {
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a short-lived token, and print it.
    Create(TokenCreate),
}

#[derive(Debug, Args)]
pub(crate) struct TokenCreate {
    /// The authenticator that issues it, as the configuration names it; it needs a signing key
    /// [default: the only one that has one].
    #[arg(long, value_name = "NAME")]
    pub(crate) authenticator: Option<String>,
    /// The subject, who it is for [default: your user name].
    #[arg(long, value_name = "SUBJECT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) subject: Option<String>,
    /// Make its bearer an admin of this tenant; the authenticator has to allow it; may be repeated.
    #[arg(long = "tenant", value_name = "TENANT")]
    pub(crate) tenants: Vec<String>,
    /// A further claim: the value is JSON if it can be read as such, or else text; may be repeated.
    #[arg(long = "claim", value_name = "NAME=VALUE", value_parser = claim)]
    pub(crate) claims: Vec<(String, Value)>,
    /// When it expires: seconds, or a duration like 10m.
    #[arg(long, value_name = "TIME", default_value = "600", value_parser = span)]
    pub(crate) expires_in: Duration,
    #[command(flatten)]
    pub(crate) configuration: Configuration,
}

fn claim(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    if name.is_empty() {
        return Err("the name is empty: expected NAME=VALUE".to_owned());
    }
    let read = serde_json::from_str(value);
    Ok((name.to_owned(), read.unwrap_or_else(|_| value.into())))
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
