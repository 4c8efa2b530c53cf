//! The caller: a token, a session, a process at a unix socket, or a client's certificate, in this order.
//!
//! Credentials that are sent explicitly count: an invalid token is never replaced by something else.

use std::sync::Arc;

use hyper::header::AUTHORIZATION;
use hyper::http::request::Parts;
use nix::unistd::geteuid;
use portcullis_authn::{Code, Session, TokenError};
use portcullis_core::{AdminOf, Identity, PeerCertificate, UnixPeer, clock, printable};
use serde_json::{Map, Value, json};

use super::cookies::{SESSION, cookie, is_secure};
use crate::http::error::HttpError;
use crate::server::Server;
use crate::visitor::Visitor;
use portcullis_gate::access::Access;

/// The caller.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    /// Without credentials.
    Anonymous,
    /// With credentials that are rejected.
    Unproved(TokenError),
    /// With a token.
    Known(Arc<Identity>),
    /// Identified by the connection: a certificate or a unix socket.
    Connected(Arc<Identity>),
    /// Signed in with a browser.
    SignedIn(Session),
}

impl Caller {
    /// Finds out who asks.
    pub(super) async fn of(visitor: &Visitor, access: &Access, head: &Parts) -> Self {
        let peer = &visitor.peer;
        if let Some(header) = head.headers.get(AUTHORIZATION) {
            return match verified(access, header.as_bytes()).await {
                Ok(identity) => Self::Known(identity),
                Err(why) => Self::Unproved(why),
            };
        }
        if let Some(sessions) = &access.sessions
            && let Some(cookie) = cookie(&head.headers, SESSION.at(is_secure(visitor, access)))
            && let Some(session) = sessions.open(cookie, clock::wall())
            && !visitor.server.operator_state.has_ended(&session)
            && let Some(session) = access.authenticators.revive(session, clock::wall()).await
        {
            return Self::SignedIn(session);
        }
        let identity = match (peer.unix, &peer.certificate) {
            (Some(unix), _) => at_socket(&visitor.server, access, unix).await,
            (None, Some(certificate)) => access
                .certificates
                .as_ref()
                .map(|issuer| certified(issuer, certificate)),
            (None, None) => None,
        };
        identity.map_or(Self::Anonymous, |identity| {
            Self::Connected(Arc::new(identity))
        })
    }

    /// The verified identity.
    pub(crate) fn identity(&self) -> Option<&Identity> {
        match self {
            Self::Anonymous | Self::Unproved(_) => None,
            Self::Known(identity) | Self::Connected(identity) => Some(identity),
            Self::SignedIn(session) => Some(&session.identity),
        }
    }

    /// The response to an anonymous caller where an identity is required.
    pub(super) fn challenge(&self, access: &Access) -> HttpError {
        match self {
            Self::Unproved(why) if why.code == Code::KeysUnavailable => {
                // The response doesn't reveal where the keys are.
                tracing::warn!("cannot verify a token: {}", printable(&why.message));
                HttpError::new(
                    hyper::StatusCode::SERVICE_UNAVAILABLE,
                    why.code.name(),
                    "the keys of the token's issuer are unavailable: try again later",
                )
            }
            Self::Unproved(why) => {
                HttpError::unauthorized(why.code.name(), &why.message, &why.realm)
            }
            _ => HttpError::unauthorized(
                Code::MissingToken.name(),
                "not signed in: a bearer token is required",
                access.authenticators.default_realm(),
            ),
        }
    }
}

async fn verified(access: &Access, header: &[u8]) -> Result<Arc<Identity>, TokenError> {
    let token = std::str::from_utf8(header).ok().and_then(|text| {
        let (scheme, token) = text.split_once(' ')?;
        let token = token.trim();
        (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
    });
    match token {
        Some(token) => access.authenticators.verify(token, clock::wall()).await,
        None => Err(TokenError {
            code: Code::InvalidFormat,
            message: "invalid Authorization header: expected `Bearer TOKEN`".to_owned(),
            realm: access.authenticators.default_realm().to_owned(),
        }),
    }
}

/// Root and the server's own user may do everything: they could do it anyway. Others have an identity
/// only where the configuration says so.
async fn at_socket(server: &Server, access: &Access, unix: UnixPeer) -> Option<Identity> {
    let is_master = unix.uid == 0 || unix.uid == geteuid().as_raw();
    if !is_master && access.sockets.is_none() {
        return None;
    }
    let names = server.unix_names.look_up(unix.uid, unix.gid).await;
    let issuer = access.sockets.as_deref().unwrap_or("unix-socket");
    let mut claims = Map::new();
    claims.insert("iss".to_owned(), json!(issuer));
    claims.insert("uid".to_owned(), json!(unix.uid));
    claims.insert("gid".to_owned(), json!(unix.gid));
    let uid = match names {
        Some((user, group)) => {
            claims.insert("preferred_username".to_owned(), json!(user));
            claims.insert("groups".to_owned(), json!([group]));
            user
        }
        None => unix.uid.to_string(),
    };
    claims.insert("sub".to_owned(), json!(uid));
    Some(Identity {
        claims,
        uid,
        admin: match is_master {
            true => AdminOf::Everything,
            false => AdminOf::Nothing,
        },
    })
}

fn certified(issuer: &str, certificate: &PeerCertificate) -> Identity {
    let mut claims = Map::new();
    claims.insert("iss".to_owned(), json!(issuer));
    claims.insert("sub".to_owned(), json!(certificate.subject));
    if let Some(name) = &certificate.common_name {
        claims.insert("preferred_username".to_owned(), json!(name));
    }
    let groups = certificate.organizations.iter();
    let groups: Vec<Value> = groups.map(|group| json!(group)).collect();
    claims.insert("groups".to_owned(), Value::Array(groups));
    Identity {
        claims,
        uid: certificate.subject.clone(),
        admin: AdminOf::Nothing,
    }
}
