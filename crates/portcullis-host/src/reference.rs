//! References to images: `host:port/path:tag@digest`.

use crate::text::excerpt;

/// A reference that follows the grammar, so that it can be an argument of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    text: String,
    name: String,
    tag: Option<String>,
    digest: Option<String>,
}

impl Reference {
    /// Reads a reference.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let parts = split(text).filter(Parts::are_fine).ok_or_else(|| {
            format!(
                "`{}` is not a reference to an image",
                excerpt(text.as_bytes(), 100)
            )
        })?;
        Ok(Self {
            text: text.to_owned(),
            name: parts.name.to_owned(),
            tag: parts.tag.map(str::to_owned),
            digest: parts.digest.map(str::to_owned),
        })
    }

    /// As it was written.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Without tag and digest.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The tag.
    pub(crate) fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// The digest, with its algorithm.
    pub(crate) fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }
}

/// The name of a reference in which the tag may be anything, even a variable.
pub(crate) fn name_of(text: &str) -> &str {
    let text = text.split('@').next().unwrap_or_default();
    split_tag(text).0
}

struct Parts<'a> {
    name: &'a str,
    tag: Option<&'a str>,
    digest: Option<&'a str>,
}

fn split(text: &str) -> Option<Parts<'_>> {
    let (rest, digest) = match text.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest)),
        None => (text, None),
    };
    let (name, tag) = split_tag(rest);
    Some(Parts { name, tag, digest }).filter(|p| !p.name.is_empty())
}

/// The tag is what follows the last colon, unless a slash follows that.
fn split_tag(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (text, None),
    }
}

impl Parts<'_> {
    fn are_fine(&self) -> bool {
        self.name.len() <= 255
            && name_is_fine(self.name)
            && self.tag.is_none_or(tag_is_fine)
            && self.digest.is_none_or(digest_is_fine)
    }
}

fn name_is_fine(name: &str) -> bool {
    let (domain, path) = match name.split_once('/') {
        Some((first, rest)) if is_domain(first) => (Some(first), rest),
        _ => (None, name),
    };
    domain.is_none_or(domain_is_fine) && path.split('/').all(component_is_fine)
}

/// The first part of a name is a host if it can't be anything else.
pub(crate) fn is_domain(first: &str) -> bool {
    first == "localhost"
        || first.contains(['.', ':', '['])
        || first.bytes().any(|b| b.is_ascii_uppercase())
}

fn domain_is_fine(domain: &str) -> bool {
    let inside = domain.rfind(']').unwrap_or(0);
    let (host, port) = match domain.rsplit_once(':') {
        Some((host, port)) if host.len() >= inside => (host, Some(port)),
        _ => (domain, None),
    };
    let digits = |p: &str| (1..=5).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_digit());
    if !port.is_none_or(digits) {
        return false;
    }
    if let Some(inner) = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')) {
        return inner.parse::<std::net::Ipv6Addr>().is_ok();
    }
    host.split('.').all(|label| {
        !label.is_empty()
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    })
}

/// Letters and digits, with one `.`, one or two `_`, or any number of `-` between them.
fn component_is_fine(component: &str) -> bool {
    let word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let ends = |b: Option<u8>| b.is_some_and(word);
    if !ends(component.bytes().next()) || !ends(component.bytes().last()) {
        return false;
    }
    component
        .split(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        .all(|gap| matches!(gap, "" | "." | "_" | "__") || gap.bytes().all(|b| b == b'-'))
}

fn tag_is_fine(tag: &str) -> bool {
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    (1..=128).contains(&tag.len())
        && tag.bytes().next().is_some_and(word)
        && tag.bytes().all(|b| word(b) || b == b'.' || b == b'-')
}

fn digest_is_fine(digest: &str) -> bool {
    let Some((algorithm, hex)) = digest.split_once(':') else {
        return false;
    };
    let part = |p: &str| {
        p.bytes().next().is_some_and(|b| b.is_ascii_alphabetic())
            && p.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    let lower = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    algorithm.len() <= 32
        && algorithm.split(['+', '.', '_', '-']).all(part)
        && (32..=256).contains(&hex.len())
        && hex.bytes().all(lower)
        && (algorithm != "sha256" || hex.len() == 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn references() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        for good in [
            "img",
            "img:1",
            "r.example/img1:1",
            "localhost:5000/a/b__c.d-e---f:Tag_1.0",
            "[::1]:5000/img",
            "HOST/img",
            "docker.io/library/nginx",
        ] {
            let reference = Reference::parse(good).unwrap();
            assert_eq!(reference.as_str(), good);
            assert!(
                Reference::parse(&format!("{good}@{digest}")).is_ok(),
                "{good}"
            );
        }
        let full = Reference::parse(&format!("h:1/a:t@{digest}")).unwrap();
        assert_eq!(full.name(), "h:1/a");
        assert_eq!(full.digest(), Some(digest.as_str()));
    }

    #[test]
    fn what_is_no_reference() {
        for bad in [
            "",
            "--help",
            "-h",
            "-x/y",
            "a b",
            "a\nb",
            "a\0b",
            "img:",
            "img:-x",
            ":tag",
            "/img",
            "img/",
            "a//b",
            "Img",
            "a/Img",
            "img@",
            "img@sha256:xyz",
            "img@sha256:00",
            "a@b@c",
            "h:port/img",
            "-h.example/img",
            "a._b",
            "a___b",
            "a..b",
            "$(id)",
            "img;id",
            "https://h/img",
            "é",
        ] {
            assert!(Reference::parse(bad).is_err(), "{bad}");
        }
        let message = Reference::parse("--help").unwrap_err();
        assert_eq!(message, "`--help` is not a reference to an image");
        assert!(Reference::parse(&"a".repeat(256)).is_err());
    }

    proptest! {
        #[test]
        fn nothing_can_be_mistaken_for_a_flag_or_hold_odd_characters(text in ".{0,40}") {
            if Reference::parse(&text).is_ok() {
                prop_assert!(!text.starts_with('-'));
                prop_assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-:/@[]+".contains(&b)));
            }
        }

        #[test]
        fn names_have_no_tag(text in "[a-z:/@.]{0,20}") {
            let name = name_of(&text);
            prop_assert!(text.starts_with(name));
        }
    }
}
