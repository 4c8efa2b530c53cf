//! What is looked at: the text of a policy, and what else is known of it.

use portcullis_script::Language;

use crate::scope::Scope;

/// A text of a policy.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// The text, as its author wrote it.
    pub text: &'a str,
    /// What it is written in.
    pub language: Language,
    /// What it is for.
    pub role: Role,
    /// The texts that run with it: what it imports, and the globals.
    pub others: Vec<&'a str>,
    /// The kinds that policies may look up in the cluster, like `apps/v1/Deployment`; nothing if no configuration says
    /// which.
    pub watched: Option<Vec<String>>,
}

/// What a text is for.
#[derive(Debug, Clone)]
pub enum Role {
    /// A policy that is asked about these requests.
    Policy(Scope),
    /// A module that policies import.
    Module,
}
