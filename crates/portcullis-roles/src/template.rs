//! Strings in rules that may name the tenant: `{tenant.name}-admin`.

use portcullis_core::braces::{self, Token};

/// A text with places for the name of the tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template {
    /// What stands before, between and after the places; one more than there are places.
    pieces: Vec<String>,
}

impl Template {
    /// Reads a text. `{{` and `}}` are braces.
    ///
    /// # Errors
    ///
    /// What is wrong, when anything but `{tenant.name}` is in braces, or a brace stands alone.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut piece = String::new();
        for token in braces::tokens(text)? {
            match token {
                Token::Text(text) => piece.push_str(text),
                Token::Name("tenant.name") => pieces.push(std::mem::take(&mut piece)),
                Token::Name(other) => {
                    return Err(format!(
                        "unknown placeholder `{{{other}}}`: only `{{tenant.name}}` is supported; write a literal brace as `{{{{` or `}}}}`"
                    ));
                }
            }
        }
        pieces.push(piece);
        Ok(Self { pieces })
    }

    /// Whether it names the tenant.
    pub(super) fn names_tenant(&self) -> bool {
        self.pieces.len() > 1
    }

    /// The text for a tenant.
    pub(super) fn expand(&self, tenant: &str) -> Box<str> {
        self.pieces.join(tenant).into_boxed_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tenant_is_put_in_and_braces_can_be_written() {
        for (text, wanted) in [
            ("plain", "plain"),
            ("", ""),
            ("{tenant.name}", "t1"),
            ("{tenant.name}-admin", "t1-admin"),
            ("a-{tenant.name}-{tenant.name}", "a-t1-t1"),
            ("{{tenant.name}}", "{tenant.name}"),
            ("{{{tenant.name}}}", "{t1}"),
            ("é{{}}", "é{}"),
        ] {
            let template = Template::parse(text).unwrap();
            assert_eq!(&*template.expand("t1"), wanted, "{text}");
            assert_eq!(template.names_tenant(), wanted.contains("t1"), "{text}");
        }
        // The name of a tenant is never read as a template.
        let template = Template::parse("{tenant.name}").unwrap();
        assert_eq!(&*template.expand("{tenant.name}"), "{tenant.name}");
    }

    #[test]
    fn anything_else_in_braces_is_wrong() {
        for (text, word) in [
            ("{tenant}", "`{tenant}`"),
            ("{}", "`{}`"),
            ("{tenant.name!r}", "`{tenant.name!r}`"),
            ("{ tenant.name }", "`{ tenant.name }`"),
            ("a{", "not closed"),
            ("a}", "not opened"),
            ("{{}", "not opened"),
        ] {
            let message = Template::parse(text).unwrap_err();
            assert!(message.contains(word), "{text}: {message}");
        }
    }
}
