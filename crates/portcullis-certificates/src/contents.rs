//! What a Secret holds: the certificate and key that servers show, the authority that signed it with its key,
//! and the bundle of trusted CA certificates.
//!
//! `tls.crt` and `tls.key` are where everything that reads a Secret of type `kubernetes.io/tls` expects them, and
//! `ca.crt` has the authorities to trust, as cert-manager has it. `ca.key` is what the next certificate is signed with.
//! During the change of the authority, `next-ca.key` is the key of the one that will sign; its certificate is already in
//! `ca.crt`. Which certificate a key belongs to follows from the public key.

use std::collections::BTreeMap;

use crate::certificate::{Certificate, CertificateError, encode_all};
use crate::identity::{Identity, SecretKey};

const CERTIFICATE: &str = "tls.crt";
const KEY: &str = "tls.key";
const BUNDLE: &str = "ca.crt";
const AUTHORITY_KEY: &str = "ca.key";
const NEXT_KEY: &str = "next-ca.key";

/// The entries of a Secret.
pub type Data = BTreeMap<String, Vec<u8>>;

/// What a Secret holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// What servers show.
    pub(crate) serving: Identity,
    /// The CA that signs.
    pub(crate) signer: Identity,
    /// The CA that signs once it is published.
    pub(crate) next: Option<Identity>,
    /// The CA certificates to trust: of the current CA, of the next one, and of those that signed what may still be served.
    pub(crate) trusted: Vec<Certificate>,
}

/// Why a Secret can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentsError {
    /// There is nothing in it.
    #[error("the Secret has no certificate")]
    Empty,
    /// Something is missing, or not what it should be.
    #[error("`{entry}` of the Secret: {reason}")]
    Damaged {
        /// The entry.
        entry: &'static str,
        /// What is wrong.
        reason: &'static str,
        /// The authorities that can be read all the same.
        trusted: Vec<Certificate>,
    },
}

impl Contents {
    /// Reads the entries of a Secret.
    ///
    /// # Errors
    ///
    /// When there are none, or they don't fit together.
    pub fn read(data: &Data) -> Result<Self, ContentsError> {
        let filled = |entry: &str| data.get(entry).filter(|value| !value.is_empty());
        let entries = [CERTIFICATE, KEY, BUNDLE, AUTHORITY_KEY, NEXT_KEY];
        if entries.iter().all(|entry| filled(entry).is_none()) {
            return Err(ContentsError::Empty);
        }
        let readable = filled(BUNDLE).map(|text| Certificate::all_from_pem(text));
        let trusted = readable.and_then(Result::ok).unwrap_or_default();
        let damaged = |entry, reason| ContentsError::Damaged {
            entry,
            reason,
            trusted: trusted.clone(),
        };
        let certificates = |entry: &'static str| {
            let text = filled(entry).ok_or_else(|| damaged(entry, "missing"))?;
            Certificate::all_from_pem(text).map_err(|error| damaged(entry, words(error)))
        };
        let key = |entry: &'static str| {
            let text = filled(entry).ok_or_else(|| damaged(entry, "missing"))?;
            let text = String::from_utf8(text.clone());
            text.map(SecretKey::new)
                .map_err(|_| damaged(entry, "not valid PEM"))
        };
        let bundle = certificates(BUNDLE)?;
        let of = |entry: &'static str, key: SecretKey| {
            let mut all = bundle.iter();
            let found = all.find(|one| one.is_authority && key.is_of(one));
            let certificate = found
                .ok_or_else(|| damaged(entry, "not the key of any certificate in `ca.crt`"))?;
            Ok(Identity {
                certificate: certificate.clone(),
                key,
            })
        };
        let signer = of(AUTHORITY_KEY, key(AUTHORITY_KEY)?)?;
        let next = match filled(NEXT_KEY) {
            Some(_) => Some(of(NEXT_KEY, key(NEXT_KEY)?)?),
            None => None,
        };
        let chain = certificates(CERTIFICATE)?;
        let certificate = chain.into_iter().next();
        let certificate =
            certificate.ok_or_else(|| damaged(CERTIFICATE, "no certificate found"))?;
        let serving = Identity {
            certificate,
            key: key(KEY)?,
        };
        if !serving.key.is_of(&serving.certificate) {
            return Err(damaged(KEY, "not the key of the certificate in `tls.crt`"));
        }
        Ok(Self {
            serving,
            signer,
            next,
            trusted: bundle,
        })
    }

    /// Puts them among the entries of a Secret. Others stay.
    pub fn write(&self, data: &mut Data) {
        let mut put = |entry: &str, text: &str| {
            data.insert(entry.to_owned(), text.as_bytes().to_vec());
        };
        put(CERTIFICATE, &self.serving.certificate.pem());
        put(KEY, self.serving.key.pem());
        put(BUNDLE, &self.bundle());
        put(AUTHORITY_KEY, self.signer.key.pem());
        match &self.next {
            Some(next) => put(NEXT_KEY, next.key.pem()),
            None => drop(data.remove(NEXT_KEY)),
        }
    }

    /// What servers show.
    pub fn serving(&self) -> &Identity {
        &self.serving
    }

    /// The CA certificates to trust.
    pub fn trusted(&self) -> &[Certificate] {
        &self.trusted
    }

    /// The CA certificates to trust, in PEM: the `caBundle` of webhook configurations.
    pub fn bundle(&self) -> String {
        encode_all(&self.trusted)
    }

    /// The CA that signed what servers show, if it is known.
    pub fn issuer(&self) -> Option<&Certificate> {
        let serving = &self.serving.certificate;
        self.trusted.iter().find(|one| one.has_signed(serving))
    }
}

fn words(error: CertificateError) -> &'static str {
    match error {
        CertificateError::Pem => "not valid PEM",
        CertificateError::Empty => "no certificate found",
        CertificateError::TooMany => "too many certificates",
        CertificateError::Invalid => "invalid certificate",
    }
}
