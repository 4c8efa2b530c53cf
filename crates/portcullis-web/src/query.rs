//! The query of a page: the filters of a list, under the names of the REST API.

use form_urlencoded::Serializer;

use crate::backend::Problem;

/// Parameters of a page, each at most once. An empty one is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads a query of which these names are known.
    pub(crate) fn parse(text: &str, known: &[&str]) -> Result<Self, Problem> {
        let mut found: Vec<(String, String)> = Vec::new();
        for (name, value) in form_urlencoded::parse(text.as_bytes()).into_owned() {
            if !known.contains(&name.as_str()) {
                let known = known.join(", ");
                let name: String = name.chars().take(64).collect();
                let message = match known.is_empty() {
                    true => format!("unknown parameter {name:?}"),
                    false => format!("unknown parameter {name:?}: expected one of {known}"),
                };
                return Err(Problem::bad_request(message));
            }
            if found.iter().any(|(own, _)| *own == name) {
                return Err(Problem::bad_request(format!("{name} is given twice")));
            }
            if !value.is_empty() {
                found.push((name, value));
            }
        }
        Ok(Self(found))
    }

    /// The value of a parameter; empty if it is absent.
    pub(crate) fn get(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(own, _)| own == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// Whether nothing is asked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same with another value of a parameter, or without it if the value is empty.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let others = self.0.iter().filter(|(own, _)| own != name);
        let mut all: Vec<(String, String)> = others.cloned().collect();
        if !value.is_empty() {
            all.push((name.to_owned(), value.to_owned()));
        }
        Self(all)
    }

    /// The path with this query.
    pub(crate) fn of(&self, path: &str) -> String {
        if self.0.is_empty() {
            return path.to_owned();
        }
        let query = Serializer::new(String::new())
            .extend_pairs(&self.0)
            .finish();
        format!("{path}?{query}")
    }
}

/// A text as one segment of a path.
pub(crate) fn segment(text: &str) -> String {
    portcullis_core::percent::encoded(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_once_and_empty_ones_are_absent() {
        let query = Query::parse(
            "verdict=deny&user=&kind=a%20b",
            &["verdict", "user", "kind"],
        );
        let query = query.unwrap();
        assert_eq!(query.get("verdict"), "deny");
        assert_eq!(query.get("user"), "");
        assert_eq!(query.of("/decisions"), "/decisions?verdict=deny&kind=a+b");
        assert_eq!(query.with("verdict", "").of("/x"), "/x?kind=a+b");
    }

    #[test]
    fn what_is_unknown_or_twice_is_named() {
        let known = ["verdict"];
        let message = |text| Query::parse(text, &known).unwrap_err().message;
        assert!(message("colour=red").contains("\"colour\""));
        assert!(message("verdict=a&verdict=b").contains("verdict is given twice"));
    }
}
