//! How a registry asks for credentials: `WWW-Authenticate` of RFC 9110, as far as registries use it.

use portcullis_net::header::{HeaderMap, WWW_AUTHENTICATE};

/// What a registry wants.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// A token of a token service.
    Bearer {
        realm: String,
        service: Option<String>,
    },
    /// A user and a password.
    Basic,
}

impl Challenge {
    /// The first one that is understood.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let all = headers.get_all(WWW_AUTHENTICATE).into_iter();
        let texts = all.filter_map(|value| value.to_str().ok());
        texts.filter_map(parse).next()
    }
}

fn parse(text: &str) -> Option<Challenge> {
    let (scheme, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    if scheme.eq_ignore_ascii_case("basic") {
        return Some(Challenge::Basic);
    }
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    let (mut realm, mut service) = (None, None);
    let mut rest = rest.trim_start();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=')?;
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_at(after.find(',').unwrap_or(after.len())),
        };
        match name.trim().to_ascii_lowercase().as_str() {
            "realm" => realm = Some(value.to_owned()),
            "service" => service = Some(value.to_owned()),
            _ => {}
        }
        rest = after.trim_start().trim_start_matches(',').trim_start();
    }
    Some(Challenge::Bearer {
        realm: realm?,
        service,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_registries_send() {
        let bearer = |realm: &str, service: Option<&str>| {
            Some(Challenge::Bearer {
                realm: realm.to_owned(),
                service: service.map(str::to_owned),
            })
        };
        for (text, expected) in [
            (
                r#"Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a:pull,push""#,
                bearer("https://auth.docker.io/token", Some("registry.docker.io")),
            ),
            (r#"bearer realm="https://a/t""#, bearer("https://a/t", None)),
            (
                "Bearer service=s, realm=https://a/t",
                bearer("https://a/t", Some("s")),
            ),
            (r#"Basic realm="r""#, Some(Challenge::Basic)),
            ("Basic", Some(Challenge::Basic)),
            ("Bearer", None),
            (r#"Bearer realm="open"#, None),
            ("Bearer x", None),
            ("Negotiate", None),
            ("", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
