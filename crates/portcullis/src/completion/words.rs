//! The words of a command line that is being typed, as far as they say where names come from.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::arguments::{Configuration, Server, Store};
use crate::client::Secret;

/// The words that a shell hands over.
#[derive(Debug, Clone, Default)]
pub(super) struct Words(Vec<String>);

impl Words {
    pub(super) fn new(words: &[OsString]) -> Self {
        let words = words.iter().map(|word| word.to_string_lossy().into_owned());
        Self(words.collect())
    }

    /// The value of a flag: the next word, or what stands behind `=`.
    pub(super) fn value(&self, flags: &[&str]) -> Option<String> {
        let mut words = self.0.iter();
        let mut found = None;
        while let Some(word) = words.next() {
            let inline = flags
                .iter()
                .find_map(|flag| word.strip_prefix(flag)?.strip_prefix('='));
            if let Some(value) = inline {
                found = Some(value.to_owned());
            } else if flags.contains(&word.as_str()) {
                found = words.next().cloned();
            }
        }
        found.filter(|value| !value.is_empty())
    }

    /// The configuration, by the rule of all commands.
    pub(super) fn configuration(&self) -> Configuration {
        let file = self.value(&["--config", "-c", "-config-file"]);
        Configuration::given(file.map(PathBuf::from))
    }

    /// The folder of policies that takes the place of a configuration.
    pub(super) fn policies(&self) -> Option<PathBuf> {
        self.value(&["--policies"]).map(PathBuf::from)
    }

    /// The server, if one is named here; the environment may name one, too.
    pub(super) fn server(&self) -> Server {
        Server {
            server: self.value(&["--server"]),
            token: self.value(&["--token"]).map(Secret),
            ca: self.value(&["--ca"]).map(PathBuf::from),
        }
    }

    /// Where decisions are read.
    pub(super) fn store(&self) -> Store {
        let Server { server, token, ca } = self.server();
        Store {
            data_dir: self.value(&["--data-dir"]).map(PathBuf::from),
            store: self.value(&["--store"]),
            server,
            token,
            ca,
        }
    }

    /// The tenant.
    pub(super) fn tenant(&self) -> Option<String> {
        self.value(&["--tenant"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_found_in_both_forms_and_the_last_one_counts() {
        let all = [
            "portcullis",
            "job",
            "show",
            "--server",
            "http://a",
            "--token=t",
            "--server=http://b",
            "--ca",
        ];
        let words = Words::new(&all.map(OsString::from));
        let server = words.server();
        assert_eq!(server.server.as_deref(), Some("http://b"));
        assert_eq!(server.token.map(|token| token.0).as_deref(), Some("t"));
        assert_eq!(server.ca, None);
        assert_eq!(words.value(&["--serv"]), None);
    }
}
