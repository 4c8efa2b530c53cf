//! Strings with placeholders for values: `seed-{name}`. A literal brace is written twice.
//!
//! Which placeholders are allowed, and what replaces them, is up to each kind of template.

/// A part of a text with places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// Plain text, never empty.
    Text(&'a str),
    /// What stands in braces; may be empty, and has no braces in it.
    Name(&'a str),
}

/// Takes a text apart.
///
/// # Errors
///
/// What is wrong with its braces.
pub fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        if !before.is_empty() {
            tokens.push(Token::Text(before));
        }
        if let Some(after) = from.strip_prefix("{{") {
            tokens.push(Token::Text("{"));
            rest = after;
        } else if let Some(after) = from.strip_prefix("}}") {
            tokens.push(Token::Text("}"));
            rest = after;
        } else if let Some(inner) = from.strip_prefix('{') {
            let (name, after) = inner
                .split_once('}')
                .filter(|(name, _)| !name.contains('{'))
                .ok_or("a `{` is not closed; write a literal brace as `{{`")?;
            tokens.push(Token::Name(name));
            rest = after;
        } else {
            return Err("a `}` was not opened; write a literal brace as `}}`".to_owned());
        }
    }
    if !rest.is_empty() {
        tokens.push(Token::Text(rest));
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_between_braces() {
        use Token::{Name, Text};
        for (text, wanted) in [
            ("", &[][..]),
            ("plain é", &[Text("plain é")]),
            ("seed-{name}!", &[Text("seed-"), Name("name"), Text("!")]),
            ("{a}{b.c}", &[Name("a"), Name("b.c")]),
            ("{}", &[Name("")]),
            ("{{x}}", &[Text("{"), Text("x"), Text("}")]),
            ("{{{x}}}", &[Text("{"), Name("x"), Text("}")]),
        ] {
            assert_eq!(tokens(text).unwrap(), wanted, "{text}");
        }
    }

    #[test]
    fn lone_braces_are_wrong() {
        for (text, word) in [
            ("a{", "not closed"),
            ("{a {b}", "not closed"),
            ("{a} {b", "not closed"),
            ("a}", "not opened"),
            ("{{}", "not opened"),
        ] {
            let message = tokens(text).unwrap_err();
            assert!(message.contains(word), "{text}: {message}");
        }
    }
}
