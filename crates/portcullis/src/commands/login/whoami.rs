//! `portcullis whoami`: who the server takes one for, and what one may do there.

use std::time::UNIX_EPOCH;

use clap::Args;
use portcullis_authn::TokenFacts;
use serde_json::{Value, json};

use crate::arguments::Server;
use crate::client::{ClientError, ServerAccess};
use crate::commands::failure::{Failure, ended};
use crate::commands::remote::Remote;
use crate::commands::text::columns;
use crate::commands::text::data::{self, Output};
use crate::commands::text::terminal::Terminal;
use crate::commands::text::time::of_seconds;
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct WhoAmI {
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

/// Does what the command line says.
pub(in crate::commands) fn run(who: &WhoAmI) -> Exit {
    ended(asked(who))
}

fn asked(who: &WhoAmI) -> Result<Exit, Failure> {
    let server = &who.server;
    let access = ServerAccess::required(
        server.server.as_deref(),
        server.token.as_ref(),
        server.ca.as_ref(),
    )?;
    let value = report(&access)?;
    output::data(&data::write(&value, who.output, || table(&value)));
    Ok(Exit::Yes)
}

/// The name of the user, if the server knows the token.
pub(super) fn known(access: &ServerAccess) -> Result<String, Failure> {
    let value = report(access)?;
    let user = value
        .get("user")
        .and_then(Value::as_str)
        .unwrap_or("(unknown)");
    Ok(user.to_owned())
}

/// Everything that the server says. A token that it does not know is an error.
fn report(access: &ServerAccess) -> Result<Value, Failure> {
    let has_socket = access.server.starts_with("unix:");
    if access.token.is_none() && !has_socket {
        let message = format!("not signed in to {}: use `portcullis login`", access.server);
        return Err(Failure::new(Exit::NotSignedIn, message));
    }
    let mut remote = Remote::of(access)?;
    let facts = access
        .token
        .as_ref()
        .and_then(|token| TokenFacts::of(&token.0));
    let root = permitted(&mut remote, &["authorizations"])?;
    let listed = remote.get(&["tenants"]).unwrap_or_default();
    let names: Vec<String> = listed
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tenant| Some(tenant.get("name")?.as_str()?.to_owned()))
        .collect();
    let mut user = text(root.as_ref(), "user");
    let mut tenants = Vec::new();
    for name in names {
        let found = permitted(&mut remote, &["tenant", &name, "authorizations"])?;
        user = user.or_else(|| text(found.as_ref(), "user"));
        let found = found.unwrap_or_default();
        tenants.push(json!({
            "name": name,
            "admin": found.pointer("/zuul/admin").cloned().unwrap_or(json!(false)),
            "roles": found.get("roles").cloned().unwrap_or(json!([])),
            "permissions": found.get("permissions").cloned().unwrap_or(json!({})),
        }));
    }
    let root = root.unwrap_or_default();
    let user = user.or_else(|| facts.as_ref()?.subject.clone());
    let expires = facts.and_then(|facts| facts.expires?.duration_since(UNIX_EPOCH).ok());
    Ok(json!({
        "server": access.server,
        "user": user,
        "expires_at": expires.map(|at| of_seconds(at.as_secs())),
        "admin": root.pointer("/zuul/admin").cloned().unwrap_or(json!(false)),
        "roles": root.get("roles").cloned().unwrap_or(json!([])),
        "permissions": root.get("permissions").cloned().unwrap_or(json!({})),
        "tenants": tenants,
    }))
}

fn text(value: Option<&Value>, key: &str) -> Option<String> {
    Some(value?.get(key)?.as_str()?.to_owned())
}

/// What one may do in a place; nothing if one may do nothing there.
fn permitted(remote: &mut Remote, path: &[&str]) -> Result<Option<Value>, ClientError> {
    match remote.get(path) {
        Ok(value) => Ok(Some(value)),
        Err(ClientError::NotSignedIn(why)) if is_forbidden(&why) => Ok(None),
        Err(ClientError::NotFound(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Whether the server knows who asks: the status is what comes first behind its name.
fn is_forbidden(why: &str) -> bool {
    let status = why.split(" answers ").nth(1);
    status.is_some_and(|status| status.starts_with("403"))
}

fn table(value: &Value) -> String {
    let text = |key: &str| {
        value
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or("-")
            .to_owned()
    };
    let fields = [
        ("server", text("server")),
        ("user", text("user")),
        ("expires", text("expires_at")),
        ("instance", summary(value)),
    ];
    let terminal = Terminal::of_output();
    let mut shown = columns::fields(&fields, terminal);
    let tenants = value.get("tenants").and_then(Value::as_array);
    let rows: Vec<Vec<String>> = tenants
        .into_iter()
        .flatten()
        .map(|tenant| {
            let name = tenant
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default();
            vec![name.to_owned(), summary(tenant)]
        })
        .collect();
    if !rows.is_empty() {
        shown.push('\n');
        shown.push_str(&columns::table(&["TENANT", "PERMISSIONS"], &rows, terminal));
    }
    shown
}

/// What one may do in a place, in a line.
fn summary(place: &Value) -> String {
    if place.get("admin") == Some(&Value::Bool(true)) {
        return "admin".to_owned();
    }
    let all = place.get("permissions").and_then(Value::as_object);
    let names: Vec<String> = all
        .into_iter()
        .flatten()
        .map(|(name, grant)| match grant {
            Value::Bool(true) => name.clone(),
            _ => format!("{name} (with conditions)"),
        })
        .collect();
    match names.is_empty() {
        true => "-".to_owned(),
        false => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_summed_up() {
        assert_eq!(
            summary(&json!({"admin": true, "permissions": {"read": true}})),
            "admin"
        );
        let some = json!({"permissions": {"read": true, "enqueue": [{"rule": "r"}]}});
        assert_eq!(summary(&some), "enqueue (with conditions), read");
        assert_eq!(summary(&json!({})), "-");
    }
}
