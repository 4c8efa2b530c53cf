//! The configuration of a server that is there for its playground only, on loopback, for the person who started it.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use serde_json::json;

use crate::issuer;
use crate::sign_in_link::SignInLink;

const NAME: &str = "playground";

/// Where it listens if that is free.
const USUAL_PORT: u16 = 8787;

/// The configuration: one listener with the pages, and policies to begin with, if there is a folder of them.
///
/// # Errors
///
/// When the key for its tokens can't be stored in the data directory.
pub fn configuration(
    data_dir: &Path,
    port: Option<u16>,
    policies: Option<&Path>,
) -> Result<String, String> {
    let is_free = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
    let port = port.unwrap_or(if is_free(USUAL_PORT) { USUAL_PORT } else { 0 });
    let address = format!("{}:{port}", Ipv4Addr::LOCALHOST);
    let authenticator = issuer::authenticator(NAME, data_dir)?;
    let mut configuration = json!({
        "listeners": [{"name": NAME, "tcp": address, "serves": ["api", "web"]}],
        "authenticators": [authenticator],
        "defaultAction": "allow",
        "web": {"playground": true},
    });
    let folder = policies.map(|folder| {
        let name = folder.to_str();
        name.ok_or_else(|| {
            format!(
                "the name of the folder is not UTF-8: `{}`",
                folder.display()
            )
        })
    });
    if let (Some(folder), Some(members)) = (folder.transpose()?, configuration.as_object_mut()) {
        members.insert("policyDirs".to_owned(), json!([folder]));
    }
    Ok(configuration.to_string())
}

/// The link to its page, which signs in who follows it first.
///
/// # Errors
///
/// When there is no key in the data directory, or the system has no random numbers.
pub fn link(data_dir: &Path, next: &str) -> Result<SignInLink, String> {
    let token = issuer::token(NAME, data_dir);
    let token = token.ok_or_else(|| "cannot issue a token".to_owned())?;
    SignInLink::new(token, next)
}
