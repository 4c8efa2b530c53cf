//! The `authorization` key: what is written, and the authorizers that chains ask.

use std::{collections::BTreeMap, path::PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use portcullis_document::Origin;

/// Who may do what: authorizers and the chains that ask them.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(rename = "Authorization")]
pub(crate) struct AuthorizationSpec {
    /// Authorizers. `AlwaysAllow`, `AlwaysDeny` and the profiles of `graph` exist without being listed.
    pub(crate) authorizers: Vec<AuthorizerSpec>,
    /// Chains by name: the authorizers that are asked, in order. `POST
    /// /authorize/NAME` asks the chain `NAME`, plain `/authorize` the chain `default`.
    pub(crate) chains: BTreeMap<String, Vec<String>>,
}

/// An authorizer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Authorizer")]
pub(crate) struct AuthorizerSpec {
    /// The name that chains use.
    pub(crate) name: String,
    /// How it decides.
    pub(crate) driver: AuthorizerDriver,
    /// For `ABAC`: the file of attributes, Kubernetes ABAC v1beta1 lines.
    pub(crate) file: Option<PathBuf>,
}

/// How an authorizer decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum AuthorizerDriver {
    /// By a file of attributes.
    #[serde(rename = "ABAC")]
    Abac,
    /// Allows everything.
    AlwaysAllow,
    /// Denies everything.
    AlwaysDeny,
    /// By a profile of `graph.profiles`, whose name it has.
    #[serde(skip)]
    Graph,
}

impl AuthorizerDriver {
    /// The authorizers that exist without being listed.
    pub(crate) const BUILT_IN: &[(&str, Self)] = &[
        ("AlwaysAllow", Self::AlwaysAllow),
        ("AlwaysDeny", Self::AlwaysDeny),
    ];

    /// The name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Abac => "ABAC",
            Self::AlwaysAllow => "AlwaysAllow",
            Self::AlwaysDeny => "AlwaysDeny",
            Self::Graph => "graph",
        }
    }
}

/// An authorizer.
#[derive(Debug, Clone)]
pub struct Authorizer {
    /// The name that chains use.
    pub name: String,
    /// How it decides.
    pub driver: AuthorizerDriver,
    /// For ABAC, always: the file of attributes.
    pub file: Option<PathBuf>,
    /// Where it is declared, or else where it is named.
    pub origin: Origin,
}
