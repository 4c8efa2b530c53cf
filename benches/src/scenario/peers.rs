//! Other programs with the same policies, asked by the same client in the same run.

use super::policies::{ALLOWED, PATCHED, REFUSED};
use super::{CEILING, Compared, Expected, Group, Scenario, Subject, Ways, post};
use crate::failure::Result;
use crate::fixture::{Feature, Size, policy_review};
use crate::peers::Peer;
use crate::policies::Set;
use crate::transport::Transport;

/// With little and with much to do.
const WAYS: Ways = &[(Transport::Unix, &[8, 64]), (Transport::Tls, &[8, 64])];

/// The group.
pub(super) fn scenarios() -> Result<Vec<Scenario>> {
    use Feature::{GitRepo, Plain, Untrusted};
    use Peer::{Acjs, Opa};
    use Size::{Large, Usual};
    let two = Set::Validating;
    Ok(vec![
        scenario("acjs", (Acjs, two), (Usual, Plain), ALLOWED, "validating")?,
        scenario(
            "acjs-reference",
            (Acjs, Set::Reference),
            (Usual, GitRepo),
            PATCHED,
            "reference",
        )?,
        scenario(
            "acjs-refusing",
            (Acjs, two),
            (Usual, Untrusted),
            REFUSED,
            "refusing",
        )?,
        scenario(
            "acjs-200k",
            (Acjs, two),
            (Large, Plain),
            ALLOWED,
            "validating-200k",
        )?,
        scenario("opa", (Opa, two), (Usual, Plain), ALLOWED, "validating")?,
        scenario(
            "opa-refusing",
            (Opa, two),
            (Usual, Untrusted),
            REFUSED,
            "refusing",
        )?,
        scenario(
            "opa-200k",
            (Opa, two),
            (Large, Plain),
            ALLOWED,
            "validating-200k",
        )?,
    ])
}

fn scenario(
    name: &'static str,
    (peer, set): (Peer, Set),
    (size, feature): (Size, Feature),
    expected: Expected,
    own: &'static str,
) -> Result<Scenario> {
    let ceiling = match size {
        Size::Usual => CEILING,
        Size::Large => "ceiling-200k",
    };
    Ok(Scenario {
        name,
        group: Group::Peers,
        subject: Subject::Peer(peer, set),
        question: post(peer.path(), policy_review(size, feature)?),
        size,
        expected,
        ways: WAYS,
        compared: Compared {
            own: Some(own),
            ..Compared::with(ceiling)
        },
    })
}
