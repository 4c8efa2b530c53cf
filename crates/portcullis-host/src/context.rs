//! What all calls of a host share: settings, trust, programs and tokens.

use portcullis_net::Trust;

use crate::forward_rule::AllowedTargets;
use crate::google::Tokens;
use crate::registry::Registries;
use crate::settings::HostSettings;
use crate::tool::Tools;
use crate::verified::Verified;

/// What calls share.
#[derive(Debug)]
pub(crate) struct HostContext {
    pub(crate) settings: HostSettings,
    pub(crate) allowed: AllowedTargets,
    /// For forwards: the authorities given, or else the system's.
    pub(crate) forward_trust: Trust,
    /// For services: the system's authorities.
    pub(crate) service_trust: Trust,
    /// Where images and their signatures are.
    pub(crate) registries: Registries,
    /// Signatures that were verified a short while ago.
    pub(crate) verified: Verified,
    pub(crate) tools: Tools,
    pub(crate) tokens: Tokens,
}
