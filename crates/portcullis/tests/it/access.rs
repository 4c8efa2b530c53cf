//! Permissions by a configuration, checked without a server.

mod can_i;
mod documentation;
mod matrix;
mod served;
mod who_can;

use serde_json::{Value, json};

use crate::harness::{Folder, Ran, run_in};

/// The example of the document that the format of tenants comes from.
pub(crate) const TENANTS: &str = include_str!("access/tenants.yaml");

const KEY: &str = "0123456789abcdef0123456789abcdef-key\n";

/// A folder with a configuration for these tenants, and authenticators that sign.
pub(crate) fn folder(tenants: &str) -> Folder {
    let folder = Folder::new();
    folder.write("tenants.yaml", tenants);
    folder.write("key", KEY);
    folder.write("portcullis.yaml", configuration().to_string());
    folder
}

/// What the files of the folder are for.
fn configuration() -> Value {
    let authenticator = |name: &str, may_override: bool| {
        json!({
            "name": name, "driver": "HS256", "issuer": name, "audience": "portal",
            "realm": "R", "secretFile": "key", "allowAuthzOverride": may_override,
        })
    };
    json!({
        "tenants": {"file": "tenants.yaml"},
        "authenticators": [authenticator("our-institution", false), authenticator("op", true)],
    })
}

/// The folder with the document's example.
fn example() -> Folder {
    folder(TENANTS)
}

/// Runs a command with the configuration of the folder.
#[track_caller]
pub(crate) fn ask(folder: &Folder, arguments: &[&str]) -> Ran {
    run_in(
        folder,
        &[arguments, &["--config", "portcullis.yaml"]].concat(),
    )
}

/// Writes claims of this person, with whatever else there is to say.
fn claims(folder: &Folder, name: &str, more: &Value) -> String {
    let mut claims = json!({"iss": "our-institution", "aud": "portal", "sub": name});
    claims["preferred_username"] = json!(name);
    for (key, value) in more.as_object().unwrap() {
        claims[key] = value.clone();
    }
    let file = format!("{name}.json");
    folder.write(&file, claims.to_string());
    file
}

fn json_of(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err))
}
