//! Making keys and certificates: ECDSA on P-256, which every client of a webhook accepts.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use aws_lc_rs::rand;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, SerialNumber, date_time_ymd,
};
use time::OffsetDateTime;

use crate::certificate::{Certificate, CertificateError};
use crate::identity::{Identity, SecretKey};

/// Certificates begin so much earlier, for clients whose clocks are behind.
const BACKDATE: Duration = Duration::from_secs(60 * 60);
/// Random bytes of a serial number: CAs of browsers must have 8 at least, and a number may have 20.
const SERIAL: usize = 16;
/// The longest common name in X.509.
const LONGEST_NAME: usize = 64;

/// The names of a certificate for development.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Why a certificate could not be made.
#[derive(Debug, thiserror::Error)]
pub enum IssueError {
    /// A name can't be in a certificate, or a key is unusable.
    #[error("cannot create a certificate: {0}")]
    Refused(#[from] rcgen::Error),
    /// The system gives no random numbers.
    #[error("cannot create a certificate: no random numbers")]
    Random,
    /// The time is too far away.
    #[error("cannot create a certificate: the time is out of range")]
    Time,
    /// What was made can't be read.
    #[error("cannot create a certificate: {0}")]
    Unreadable(#[from] CertificateError),
}

/// A new authority that is valid until then, and signs nothing but certificates of servers.
pub(crate) fn authority(
    name: &str,
    now: SystemTime,
    until: SystemTime,
) -> Result<(Certificate, SecretKey), IssueError> {
    let mut params = lasting(CertificateParams::default(), now, until)?;
    params.distinguished_name = named(name);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let pair = KeyPair::generate()?;
    let made = params.self_signed(&pair)?;
    let key = SecretKey::new(pair.serialize_pem());
    Ok((Certificate::from_der(made.der())?, key))
}

/// A server with these names, signed by an authority, valid until then but not longer than the authority.
pub(crate) fn serving(
    names: &BTreeSet<String>,
    (authority, key): (&Certificate, &SecretKey),
    now: SystemTime,
    until: SystemTime,
) -> Result<Identity, IssueError> {
    let all: Vec<String> = names.iter().cloned().collect();
    let common_name = all.iter().find(|name| name.len() <= LONGEST_NAME);
    let common_name = common_name.map_or("portcullis", String::as_str);
    let until = until.min(authority.not_after());
    let mut params = lasting(CertificateParams::new(all.clone())?, now, until)?;
    params.distinguished_name = named(common_name);
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    let mut of_issuer = CertificateParams::default();
    of_issuer.distinguished_name = named(&authority.common_name);
    of_issuer.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let issuer = Issuer::new(of_issuer, KeyPair::from_pem(key.pem())?);
    let pair = KeyPair::generate()?;
    let made = params.signed_by(&pair, &issuer)?;
    Ok(Identity {
        certificate: Certificate::from_der(made.der())?,
        key: SecretKey::new(pair.serialize_pem()),
    })
}

/// A certificate for development: its own authority, valid on loopback, for twenty years.
///
/// # Errors
///
/// When the system gives no keys.
pub fn development() -> Result<Identity, IssueError> {
    let mut params = CertificateParams::new(LOOPBACK.map(str::to_owned))?;
    params.distinguished_name = named("Portcullis development");
    params.not_before = date_time_ymd(2024, 1, 1);
    params.not_after = date_time_ymd(2044, 1, 1);
    let pair = KeyPair::generate()?;
    let made = params.self_signed(&pair)?;
    Ok(Identity {
        certificate: Certificate::from_der(made.der())?,
        key: SecretKey::new(pair.serialize_pem()),
    })
}

fn named(common_name: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common_name);
    name
}

fn lasting(
    mut params: CertificateParams,
    now: SystemTime,
    until: SystemTime,
) -> Result<CertificateParams, IssueError> {
    let mut serial = [0; SERIAL];
    rand::fill(&mut serial).map_err(|_| IssueError::Random)?;
    // Positive, and never shorter than it should be.
    serial[0] = serial[0] & 0x7f | 0x40;
    params.serial_number = Some(SerialNumber::from_slice(&serial));
    let begin = now.checked_sub(BACKDATE).unwrap_or(SystemTime::UNIX_EPOCH);
    params.not_before = date(begin)?;
    params.not_after = date(until)?;
    Ok(params)
}

fn date(time: SystemTime) -> Result<OffsetDateTime, IssueError> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    let seconds = since.map_err(|_| IssueError::Time)?.as_secs();
    let seconds = i64::try_from(seconds).map_err(|_| IssueError::Time)?;
    OffsetDateTime::from_unix_timestamp(seconds).map_err(|_| IssueError::Time)
}

/// The common name of the authority for a Secret, short enough for X.509.
pub(crate) fn authority_name(owner: &str) -> String {
    let mut name = owner.to_owned();
    let mut length = LONGEST_NAME.min(name.len());
    while !name.is_char_boundary(length) {
        length -= 1;
    }
    name.truncate(length);
    name
}
