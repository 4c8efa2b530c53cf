//! What all calls of a host share: settings, trust, programs and tokens.

use portcullis_net::Trust;

use crate::forward_rule::AllowedTargets;
use crate::google::Tokens;
use crate::settings::HostSettings;
use crate::tool::Tools;

/// What calls share.
#[derive(Debug)]
pub(crate) struct HostContext {
    pub(crate) settings: HostSettings,
    pub(crate) allowed: AllowedTargets,
    /// For forwards: the authorities given, or else the system's.
    pub(crate) forward_trust: Trust,
    /// For services: the system's authorities.
    pub(crate) service_trust: Trust,
    pub(crate) tools: Tools,
    pub(crate) tokens: Tokens,
}
