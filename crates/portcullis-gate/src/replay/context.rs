//! What a door knew of a recorded request.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use portcullis_core::{DoorContext, Peer, PeerCertificate, UnixPeer};
use portcullis_record::{Certificate, Http};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The context of a recorded request.
pub(super) fn context(http: &Http) -> DoorContext {
    DoorContext {
        method: http.method.clone(),
        uri: http.uri.clone(),
        headers: http.headers.clone(),
        peer: Peer {
            address: http.address.as_deref().and_then(|a| a.parse().ok()),
            unix: http.unix.map(|unix| UnixPeer {
                uid: unix.uid,
                gid: unix.gid,
                pid: unix.pid,
            }),
            certificate: http.certificate.as_ref().map(certificate),
        },
        ..DoorContext::default()
    }
}

fn certificate(recorded: &Certificate) -> Arc<PeerCertificate> {
    let chain = recorded.chain.iter();
    Arc::new(PeerCertificate {
        subject: recorded.subject.clone(),
        common_name: recorded.common_name.clone(),
        organizations: recorded.organizations.clone(),
        chain: chain
            .map(|der| STANDARD.decode(der).unwrap_or_default())
            .collect(),
    })
}

/// A recorded time; none if it is invalid.
pub(super) fn time(text: &str) -> Option<SystemTime> {
    let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    let since = u64::try_from(time.unix_timestamp()).ok()?;
    SystemTime::UNIX_EPOCH
        .checked_add(Duration::from_secs(since))?
        .checked_add(Duration::from_nanos(time.nanosecond().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_to_the_nanosecond() {
        let then = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 123_456_789);
        assert_eq!(time("2023-11-14T22:13:20.123456789Z"), Some(then));
        for wrong in ["", "yesterday", "1960-01-01T00:00:00Z", "2023-11-14"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }
}
