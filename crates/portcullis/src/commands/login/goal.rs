//! Which server is signed in to, and which context keeps it.

use crate::contexts::{Choice, Context, Contexts};

/// What the command line, the environment and the contexts say.
#[derive(Debug)]
pub(super) struct Given<'a> {
    /// `--server`.
    pub(super) server: Option<&'a str>,
    /// `--name`.
    pub(super) name: Option<&'a str>,
    /// `--context`, or its variable.
    pub(super) choice: &'a Choice,
    /// `PORTCULLIS_SERVER`.
    pub(super) of_environment: Option<&'a str>,
}

/// A server, and what is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Goal<'a> {
    pub(super) server: &'a str,
    /// The name of the context, if one was given or is known.
    pub(super) name: Option<&'a str>,
    /// The context of this server, with what need not be said again.
    pub(super) known: Option<&'a Context>,
}

impl<'a> Given<'a> {
    /// A flag counts more than the environment, which counts more than the current context.
    pub(super) fn goal(&self, all: &'a Contexts) -> Option<Goal<'a>> {
        let (by_flag, by_variable) = match self.choice {
            Choice::Flag(name) => (Some(name.as_str()), None),
            Choice::Variable(name) => (None, Some(name.as_str())),
            Choice::Current => (None, None),
        };
        let by_flag = self.name.or(by_flag);
        let named = by_flag.or(by_variable).and_then(|name| all.get(name).ok());
        let current = all.current().ok().flatten();
        let of_context = named.map(|context| context.server.as_str());
        let of_current = match (by_flag, by_variable) {
            (None, None) => current.map(|context| context.server.as_str()),
            _ => None,
        };
        let server = self
            .server
            .or(of_context.filter(|_| by_flag.is_some()))
            .or(self.of_environment)
            .or(of_context)
            .or(of_current)?
            .trim_end_matches('/');
        let is_of = |context: &&Context| context.is_of(server);
        let known = match by_flag {
            Some(_) => named.filter(is_of),
            None => {
                let others = all.contexts.iter();
                let mut candidates = named.into_iter().chain(current).chain(others);
                candidates.find(is_of)
            }
        };
        // A variable may name a context of another server, which stays as it is.
        let by_variable = by_variable.filter(|_| named.is_none());
        let name = by_flag
            .or(known.map(|known| known.name.as_str()))
            .or(by_variable);
        Some(Goal {
            server,
            name,
            known,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(name: &str, server: &str) -> Context {
        Context {
            name: name.to_owned(),
            server: server.to_owned(),
            ca: None,
            token: None,
            login: None,
        }
    }

    #[test]
    fn flags_count_more_than_the_environment_and_that_more_than_contexts() {
        let (one, two, other) = ("https://one", "https://two", "https://other");
        let all = Contexts {
            current: Some("1".to_owned()),
            contexts: vec![context("1", one), context("2", two)],
        };
        let flag = |name: &str| Choice::Flag(name.to_owned());
        let variable = |name: &str| Choice::Variable(name.to_owned());
        let current = Choice::Current;
        // Server, name, context, environment: which server, under which name, and what is known of it.
        for (server, name, choice, of_environment, expected) in [
            (
                None,
                None,
                &current,
                None,
                Some((one, Some("1"), Some("1"))),
            ),
            (None, None, &current, Some(other), Some((other, None, None))),
            (
                None,
                None,
                &current,
                Some(two),
                Some((two, Some("2"), Some("2"))),
            ),
            (
                Some(two),
                None,
                &current,
                Some(other),
                Some((two, Some("2"), Some("2"))),
            ),
            (
                Some("https://two/"),
                None,
                &current,
                None,
                Some((two, Some("2"), Some("2"))),
            ),
            (
                None,
                None,
                &flag("2"),
                Some(other),
                Some((two, Some("2"), Some("2"))),
            ),
            (
                None,
                Some("2"),
                &current,
                Some(other),
                Some((two, Some("2"), Some("2"))),
            ),
            (
                None,
                Some("3"),
                &current,
                Some(other),
                Some((other, Some("3"), None)),
            ),
            (None, Some("3"), &current, None, None),
            (
                None,
                None,
                &variable("2"),
                None,
                Some((two, Some("2"), Some("2"))),
            ),
            (
                None,
                None,
                &variable("2"),
                Some(other),
                Some((other, None, None)),
            ),
            (
                Some(other),
                Some("2"),
                &current,
                None,
                Some((other, Some("2"), None)),
            ),
        ] {
            let given = Given {
                server,
                name,
                choice,
                of_environment,
            };
            let goal = given.goal(&all);
            let found = goal.map(|goal| {
                let known = goal.known.map(|known| known.name.as_str());
                (goal.server, goal.name, known)
            });
            assert_eq!(found, expected, "{given:?}");
        }
    }
}
