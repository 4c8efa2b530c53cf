//! Which addresses policies may forward to.

use portcullis_core::Glob;
use portcullis_net::{Address, Host, Web};

use crate::target;

/// Where policies may forward reviews to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForwardRule {
    /// To any unix socket and any `https` address.
    Anywhere,
    /// To what one of these entries lists: `https://host:port/path`, `unix:///path` or an absolute
    /// path. In paths `*` stands for anything but `/`, and `**` for anything; a host may begin with
    /// `*.` for any one label.
    Only(Vec<String>),
}

/// One entry of the list, checked.
///
/// Scheme, host and port compare exactly, but for a `*.` in front of a name, which stands for one
/// label. The path is a glob. The query does not count.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    address: Address,
    /// The host is any one label below the name given.
    below: bool,
}

impl Pattern {
    /// Reads an entry.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        const WILD: &str = "https://*.";
        let (text, below) = match text.get(..WILD.len()) {
            Some(start) if start.eq_ignore_ascii_case(WILD) => {
                let rest = text.get(WILD.len()..).unwrap_or_default();
                (format!("https://{rest}"), true)
            }
            _ => (text.to_owned(), false),
        };
        let address = target::parse(&text)?;
        if let Address::Web(web) = &address {
            if web.query.is_some() {
                return Err("queries (`?`) are not allowed".to_owned());
            }
            web.check_confidential()
                .map_err(|error| error.to_string())?;
            if below && matches!(web.host, Host::Ip(_)) {
                return Err("`*` is allowed only as the first label of a host name".to_owned());
            }
        }
        Ok(Self { address, below })
    }

    /// Whether it lists this address.
    pub(crate) fn lists(&self, address: &Address) -> bool {
        match (&self.address, address) {
            (Address::Unix(pattern), Address::Unix(path)) => {
                match (pattern.to_str(), path.to_str()) {
                    (Some(pattern), Some(path)) => Glob::new(pattern).matches(path),
                    _ => false,
                }
            }
            (Address::Web(pattern), Address::Web(web)) => {
                pattern.secure == web.secure
                    && pattern.port == web.port
                    && self.lists_host(pattern, web)
                    && Glob::new(&pattern.path).matches(&web.path)
            }
            _ => false,
        }
    }

    fn lists_host(&self, pattern: &Web, web: &Web) -> bool {
        if !self.below {
            return pattern.host == web.host;
        }
        match (&pattern.host, &web.host) {
            (Host::Name(parent), Host::Name(name)) => {
                name.split_once('.').is_some_and(|(_, rest)| rest == parent)
            }
            _ => false,
        }
    }
}

/// The rule, checked.
#[derive(Debug)]
pub(crate) enum AllowedTargets {
    /// Any unix socket and any `https` address.
    Anywhere,
    /// What one of these lists.
    Only(Vec<Pattern>),
}

impl AllowedTargets {
    /// Reads the rule; faults come with the number of their entry.
    pub(crate) fn parse(rule: &ForwardRule) -> Result<Self, Vec<(usize, String)>> {
        let ForwardRule::Only(entries) = rule else {
            return Ok(Self::Anywhere);
        };
        let mut faults = Vec::new();
        let mut patterns = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            match Pattern::parse(entry) {
                Ok(pattern) => patterns.push(pattern),
                Err(fault) => faults.push((index, fault)),
            }
        }
        if faults.is_empty() {
            Ok(Self::Only(patterns))
        } else {
            Err(faults)
        }
    }

    /// Whether policies may forward there.
    pub(crate) fn check(&self, address: &Address) -> Result<(), String> {
        let origin = address.origin();
        if let Address::Web(web) = address {
            web.check_confidential()
                .map_err(|error| format!("{origin}: {error}"))?;
        }
        match self {
            Self::Anywhere => Ok(()),
            Self::Only(patterns) if patterns.iter().any(|p| p.lists(address)) => Ok(()),
            Self::Only(_) => Err(format!(
                "{origin}: this address is not listed in hostCalls.forwardTo"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(pattern: &str, address: &str) -> bool {
        let pattern = Pattern::parse(pattern).unwrap();
        pattern.lists(&target::parse(address).unwrap())
    }

    #[test]
    fn hosts_and_ports_compare_exactly() {
        assert!(lists(
            "https://127.0.0.1:1234/*",
            "https://127.0.0.1:1234/review"
        ));
        assert!(!lists(
            "https://127.0.0.1:1234/*",
            "https://127.0.0.1:1235/review"
        ));
        assert!(lists(
            "https://h:8443/review",
            "https://H:8443/review?timeout=1s"
        ));
        assert!(lists("https://h/review", "https://h:443/review"));
        assert!(!lists("https://h/review", "https://h/Review"));
        assert!(!lists("https://h/review", "https://h/review/"));
        assert!(!lists("https://h/**", "https://h.evil/"));
        assert!(!lists("https://h/**", "https://xh/"));
        assert!(!lists("http://127.0.0.1/**", "https://127.0.0.1:80/"));
        assert!(lists("https://[::1]/**", "https://[0:0::1]/x"));
        assert!(!lists("https://h", "https://h/x"));
    }

    #[test]
    fn a_star_in_the_host_is_one_label() {
        assert!(lists(
            "https://*.example.com/**",
            "https://a.example.com/x/y"
        ));
        assert!(!lists("https://*.example.com/**", "https://example.com/x"));
        assert!(!lists(
            "https://*.example.com/**",
            "https://a.b.example.com/x"
        ));
        assert!(!lists("https://*.example.com/**", "https://aexample.com/x"));
    }

    #[test]
    fn sockets() {
        assert!(lists("unix:///run/x.sock", "/run/x.sock"));
        assert!(lists("/run/x.sock", "unix:///run/x.sock"));
        assert!(lists("/run/*.sock", "/run/x.sock"));
        assert!(!lists("/run/*", "/run/a/x.sock"));
        assert!(!lists("/run/x.sock", "https://h/run/x.sock"));
    }

    #[test]
    fn faulty_entries() {
        for bad in [
            "",
            "other.example",
            "https://a.*.example/",
            "https://a*.example/",
            "https://*/",
            "https://*.0.0.1/",
            "https://h:*/",
            "https://h/?x",
            "https://u@h/",
            "https://h/../x",
            "http://other.example/",
            "http://*.localhost/",
            "unix://run/x",
            "é",
        ] {
            assert!(Pattern::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn plain_http_is_for_loopback_addresses() {
        let target = |a| target::parse(a).unwrap();
        let only = |e: &str| AllowedTargets::parse(&ForwardRule::Only(vec![e.to_owned()])).unwrap();
        assert!(
            AllowedTargets::Anywhere
                .check(&target("http://127.0.0.1/"))
                .is_ok()
        );
        assert!(
            AllowedTargets::Anywhere
                .check(&target("http://h/"))
                .is_err()
        );
        assert!(
            AllowedTargets::Anywhere
                .check(&target("https://h/"))
                .is_ok()
        );
        assert!(
            only("http://127.0.0.1/*")
                .check(&target("http://127.0.0.1/x"))
                .is_ok()
        );
        assert!(
            only("https://127.0.0.1/*")
                .check(&target("http://127.0.0.1/x"))
                .is_err()
        );
        assert!(
            AllowedTargets::Only(Vec::new())
                .check(&target("https://h/"))
                .is_err()
        );
    }
}
