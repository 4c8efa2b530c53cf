//! Authorizers and their ordered chain: Allow, Deny or no opinion.
//!
//! The first opinion ends the chain. An authorizer that fails ends it too, without an opinion: a
//! later Allow must not stand in for a Deny that could not be computed.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::access::Access;
use crate::clock::{self, Stopwatch};
use crate::verdict::DecisionId;
use crate::vocabulary;

/// What an authorizer says, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opinion {
    /// Yes; no other authorizer is asked.
    Allow(String),
    /// No; no other authorizer is asked.
    Deny(String),
    /// Neither; the next one is asked.
    NoOpinion(String),
}

impl Opinion {
    /// The opinion without its reason.
    pub fn kind(&self) -> OpinionKind {
        match self {
            Self::Allow(_) => OpinionKind::Allow,
            Self::Deny(_) => OpinionKind::Deny,
            Self::NoOpinion(_) => OpinionKind::NoOpinion,
        }
    }

    /// `allow`, `deny` or `no_opinion`.
    pub fn as_str(&self) -> &'static str {
        self.kind().as_str()
    }

    /// Why.
    pub fn reason(&self) -> &str {
        match self {
            Self::Allow(reason) | Self::Deny(reason) | Self::NoOpinion(reason) => reason,
        }
    }
}

vocabulary! {
    /// An opinion without its reason.
    pub enum OpinionKind {
        /// Yes.
        Allow = "allow",
        /// No.
        Deny = "deny",
        /// Neither.
        NoOpinion = "no_opinion",
    }
}

/// An authorizer that could not answer.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct AuthorizerError(pub String);

/// One named judge of access.
pub trait Authorizer: Send + Sync {
    /// What it says.
    fn authorize(&self, access: &Access) -> Result<Opinion, AuthorizerError>;
}

/// What one authorizer said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessStep {
    /// Name of the authorizer.
    pub authorizer: Arc<str>,
    /// Its opinion, or why it has none.
    pub said: Result<Opinion, String>,
    /// How long it took.
    pub duration: Duration,
}

/// The answer to one request for authorization.
#[derive(Debug, Clone)]
pub struct AccessVerdict {
    /// Name of this decision.
    pub id: DecisionId,
    /// The opinion that counts.
    pub opinion: Opinion,
    /// Whose opinion it is; none if no authorizer had one.
    pub authorizer: Option<Arc<str>>,
    /// What went wrong, if anything did. Never together with an Allow.
    pub error: Option<String>,
    /// What every authorizer said, in order.
    pub trace: Vec<AccessStep>,
    /// How long it all took.
    pub duration: Duration,
}

/// Authorizers in the order in which they are asked.
#[derive(Clone, Default)]
pub struct AuthorizerChain {
    authorizers: Vec<(Arc<str>, Arc<dyn Authorizer>)>,
}

impl fmt::Debug for AuthorizerChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl AuthorizerChain {
    /// A chain of these authorizers, in this order.
    pub fn new(authorizers: Vec<(Arc<str>, Arc<dyn Authorizer>)>) -> Self {
        Self { authorizers }
    }

    /// Names of the authorizers, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.authorizers.iter().map(|(name, _)| name.as_ref())
    }

    /// The chain that has only the authorizer of this name.
    pub fn only(&self, name: &str) -> Option<Self> {
        let mut all = self.authorizers.iter();
        let one = all.find(|(own, _)| own.as_ref() == name)?;
        Some(Self::new(vec![one.clone()]))
    }

    /// Asks one after the other until one has an opinion or fails.
    pub fn decide(&self, access: &Access) -> AccessVerdict {
        let stopwatch = Stopwatch::start();
        let mut verdict = AccessVerdict {
            id: DecisionId::new(clock::wall()),
            opinion: Opinion::NoOpinion("no authorizer allowed it".into()),
            authorizer: None,
            error: None,
            trace: Vec::with_capacity(self.authorizers.len()),
            duration: Duration::ZERO,
        };
        let mut reasons: Vec<String> = Vec::new();
        for (name, authorizer) in &self.authorizers {
            let one = Stopwatch::start();
            let said = match catch_unwind(AssertUnwindSafe(|| authorizer.authorize(access))) {
                Ok(Ok(opinion)) => Ok(opinion),
                Ok(Err(AuthorizerError(text))) => Err(text),
                Err(_) => Err("it panicked".into()),
            };
            let (name, duration) = (Arc::clone(name), one.elapsed());
            verdict.trace.push(AccessStep {
                authorizer: Arc::clone(&name),
                said: said.clone(),
                duration,
            });
            match said {
                Ok(Opinion::NoOpinion(reason)) => reasons.push(reason),
                Ok(opinion) => {
                    verdict.opinion = opinion;
                    verdict.authorizer = Some(name);
                    break;
                }
                Err(text) => {
                    verdict.opinion = Opinion::NoOpinion(format!("{name} could not decide"));
                    verdict.error = Some(format!("{name}: {text}"));
                    break;
                }
            }
        }
        if verdict.authorizer.is_none() && verdict.error.is_none() && !reasons.is_empty() {
            verdict.opinion = Opinion::NoOpinion(reasons.join("; "));
        }
        verdict.duration = stopwatch.elapsed();
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Target;

    struct Says(fn() -> Result<Opinion, AuthorizerError>);

    impl Authorizer for Says {
        fn authorize(&self, _: &Access) -> Result<Opinion, AuthorizerError> {
            (self.0)()
        }
    }

    fn decide(authorizers: &[fn() -> Result<Opinion, AuthorizerError>]) -> AccessVerdict {
        let named = authorizers.iter().enumerate().map(|(i, says)| {
            let authorizer: Arc<dyn Authorizer> = Arc::new(Says(*says));
            (Arc::from(format!("a{i}")), authorizer)
        });
        AuthorizerChain::new(named.collect()).decide(&Access {
            user: Default::default(),
            verb: "get".into(),
            target: Target::Path("/x".into()),
            context: Default::default(),
        })
    }

    fn allow() -> Result<Opinion, AuthorizerError> {
        Ok(Opinion::Allow("yes".into()))
    }

    fn deny() -> Result<Opinion, AuthorizerError> {
        Ok(Opinion::Deny("no".into()))
    }

    fn nothing() -> Result<Opinion, AuthorizerError> {
        Ok(Opinion::NoOpinion("who knows".into()))
    }

    #[test]
    fn the_first_opinion_wins() {
        assert_eq!(
            decide(&[nothing, allow, deny]).opinion,
            Opinion::Allow("yes".into())
        );
        assert_eq!(
            decide(&[nothing, deny, allow]).opinion,
            Opinion::Deny("no".into())
        );
        assert_eq!(decide(&[nothing, deny, allow]).trace.len(), 2);
    }

    #[test]
    fn one_can_be_asked_alone() {
        let says: Arc<dyn Authorizer> = Arc::new(Says(allow));
        let chain = AuthorizerChain::new(vec![("a".into(), says.clone()), ("b".into(), says)]);
        let alone = chain.only("b").unwrap();
        assert_eq!(alone.names().collect::<Vec<_>>(), ["b"]);
        assert!(chain.only("c").is_none());
    }

    #[test]
    fn nobody_with_an_opinion_is_no_opinion() {
        assert_eq!(
            decide(&[nothing]).opinion,
            Opinion::NoOpinion("who knows".into())
        );
        assert!(matches!(decide(&[]).opinion, Opinion::NoOpinion(_)));
    }

    #[test]
    fn a_failure_never_becomes_an_allow() {
        let broken: fn() -> Result<Opinion, AuthorizerError> =
            || Err(AuthorizerError("broken".into()));
        let panics: fn() -> Result<Opinion, AuthorizerError> = || panic!("oh");
        for bad in [broken, panics] {
            let verdict = decide(&[bad, allow]);
            assert!(matches!(verdict.opinion, Opinion::NoOpinion(_)));
            assert!(verdict.error.is_some_and(|e| e.starts_with("a0: ")));
        }
    }
}
