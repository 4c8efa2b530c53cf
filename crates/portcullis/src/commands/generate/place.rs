//! Where the API server finds Portcullis: a URL, or a Service.

use clap::Args;
use portcullis_config::Loaded;
use portcullis_net::Address;
use portcullis_watch::NamespacedName;
use serde_json::{Value, json};

use super::authority;
use crate::commands::failure::Failure;
use crate::exit::Exit;

/// The usual port of a Service.
const HTTPS: u16 = 443;

/// Where Portcullis is, as the API server sees it.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct PlaceArguments {
    /// The address of Portcullis as the API server reaches it: `https://HOST[:PORT][/PATH]`.
    #[arg(long, value_name = "URL", value_parser = url, conflicts_with = "service")]
    url: Option<String>,
    /// The Service of Portcullis, with its namespace and port [default port: 443] [default: the one of a managed
    /// certificate].
    #[arg(long, value_name = "NAMESPACE/NAME[:PORT]", value_parser = service)]
    service: Option<Service>,
}

/// A Service in a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Service {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) port: u16,
}

/// Where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    Url(String),
    Service(Service),
}

impl PlaceArguments {
    /// Whether the command line says something.
    pub(super) fn is_given(&self) -> bool {
        self.url.is_some() || self.service.is_some()
    }

    /// What the command line says, or else the Service that a managed certificate is for.
    pub(super) fn place(&self, loaded: &Loaded) -> Result<Place, Failure> {
        if let Some(url) = &self.url {
            return Ok(Place::Url(url.clone()));
        }
        let managed = authority::managed(loaded).and_then(|managed| managed.service.as_ref());
        let named = managed.map(|NamespacedName { namespace, name }| Service {
            namespace: namespace.clone(),
            name: name.clone(),
            port: HTTPS,
        });
        let service = self.service.clone().or(named).ok_or_else(|| {
            Failure::new(
                Exit::Usage,
                "no address: say where the API server finds Portcullis with --service NAMESPACE/NAME or --url URL",
            )
        })?;
        Ok(Place::Service(service))
    }
}

impl Place {
    /// The namespace that Portcullis runs in, if that is known.
    pub(super) fn namespace(&self) -> Option<&str> {
        match self {
            Self::Url(_) => None,
            Self::Service(service) => Some(&service.namespace),
        }
    }

    /// `clientConfig` of a webhook at this path, without the CA.
    pub(super) fn client_config(&self, path: &str) -> Value {
        match self {
            Self::Url(_) => json!({"url": self.url(path)}),
            Self::Service(service) => json!({"service": {
                "namespace": service.namespace,
                "name": service.name,
                "port": service.port,
                "path": path,
            }}),
        }
    }

    /// The address of this path.
    pub(super) fn url(&self, path: &str) -> String {
        match self {
            Self::Url(url) => format!("{url}{path}"),
            Self::Service(Service {
                namespace,
                name,
                port: HTTPS,
            }) => format!("https://{name}.{namespace}.svc{path}"),
            Self::Service(service) => format!(
                "https://{}.{}.svc:{}{path}",
                service.name, service.namespace, service.port
            ),
        }
    }
}

fn url(text: &str) -> Result<String, String> {
    let address = Address::parse(text).map_err(|error| error.to_string())?;
    let Address::Web(web) = address else {
        return Err("expected https://HOST".to_owned());
    };
    if !web.secure {
        return Err("the API server calls webhooks over https:// only".to_owned());
    }
    if web.query.is_some() {
        return Err("a query is not allowed here".to_owned());
    }
    web.check_plain().map_err(|error| error.to_string())?;
    Ok(text.trim_end_matches('/').to_owned())
}

fn service(text: &str) -> Result<Service, String> {
    let wrong = || "expected NAMESPACE/NAME or NAMESPACE/NAME:PORT".to_owned();
    let (namespace, rest) = text.split_once('/').ok_or_else(wrong)?;
    let (name, port) = match rest.split_once(':') {
        None => (rest, HTTPS),
        Some((name, port)) => {
            let port = port.parse().ok().filter(|port| *port > 0);
            (
                name,
                port.ok_or("invalid port: expected a number from 1 to 65535")?,
            )
        }
    };
    if !is_label(namespace) || !is_label(name) {
        return Err(wrong());
    }
    Ok(Service {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        port,
    })
}

/// Whether namespaces and services can be called so.
pub(super) fn is_label(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=63).contains(&text.len())
        && text.chars().all(|c| is_plain(c) || c == '-')
        && text.starts_with(is_plain)
        && text.ends_with(is_plain)
}

/// A namespace of the command line.
pub(super) fn namespace(text: &str) -> Result<String, String> {
    match is_label(text) {
        true => Ok(text.to_owned()),
        false => Err("invalid namespace: expected lower-case letters, digits and `-`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_have_a_namespace_and_a_port() {
        let found = service("gate/portcullis").unwrap();
        assert_eq!((found.namespace.as_str(), found.port), ("gate", 443));
        assert_eq!(
            Place::Service(found).url("/x"),
            "https://portcullis.gate.svc/x"
        );
        let found = Place::Service(service("gate/portcullis:8443").unwrap());
        assert_eq!(found.url("/x"), "https://portcullis.gate.svc:8443/x");
        for wrong in [
            "", "a", "a/", "/a", "a/b:0", "a/b:x", "A/b", "a/b/c", "a/-b", "a/b:",
        ] {
            assert!(service(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_https_is_called() {
        assert_eq!(
            url("https://gate.example:8443/").unwrap(),
            "https://gate.example:8443"
        );
        for wrong in [
            "http://gate.example",
            "gate",
            "unix:///x",
            "https://a/?b",
            "https://u:p@a",
        ] {
            let said = url(wrong).unwrap_err();
            assert!(!said.contains("u:p"), "{said}");
        }
    }
}
