//! Trees: values of patches, arguments and results of host calls. The rules are those of a review.

use serde_json::{Map, Value};

use super::names::{self, KeyRule};
use super::paths::Places;
use super::{Header, MASKED, Mode, Secret, credentials};
use crate::search::known::looks_random;

/// What is known of a place in a tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    mode: Mode,
    is_in_ci_job: bool,
    /// A list whose elements are Secrets.
    has_secret_items: bool,
    /// What is known of the object there besides what it says itself.
    header: Header,
}

impl Context {
    /// At the beginning of an object.
    pub(crate) fn of_object(header: Header) -> Self {
        Self {
            mode: Mode::Plain,
            is_in_ci_job: false,
            has_secret_items: false,
            header,
        }
    }

    /// In a member of an object; of the object is known what can be seen of it.
    pub(crate) fn member(self, key: &str, object: Option<&Map<String, Value>>) -> Self {
        let header = self.header.or(object.map(header_of).unwrap_or_default());
        let is_in_ci_job = self.is_in_ci_job || header.is_ci_job;
        let by_name = || {
            let (is_it, mode) = match names::key_rule(key) {
                KeyRule::None => return Mode::Plain,
                KeyRule::Secret => return Mode::Named,
                KeyRule::Environment => return Mode::Environment,
                KeyRule::Data => (header.is_secret, Mode::Everything),
                KeyRule::Variables => (is_in_ci_job, Mode::Environment),
                KeyRule::Value => (object.is_some_and(has_secret_name), Mode::Named),
            };
            if is_it { mode } else { Mode::Plain }
        };
        Self {
            mode: self.mode.of_member(key).unwrap_or_else(by_name),
            is_in_ci_job,
            has_secret_items: key == "items" && header.is_secret_list,
            header: Header::default(),
        }
    }

    /// In an element of a list.
    pub(crate) fn element(self) -> Self {
        Self {
            mode: self.mode.of_element(),
            is_in_ci_job: self.is_in_ci_job,
            has_secret_items: false,
            header: Header {
                is_secret: self.has_secret_items,
                ..Header::default()
            },
        }
    }

    /// The same place, where everything is a secret.
    fn everything(self) -> Self {
        Self {
            mode: Mode::Everything,
            ..self
        }
    }
}

fn header_of(object: &Map<String, Value>) -> Header {
    let text = |key: &str| object.get(key).and_then(Value::as_str);
    Header::new(text("apiVersion"), text("kind"))
}

fn has_secret_name(object: &Map<String, Value>) -> bool {
    let names = [object.get("name"), object.get("key")];
    let mut names = names.into_iter().flatten().filter_map(Value::as_str);
    names.any(names::is_secret)
}

/// Masks the secrets of a tree, and collects them.
pub(crate) fn mask(
    value: &mut Value,
    context: Context,
    places: Option<&Places>,
    secrets: &mut Vec<Secret<'_>>,
) {
    let is_whole = places.is_some_and(Places::is_masked);
    let context = if is_whole {
        context.everything()
    } else {
        context
    };
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => {
            if context.mode.masks() {
                secrets.push(Secret {
                    is_everywhere: context.mode != Mode::Variable,
                    ..Secret::plain(number.to_string())
                });
                *value = Value::from(0);
            }
        }
        Value::String(text) => {
            if !text.is_empty() && (context.mode.masks() || credentials::is_secret(text)) {
                let text = std::mem::replace(text, MASKED.to_owned());
                let is_sure = context.mode != Mode::Variable || looks_random(&text);
                secrets.push(Secret {
                    is_everywhere: is_sure,
                    ..Secret::plain(text)
                });
            }
        }
        Value::Array(list) => {
            for (index, element) in list.iter_mut().enumerate() {
                let inner = places.and_then(|places| places.element(index));
                mask(element, context.element(), inner, secrets);
            }
            if is_whole {
                list.clear();
            }
        }
        Value::Object(object) => {
            let contexts: Vec<Context> = object
                .keys()
                .map(|key| context.member(key, Some(object)))
                .collect();
            for ((key, member), context) in object.iter_mut().zip(contexts) {
                let inner = places.and_then(|places| places.member(key));
                mask(member, context, inner, secrets);
            }
            if is_whole {
                object.clear();
            }
        }
    }
}
