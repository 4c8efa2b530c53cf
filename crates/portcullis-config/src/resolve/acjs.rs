//! The one listener of an acjs file.

use std::path::Path;

use super::listeners::{address, files_of_tls, socket_path};
use crate::{
    model::{
        AcjsListenerSpec, AcjsPathSpec, Bind, Listener, Principal, Service, Style, Tls, UnixSocket,
    },
    notes::Notes,
};
use portcullis_document::{Document, Origin};

const NAME: &str = "listener";
const DEFAULT_MODE: u32 = 0o600;

/// Checks and resolves it.
pub(crate) fn acjs_listener(
    document: &Document,
    spec: &AcjsListenerSpec,
    notes: &mut Notes,
) -> Vec<Listener> {
    let place = match (&spec.path, &spec.tls, &spec.mtls) {
        (Some(path), None, None) => Some((Bind::Unix(socket(document, path, notes)), None)),
        (None, Some(tls), None) => tcp(document, "tls", &tls.listen_on, notes).map(|bind| {
            let (certificate, key) = (&tls.certificate_path, &tls.private_key_path);
            (
                bind,
                Some(identity(document, "tls", certificate, key, None, notes)),
            )
        }),
        (None, None, Some(tls)) => tcp(document, "mtls", &tls.listen_on, notes).map(|bind| {
            let (certificate, key) = (&tls.certificate_path, &tls.private_key_path);
            let authorities = Some(tls.client_cas_path.as_path());
            (
                bind,
                Some(identity(
                    document,
                    "mtls",
                    certificate,
                    key,
                    authorities,
                    notes,
                )),
            )
        }),
        (None, None, None) => {
            let message = "the listener has none of `path`, `tls` and `mtls`: give it one";
            notes.fault(document.fault(NAME, message));
            None
        }
        _ => {
            let message =
                "only one listener can be configured: use one of `path`, `tls` and `mtls`";
            notes.fault(document.fault(NAME, message));
            None
        }
    };
    place
        .map(|(bind, tls)| Listener {
            name: NAME.to_owned(),
            bind,
            tls,
            serves: vec![Service::Kubernetes, Service::Metrics, Service::Health],
            connections: None,
            style: Style::Acjs,
            origin: Origin::of(document, NAME),
        })
        .into_iter()
        .collect()
}

fn tcp(document: &Document, kind: &str, listen_on: &str, notes: &mut Notes) -> Option<Bind> {
    // Go's way to say every address.
    let everywhere = listen_on
        .strip_prefix(':')
        .map(|port| format!("0.0.0.0:{port}"));
    match address(everywhere.as_deref().unwrap_or(listen_on)) {
        Ok(address) => Some(Bind::Tcp(address)),
        Err(message) => {
            notes.fault(document.fault(&format!("{NAME}.{kind}.listenOn"), message));
            None
        }
    }
}

fn identity(
    document: &Document,
    kind: &str,
    certificate: &Path,
    key: &Path,
    authorities: Option<&Path>,
    notes: &mut Notes,
) -> Tls {
    let at = |name: &str| format!("{NAME}.{kind}.{name}");
    files_of_tls(
        notes.named_file(document, &at("certificatePath"), certificate),
        notes.named_key(document, &at("privateKeyPath"), key),
        authorities.map(|named| notes.named_file(document, &at("clientCAsPath"), named)),
    )
}

fn socket(document: &Document, spec: &AcjsPathSpec, notes: &mut Notes) -> UnixSocket {
    let path = socket_path(
        document,
        &format!("{NAME}.path.socketPath"),
        &spec.socket_path,
        notes,
    );
    let params = spec.params.as_deref().unwrap_or_default();
    match access(params) {
        Ok((mode, owner, group)) => UnixSocket {
            path,
            mode,
            owner,
            group,
        },
        Err(message) => {
            notes.fault(document.fault(&format!("{NAME}.path.params"), message));
            UnixSocket {
                path,
                mode: DEFAULT_MODE,
                owner: None,
                group: None,
            }
        }
    }
}

type Access = (u32, Option<Principal>, Option<Principal>);

/// `MODE` or `MODE:USER:GROUP`; with `-` for the user or the group, neither is changed.
fn access(params: &str) -> Result<Access, String> {
    if params.is_empty() {
        return Ok((DEFAULT_MODE, None, None));
    }
    let wrong = || format!("`{params}` is not MODE or MODE:USER:GROUP, like `0660:root:docker`");
    let mode = |text: &str| {
        let octal = !text.is_empty() && text.bytes().all(|b| (b'0'..=b'7').contains(&b));
        u32::from_str_radix(text, 8)
            .ok()
            .filter(|mode| octal && *mode <= 0o777)
            .ok_or_else(wrong)
    };
    let who = |text: &str| match text.parse() {
        Ok(id) => Principal::Id(id),
        Err(_) => Principal::Name(text.to_owned()),
    };
    let parts: Vec<&str> = params.split(':').collect();
    match parts.as_slice() {
        [text] => Ok((mode(text)?, None, None)),
        [text, user, group] if user.is_empty() || group.is_empty() => {
            mode(text)?;
            Err(wrong())
        }
        [text, "-", _] | [text, _, "-"] => Ok((mode(text)?, None, None)),
        [text, user, group] => Ok((mode(text)?, Some(who(user)), Some(who(group)))),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn params_are_read_as_acjs_reads_them() {
        let name = |text: &str| Some(Principal::Name(text.to_owned()));
        assert_eq!(access(""), Ok((0o600, None, None)));
        assert_eq!(access("0666"), Ok((0o666, None, None)));
        assert_eq!(
            access("660:root:docker"),
            Ok((0o660, name("root"), name("docker")))
        );
        assert_eq!(
            access("660:0:7"),
            Ok((0o660, Some(Principal::Id(0)), Some(Principal::Id(7))))
        );
        assert_eq!(access("660:-:docker"), Ok((0o660, None, None)));
        for bad in ["a", "660:x", "999", "660::x", "1:2:3:4", ":a:b"] {
            assert!(access(bad).is_err(), "{bad}");
        }
    }
}
