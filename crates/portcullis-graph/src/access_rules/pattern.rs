//! Patterns of users: `system:serviceaccount:seed-{name}:extension-*`.
//!
//! A capture ends where the text after it begins for the first time; there is no backtracking, so a user
//! matches in one way or not at all.

use portcullis_core::braces::Token;

use super::captures::{CaptureNames, Captured};
use super::template::tokens;
use crate::names;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(Box<str>),
    Capture(u8),
}

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Never two captures or two texts side by side.
    parts: Box<[Part]>,
    /// Whether anything may follow, but not nothing.
    open_end: bool,
}

/// Whether a user fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// It does not.
    No,
    /// It begins as all that fit do, but the rest does not fit.
    Begins,
    /// It would, but what a capture stands for is empty.
    Empty,
    /// It would, but what a capture stands for can't be a name.
    Odd,
    /// It does.
    Yes,
}

impl Pattern {
    /// Reads a pattern. Names that are new are added.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn parse(text: &str, names: &mut CaptureNames) -> Result<Self, String> {
        let (text, open_end) = match text.strip_suffix('*') {
            Some(text) => (text, true),
            None => (text, false),
        };
        let mut parts: Vec<Part> = Vec::new();
        for token in tokens(text)? {
            match (token, parts.last_mut()) {
                (Token::Text(text), _) if text.contains('*') => {
                    return Err("`*` is allowed only at the end".to_owned());
                }
                (Token::Text(text), Some(Part::Text(before))) => {
                    *before = format!("{before}{text}").into();
                }
                (Token::Text(text), _) => parts.push(Part::Text(text.into())),
                (Token::Name(name), Some(Part::Capture(_))) => {
                    return Err(format!("expected text before `{{{name}}}`"));
                }
                (Token::Name(name), _) => {
                    let number = names
                        .add(name)
                        .ok_or("there are too many names in braces")?;
                    if parts.contains(&Part::Capture(number)) {
                        return Err(format!("`{{{name}}}` is repeated"));
                    }
                    parts.push(Part::Capture(number));
                }
            }
        }
        if parts.is_empty() {
            return Err("the pattern has neither text nor a name in braces".to_owned());
        }
        if open_end && matches!(parts.last(), Some(Part::Capture(_))) {
            return Err("expected text between a name in braces and `*`".to_owned());
        }
        let parts = parts.into();
        Ok(Self { parts, open_end })
    }

    /// The numbers of the names in it.
    pub(super) fn captures(&self) -> impl Iterator<Item = u8> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Capture(number) => Some(*number),
        })
    }

    /// Whether what it begins with is a name space of its own, like `system:node:`, and nothing but captures
    /// and what is between them follows.
    pub(super) fn has_own_prefix(&self) -> bool {
        match &*self.parts {
            [Part::Text(text), Part::Capture(_), ..] => text.ends_with(':') && !self.open_end,
            _ => false,
        }
    }

    /// Whether a user fits, and what is captured.
    pub(super) fn fit<'a>(&self, user: &'a str, captured: &mut Captured<'a>) -> Fit {
        let fit = self.capture(user, captured);
        match (fit, self.parts.first()) {
            (Fit::No, Some(Part::Text(text))) if user.starts_with(&**text) => Fit::Begins,
            _ => fit,
        }
    }

    fn capture<'a>(&self, user: &'a str, captured: &mut Captured<'a>) -> Fit {
        let mut rest = user;
        let (mut empty, mut odd) = (false, false);
        let mut parts: &[Part] = &self.parts;
        loop {
            let (number, after) = match parts {
                [Part::Text(text), after @ ..] => {
                    let Some(stripped) = rest.strip_prefix(&**text) else {
                        return Fit::No;
                    };
                    rest = stripped;
                    parts = after;
                    continue;
                }
                [Part::Capture(number), after @ ..] => (*number, after),
                [] => break,
            };
            let found = match after {
                [Part::Text(text)] if !self.open_end => {
                    rest.strip_suffix(&**text).map(|part| (part, ""))
                }
                [Part::Text(text), ..] => rest.split_once(&**text),
                _ => Some((rest, "")),
            };
            let Some((part, stripped)) = found else {
                return Fit::No;
            };
            if part.contains(':') {
                return Fit::No;
            }
            empty |= part.is_empty();
            odd |= names::check_name(part).is_err();
            captured.set(number, part);
            rest = stripped;
            parts = after.get(1..).unwrap_or_default();
        }
        match rest.is_empty() != self.open_end {
            false => Fit::No,
            true if empty => Fit::Empty,
            true if odd => Fit::Odd,
            true => Fit::Yes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::captures::{NAME, NAMESPACE};
    use super::*;

    fn fit(pattern: &str, user: &str) -> (Fit, Option<String>, Option<String>) {
        let pattern = Pattern::parse(pattern, &mut CaptureNames::default()).unwrap();
        let mut captured = Captured::default();
        let fit = pattern.fit(user, &mut captured);
        let of = |number| captured.get(number).map(str::to_owned);
        (fit, of(NAMESPACE), of(NAME))
    }

    #[test]
    fn users_fit_in_one_way_or_not_at_all() {
        let seed = "gardener.cloud:system:seed:{name}";
        let extension = "system:serviceaccount:seed-{name}:extension-*";
        let shoot = "gardener.cloud:system:shoot:{namespace}:{name}";
        let hosted = "system:serviceaccount:{namespace}:extension-shoot--{name}--*";
        for (pattern, user, namespace, name) in [
            (seed, "gardener.cloud:system:seed:s1", "", "s1"),
            (
                extension,
                "system:serviceaccount:seed-s1:extension-foo",
                "",
                "s1",
            ),
            (
                shoot,
                "gardener.cloud:system:shoot:garden-p1:sh1",
                "garden-p1",
                "sh1",
            ),
            (
                hosted,
                "system:serviceaccount:garden:extension-shoot--a--b--c",
                "garden",
                "a",
            ),
            ("x-{name}-end", "x-a-end-end", "", "a-end"),
            ("x{{{name}}}", "x{a}", "", "a"),
        ] {
            let (fit, ns, n) = fit(pattern, user);
            assert_eq!(fit, Fit::Yes, "{user}");
            assert_eq!(
                (ns.unwrap_or_default().as_str(), n.unwrap().as_str()),
                (namespace, name)
            );
        }
        for (pattern, user) in [
            (seed, "gardener.cloud:system:seed"),
            (seed, "xgardener.cloud:system:seed:s1"),
            (extension, "extension-foo"),
            ("{name}-x", "a:b-x"),
        ] {
            assert_eq!(fit(pattern, user).0, Fit::No, "{user}");
        }
        for (pattern, user) in [
            (seed, "gardener.cloud:system:seed:a:b"),
            (extension, "system:serviceaccount:seed-s1:extension-"),
            (extension, "system:serviceaccount:seed-s1:x:extension-foo"),
            (extension, "system:serviceaccount:seed-s1:gardenlet"),
            (shoot, "gardener.cloud:system:shoot:garden-p1"),
            (shoot, "gardener.cloud:system:shoot:a:b:c"),
            (hosted, "system:serviceaccount:garden:extension-shoot--a"),
            (hosted, "system:serviceaccount:garden:extension-shoot--a--"),
            ("plain", "plain2"),
        ] {
            assert_eq!(fit(pattern, user).0, Fit::Begins, "{user}");
        }
        for user in ["a/b", "a%2fb", "a\n", ".."] {
            let user = format!("gardener.cloud:system:seed:{user}");
            assert_eq!(fit(seed, &user).0, Fit::Odd, "{user}");
        }
        for (pattern, user) in [
            (seed, "gardener.cloud:system:seed:"),
            (shoot, "gardener.cloud:system:shoot::b"),
            (hosted, "system:serviceaccount:garden:extension-shoot----x"),
        ] {
            assert_eq!(fit(pattern, user).0, Fit::Empty, "{user}");
        }
    }

    #[test]
    fn refuses_what_could_fit_in_several_ways() {
        for pattern in [
            "",
            "*",
            "a*b",
            "{name}*",
            "{name}{namespace}",
            "{name}-{name}",
            "{",
            "a{b c}",
        ] {
            let parsed = Pattern::parse(pattern, &mut CaptureNames::default());
            assert!(parsed.is_err(), "{pattern}");
        }
    }
}
