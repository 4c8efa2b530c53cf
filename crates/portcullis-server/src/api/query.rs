//! The query of a URL: each parameter at most once, unknown ones rejected.

use hyper::http::request::Parts;
use portcullis_core::text::shortened;
use serde::de::DeserializeOwned;

use crate::http::error::HttpError;

/// Parameters that have not been asked for yet.
#[derive(Debug)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    pub(super) fn of(head: &Parts) -> Self {
        let text = head.uri.query().unwrap_or_default();
        let pairs = form_urlencoded::parse(text.as_bytes());
        Self(pairs.into_owned().collect())
    }

    /// The value of a parameter, if it is there.
    pub(super) fn take(&mut self, name: &'static str) -> Result<Option<String>, HttpError> {
        let Some(place) = self.0.iter().position(|(own, _)| own == name) else {
            return Ok(None);
        };
        let (_, value) = self.0.remove(place);
        if self.0.iter().any(|(own, _)| own == name) {
            return Err(HttpError::bad_request(format!("{name} is given twice")));
        }
        Ok(Some(value))
    }

    /// All values of a parameter that may be there more than once.
    pub(super) fn take_all(&mut self, name: &str) -> Vec<String> {
        let mut values = Vec::new();
        self.0.retain_mut(|(own, value)| {
            let is_it = own == name;
            if is_it {
                values.push(std::mem::take(value));
            }
            !is_it
        });
        values
    }

    /// The value of a parameter that is one of a few words.
    pub(super) fn take_word<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, HttpError> {
        let Some(word) = self.take(name)? else {
            return Ok(None);
        };
        let value = serde_json::from_value(serde_json::Value::String(word));
        // serde says which words there are.
        value
            .map(Some)
            .map_err(|why| HttpError::bad_request(format!("{name}: {why}")))
    }

    /// Nothing may be left.
    pub(super) fn done(self) -> Result<(), HttpError> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => {
                let message = format!("unknown parameter {:?}", shortened(name, 64));
                Err(HttpError::bad_request(message))
            }
        }
    }
}
