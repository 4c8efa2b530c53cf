//! `postgres://…`, parsed and displayed.

use std::fmt;
use std::path::{Path, PathBuf};

use portcullis_core::percent;
use postgres::Config;
use postgres::config::{Host, SslMode, TargetSessionAttrs};

use super::password;
use super::tls::{Roots, Tls};
use crate::error::LocationError;

/// Options that are of the library itself.
const KNOWN: &[&str] = &[
    "user",
    "password",
    "dbname",
    "options",
    "application_name",
    "sslnegotiation",
    "host",
    "hostaddr",
    "port",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "target_session_attrs",
    "channel_binding",
    "load_balance_hosts",
];

/// Options that others know.
const UNSUPPORTED: &[&str] = &[
    "sslcert",
    "sslkey",
    "sslpassword",
    "sslcrl",
    "sslcrldir",
    "sslsni",
    "sslcompression",
    "sslcertmode",
    "ssl_min_protocol_version",
    "ssl_max_protocol_version",
    "gssencmode",
    "gsslib",
    "krbsrvname",
    "passfile",
    "service",
    "client_encoding",
    "replication",
    "requirepeer",
    "require_auth",
    "fallback_application_name",
];

/// Which server, database and user, and how to reach them. Shown without the password.
#[derive(Clone)]
pub(crate) struct Address {
    config: Config,
    tls: Tls,
    prepared_statements: bool,
}

impl Address {
    pub(crate) fn parse(url: &str, base: &Path) -> Result<Self, LocationError> {
        let error = |text: &str| LocationError(text.to_owned());
        let (_, rest) = url
            .split_once("://")
            .ok_or_else(|| error("`postgres:` must be followed by `//`"))?;
        let (credentials, server) = rest.split_once('@').unwrap_or(("", rest));
        let (authority, _) = server.split_once(['/', '?']).unwrap_or((server, ""));
        if authority.contains('@') {
            return Err(error("write an `@` in a user name or password as `%40`"));
        }
        let (place, query) = server.split_once('?').unwrap_or((server, ""));
        let mut mode = None;
        let mut root = None;
        let mut prepared_statements = false;
        let mut kept = Vec::new();
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option
                .split_once('=')
                .ok_or_else(|| error("an option after `?` has no value"))?;
            match name {
                "sslmode" => mode = Some(value),
                "sslrootcert" => root = Some(value),
                "prepared_statements" => {
                    let wrong = "invalid `prepared_statements`: expected true or false";
                    prepared_statements = value.parse().map_err(|_| error(wrong))?;
                }
                _ if KNOWN.contains(&name) => kept.push(option),
                _ if UNSUPPORTED.contains(&name) => {
                    return Err(LocationError(format!(
                        "the option `{name}` is not supported"
                    )));
                }
                // It is not repeated: it may be a part of a password with a `?` in it.
                _ => return Err(error("there is an unknown option after `?`")),
            }
        }
        let at = if rest.contains('@') { "@" } else { "" };
        let plain = format!("postgres://{credentials}{at}{place}?{}", kept.join("&"));
        let mut config: Config = plain.parse().map_err(|error: postgres::Error| {
            // Says which option, never its value.
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            LocationError(format!(
                "not a valid PostgreSQL address: {}",
                cause.unwrap_or_else(|| error.to_string())
            ))
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(error("the address has no host"));
        }
        // Of several servers one accepts writes: the others are its standbys.
        let hosts = config.get_hosts().len().max(config.get_hostaddrs().len());
        let is_said = kept
            .iter()
            .any(|option| option.starts_with("target_session_attrs="));
        if hosts > 1 && !is_said {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        let tls = tls(&config, mode, root, base)?;
        config.ssl_mode(match tls {
            Tls::Never => SslMode::Disable,
            Tls::Prefer => SslMode::Prefer,
            _ => SslMode::Require,
        });
        Ok(Self {
            config,
            tls,
            prepared_statements,
        })
    }

    /// Whether the server shall keep statements for a connection, which a pooler may not allow.
    pub(super) fn has_prepared_statements(&self) -> bool {
        self.prepared_statements
    }

    pub(super) fn tls(&self) -> &Tls {
        &self.tls
    }

    /// How to connect, with the password from wherever it is.
    pub(super) fn config(&self) -> Config {
        let mut config = self.config.clone();
        if config.get_password().is_none()
            && let Some(password) = password::find(&config)
        {
            config.password(password);
        }
        config
    }
}

/// What is asked of TLS, with the same words and the same meaning as elsewhere.
fn tls(
    config: &Config,
    mode: Option<&str>,
    root: Option<&str>,
    base: &Path,
) -> Result<Tls, LocationError> {
    let sockets = |host: &Host| matches!(host, Host::Unix(_));
    let roots = match root {
        None | Some("system") => Roots::System,
        Some(path) => Roots::File(base.join(unescaped(path)?)),
    };
    let tls = match mode.unwrap_or("prefer") {
        "disable" => Tls::Never,
        "prefer" => Tls::Prefer,
        "require" if root.is_none() => Tls::Require,
        "require" | "verify-ca" => Tls::VerifyAuthority(roots),
        "verify-full" => Tls::VerifyFull(roots),
        _ => {
            return Err(LocationError(
                "invalid `sslmode`: expected disable, prefer, require, verify-ca or verify-full"
                    .to_owned(),
            ));
        }
    };
    // Nothing is encrypted on the way through a socket, whatever is asked.
    Ok(
        match config.get_hosts().iter().all(sockets) && !config.get_hosts().is_empty() {
            true => Tls::Never,
            false => tls,
        },
    )
}

/// A path in an option, with `%20` and the like resolved.
fn unescaped(text: &str) -> Result<PathBuf, LocationError> {
    let path = percent::decoded(text).ok_or_else(|| {
        let wrong = "`sslrootcert` is not UTF-8, or has a `%` without two digits after it";
        LocationError(wrong.to_owned())
    })?;
    Ok(path.into_owned().into())
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.config.get_user() {
            write!(f, "{user}@")?;
        }
        let ports = self.config.get_ports();
        for (place, host) in self.config.get_hosts().iter().enumerate() {
            if place > 0 {
                f.write_str(",")?;
            }
            match host {
                Host::Tcp(host) if host.contains(':') => write!(f, "[{host}]")?,
                Host::Tcp(host) => f.write_str(host)?,
                Host::Unix(path) => write!(f, "{}", path.display())?,
            }
            if let Some(port) = ports.get(place).or_else(|| ports.first()) {
                write!(f, ":{port}")?;
            }
        }
        for (place, address) in self.config.get_hostaddrs().iter().enumerate() {
            if self.config.get_hosts().is_empty() {
                write!(f, "{}{address}", if place > 0 { "," } else { "" })?;
            }
        }
        match self.config.get_dbname() {
            Some(name) => write!(f, "/{name}"),
            None => Ok(()),
        }
    }
}
