//! Who may use the REST API: processes on this machine that run as root or as the server's own user,
//! and came through a unix socket.

use hyper::header::AUTHORIZATION;
use hyper::http::request::Parts;
use nix::unistd::geteuid;
use portcullis_core::Peer;

use crate::http::error::HttpError;

/// Lets a caller go on, or says why not.
pub(super) fn admit(peer: &Peer, head: &Parts) -> Result<(), HttpError> {
    match peer.unix {
        Some(unix) if unix.uid == 0 || unix.uid == geteuid().as_raw() => Ok(()),
        Some(_) => Err(HttpError::forbidden(
            "only root and the user the server runs as may do this",
        )),
        None if head.headers.contains_key(AUTHORIZATION) => Err(HttpError::unauthorized(
            "unknown_issuer",
            "tokens are not taken here: use a unix socket of the server, as root or as its own user",
        )),
        None => Err(HttpError::unauthorized(
            "missing_token",
            "sign in, or use a unix socket of the server, as root or as its own user",
        )),
    }
}

#[cfg(test)]
mod tests {
    use portcullis_core::UnixPeer;

    use super::*;

    #[test]
    fn only_root_and_the_servers_own_user_come_in_and_only_by_a_unix_socket() {
        let head = hyper::Request::new(()).into_parts().0;
        let by_socket = |uid| Peer {
            unix: Some(UnixPeer {
                uid,
                gid: 0,
                pid: None,
            }),
            ..Peer::default()
        };
        assert!(admit(&by_socket(0), &head).is_ok());
        assert!(admit(&by_socket(geteuid().as_raw()), &head).is_ok());
        let other = geteuid().as_raw().wrapping_add(4711).max(1);
        assert_eq!(
            admit(&by_socket(other), &head).unwrap_err().code(),
            "forbidden"
        );
        let by_network = Peer {
            address: Some(([127, 0, 0, 1], 1).into()),
            ..Peer::default()
        };
        assert_eq!(
            admit(&by_network, &head).unwrap_err().code(),
            "missing_token"
        );
    }
}
