//! Authenticators and roles: everything that guards the REST API and the web pages,
//! built from a configuration.
//!
//! Files are read here, not where the configuration is loaded, and faults get their places: those of
//! the tenants file in that file, those of keys where the key is named.

mod keys;
mod tenants;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use portcullis_authn::{Authenticators, SessionKey, Sessions};
use portcullis_files::Use;
use portcullis_roles::{LeftOut, Roles};

use crate::digest;
use portcullis_config::{
    self as config, AccessSettings, AuthenticatorDriver, Listening, LoadOptions, SessionSettings,
};
use portcullis_document::{Fault, Faults, Warning};

/// What guards the REST API, for those who ask about it without a server.
#[derive(Debug)]
pub struct AccessConfiguration {
    /// Rules, roles and tenants.
    /// Tenants, rules and roles.
    pub roles: Roles,
    /// Faulty tenants.
    pub left_out: Vec<LeftOut>,
    /// Whose tokens are accepted.
    pub authenticators: Authenticators,
    /// What is odd but not wrong.
    pub warnings: Vec<Warning>,
    /// Key files that others can read here.
    pub exposed: Vec<Warning>,
}

/// Everything that guards the API, swapped whole with the gate.
#[derive(Debug)]
pub struct Access {
    /// The digest of all that decides.
    pub digest: Arc<str>,
    /// Tenants, rules and roles.
    pub roles: Roles,
    /// Tenants that are not as their file says.
    pub left_out: Vec<LeftOut>,
    /// Whose tokens are accepted.
    pub authenticators: Authenticators,
    /// What clients' certificates are said to be issued by; none if they are not identities.
    pub certificates: Option<String>,
    /// The same for unix sockets.
    pub sockets: Option<String>,
    /// Sessions; none without a directory for their key, or without tokens to sign in with.
    pub sessions: Option<Sessions>,
    /// How long a session lasts.
    pub session_lifetime: Duration,
    /// How browsers reach this server, if that is configured.
    pub public_url: Option<String>,
    /// What is odd but not wrong.
    pub warnings: Vec<Warning>,
    /// Key files that others can read here: for the log of a server.
    pub exposed: Vec<Warning>,
}

/// Reads what a configuration says about access, and starts nothing.
///
/// # Errors
///
/// When anything but a tenant is faulty.
pub fn load(options: &LoadOptions<'_>) -> Result<AccessConfiguration, Faults> {
    let loaded = config::load(&LoadOptions {
        listeners: Listening::Ignored,
        ..options.clone()
    })?;
    let access = build(&loaded.access, None, None).map_err(Faults)?;
    Ok(AccessConfiguration {
        roles: access.roles,
        left_out: access.left_out,
        authenticators: access.authenticators,
        warnings: access.warnings,
        exposed: access.exposed,
    })
}

/// Builds everything. Tenants that are faulty keep what they have in `previous`.
pub(crate) fn build(
    settings: &AccessSettings,
    data_dir: Option<&Path>,
    previous: Option<&Access>,
) -> Result<Access, Vec<Fault>> {
    let mut faults = Vec::new();
    let mut keep = |wrong: Vec<Fault>| faults.extend(wrong);
    let tenants = tenants::read(settings, previous.map(|p| &p.roles));
    let tenants = tenants.map_err(&mut keep).ok();
    let authenticators = keys::authenticators(settings, previous.map(|p| &p.authenticators));
    let authenticators = authenticators.map_err(&mut keep).ok();
    let sessions = sessions(settings, data_dir).map_err(|wrong| keep(wrong.0));
    let (Some(tenants), Some(authenticators), Ok(sessions)) = (tenants, authenticators, sessions)
    else {
        return Err(faults);
    };
    let issuer_of = |driver| {
        let mut list = settings.authenticators.iter();
        list.find(|one| one.driver == driver)
            .map(|one| one.issuer.clone())
    };
    let (authenticators, odd) = authenticators;
    let (sessions, odd_key) = sessions;
    Ok(Access {
        digest: digest::access(settings, &tenants.text),
        roles: tenants.roles,
        left_out: tenants.left_out,
        authenticators,
        certificates: issuer_of(AuthenticatorDriver::ClientCertificate),
        sockets: issuer_of(AuthenticatorDriver::UnixSocket),
        sessions,
        session_lifetime: settings.sessions.lifetime.into(),
        public_url: settings.sessions.public_url.clone(),
        warnings: tenants.warnings,
        exposed: odd.into_iter().chain(odd_key).collect(),
    })
}

/// Sessions, if people can sign in, and what is odd about their key.
fn sessions(
    settings: &AccessSettings,
    data_dir: Option<&Path>,
) -> Result<(Option<Sessions>, Option<Warning>), Faults> {
    let SessionSettings {
        lifetime, key_file, ..
    } = &settings.sessions;
    let mut authenticators = settings.authenticators.iter();
    let login = authenticators.find(|one| one.tokens.is_some());
    let (Some(login), Some(data_dir)) = (login, data_dir) else {
        return Ok((None, None));
    };
    let wrong = |message: String| Faults::from(login.origin.fault("", message));
    // A key of one's own choice may be a Secret of Kubernetes, which everybody in its container can read.
    let (file, checked) = match key_file {
        Some(file) => (file.clone(), portcullis_files::check_named(file, Use::Key)),
        None => {
            portcullis_files::prepare_directory(data_dir).map_err(wrong)?;
            let file = data_dir.join("session.key");
            let checked = portcullis_files::check_own(&file, Use::Key);
            (file, checked)
        }
    };
    let shown = file.display();
    let odd = checked.map_err(|reason| wrong(format!("the session key `{shown}`: {reason}")))?;
    let odd = odd.map(|odd| format!("the session key `{shown}`: {odd}").into());
    let key = SessionKey::load_or_create(&file)
        .map_err(|error| wrong(format!("cannot read the session key `{shown}`: {error}")))?;
    Ok((Some(Sessions::new(key, (*lifetime).into())), odd))
}
