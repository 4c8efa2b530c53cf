//! The wording of denials: as in Kubernetes.
//!
//! `pods "web" is forbidden: …` when a rule denies, `pods "web" is malformed:
//! …` when the object can't be read. An object that can't be read is denied
//! by the plug-in itself, so that no failure mode lets it pass.

use portcullis_core::{Attributes, Denial, Outcome};

use super::document;

/// No, because of a rule.
pub(crate) fn forbidden(request: &Attributes, detail: &str) -> Outcome {
    Outcome::Deny(Denial::forbidden(forbidden_text(request, detail)))
}

/// The text of [`forbidden`].
pub(crate) fn forbidden_text(request: &Attributes, detail: &str) -> String {
    format!("{} is forbidden: {detail}", subject(request))
}

/// No, because the object is not what it has to be.
pub(crate) fn malformed(request: &Attributes, detail: impl std::fmt::Display) -> Outcome {
    let subject = subject(request);
    Outcome::Deny(Denial::bad_request(format!(
        "{subject} is malformed: {detail}"
    )))
}

/// Errors as one text, joined as Kubernetes joins them: each once, in brackets if there are several. Very many are
/// only counted.
#[derive(Debug, Default)]
pub(crate) struct Aggregate {
    texts: Vec<String>,
    more: usize,
}

impl Aggregate {
    /// More errors than this are only counted.
    const MAX_TOLD: usize = 64;

    /// Adds an error.
    pub(crate) fn add(&mut self, text: String) {
        if self.texts.contains(&text) {
            return;
        }
        if self.texts.len() < Self::MAX_TOLD {
            self.texts.push(text);
        } else {
            self.more += 1;
        }
    }

    /// The text; none without errors.
    pub(crate) fn text(mut self) -> Option<String> {
        if self.more > 0 {
            self.texts.push(format!("and {} more", self.more));
        }
        match self.texts.as_slice() {
            [] => None,
            [text] => Some(text.clone()),
            texts => Some(format!("[{}]", texts.join(", "))),
        }
    }
}

/// The object by name. One without a name yet is named by its prefix.
fn subject(request: &Attributes) -> String {
    if !request.name.is_empty() {
        return request.subject();
    }
    let name = document::name(request).unwrap_or_else(|| "Unknown".to_owned());
    format!("{} {name:?}", request.resource)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::create_pod;
    use super::{Aggregate, forbidden_text};

    #[test]
    fn errors_are_joined_as_kubernetes_joins_them() {
        let joined = |texts: &[&str]| {
            let mut all = Aggregate::default();
            texts.iter().for_each(|text| all.add((*text).to_owned()));
            all.text()
        };
        assert_eq!(joined(&[]), None);
        assert_eq!(joined(&["a", "a"]).as_deref(), Some("a"));
        assert_eq!(joined(&["b", "a", "b"]).as_deref(), Some("[b, a]"));
        let many: Vec<String> = (0..70).map(|n| n.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(joined(&many).is_some_and(|text| text.ends_with(", 63, and 6 more]")));
    }

    #[test]
    fn an_object_without_a_name_goes_by_what_is_known_of_it() {
        let cases = [
            (json!({"metadata": {"name": "web"}}), "web"),
            (
                json!({"metadata": {"name": "web", "generateName": "x-"}}),
                "web",
            ),
            (json!({"metadata": {"generateName": "web-"}}), "web-"),
            (json!({"metadata": 1}), "Unknown"),
            (json!({}), "Unknown"),
        ];
        for (pod, expected) in cases {
            let mut request = create_pod(pod);
            request.name = String::new();
            assert_eq!(
                forbidden_text(&request, "no"),
                format!("pods \"{expected}\" is forbidden: no")
            );
        }
        let mut request = create_pod(json!({}));
        request.object = None;
        request.name = String::new();
        assert_eq!(
            forbidden_text(&request, "no"),
            "pods \"Unknown\" is forbidden: no"
        );
    }
}
