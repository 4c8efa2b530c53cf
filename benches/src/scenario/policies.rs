//! Policies in JavaScript, on a pod of the usual size and on a large one.

use super::{CEILING, Compared, Expected, Group, Scenario, Subject, UNDER_WAY, Ways, post};
use crate::ceiling;
use crate::failure::Result;
use crate::fixture::{Feature, Size, policy_review};
use crate::log::Log;
use crate::policies::Set;
use crate::setup::Setup;
use crate::transport::Transport;

const WAYS: Ways = &[(Transport::Unix, UNDER_WAY), (Transport::Tls, UNDER_WAY)];
/// With little, usual and much to do.
const MORE_WAYS: Ways = &[(Transport::Unix, &[8, 16, 64]), (Transport::Tls, UNDER_WAY)];

/// Allowed, nothing changed.
pub(super) const ALLOWED: Expected = Expected {
    holds: &[r#""allowed":true"#],
    lacks: &[r#""patch""#, r#""warnings""#],
};
/// Allowed, and a patch.
pub(super) const PATCHED: Expected = Expected {
    holds: &[
        r#""allowed":true"#,
        r#""patch":""#,
        r#""patchType":"JSONPatch""#,
    ],
    lacks: &[r#""warnings""#],
};
/// Refused, for the reason that is meant.
pub(super) const REFUSED: Expected = Expected {
    holds: &[
        r#""allowed":false"#,
        "the image docker.io/somebody/shipper:1.9.0 of log-shipper is not trusted",
    ],
    lacks: &[r#""patch""#],
};

/// The group; what a large pod needs to be compared with comes before it.
pub(super) fn scenarios() -> Result<Vec<Scenario>> {
    let plain = || policy_review(Size::Large, Feature::Plain);
    let compared = Compared::with("ceiling-200k");
    let validating = scenario(
        "ceiling-200k",
        Set::Validating,
        (Size::Large, Feature::Plain),
        ALLOWED,
    )?;
    let large = |name, subject, path| -> Result<Scenario> {
        Ok(Scenario {
            name,
            subject,
            question: post(path, plain()?),
            compared,
            ..validating.clone()
        })
    };
    let admits = Subject::Portcullis(Setup::AlwaysAdmit, Log::Off);
    let mut all = of_size(Size::Usual)?;
    all.push(Scenario {
        ways: &[(Transport::Unix, UNDER_WAY)],
        ..scenario(
            "100-policies",
            Set::Hundred,
            (Size::Usual, Feature::Plain),
            ALLOWED,
        )?
    });
    all.push(scenario(
        "two-writers",
        Set::TwoWriters,
        (Size::Usual, Feature::GitRepo),
        PATCHED,
    )?);
    all.push(large("ceiling-200k", Subject::Ceiling, "/validate")?);
    all.push(large("reading-200k", Subject::Ceiling, ceiling::READ)?);
    all.push(large("AlwaysAdmit-200k", admits, "/validate?timeout=10s")?);
    all.extend(of_size(Size::Large)?);
    Ok(all)
}

fn of_size(size: Size) -> Result<Vec<Scenario>> {
    let [validating, reference, idle, refusing] = match size {
        Size::Usual => ["validating", "reference", "reference-idle", "refusing"],
        Size::Large => [
            "validating-200k",
            "reference-200k",
            "reference-idle-200k",
            "refusing-200k",
        ],
    };
    let plain = (size, Feature::Plain);
    Ok(vec![
        Scenario {
            ways: MORE_WAYS,
            ..scenario(validating, Set::Validating, plain, ALLOWED)?
        },
        scenario(reference, Set::Reference, (size, Feature::GitRepo), PATCHED)?,
        scenario(idle, Set::Reference, plain, ALLOWED)?,
        scenario(
            refusing,
            Set::Validating,
            (size, Feature::Untrusted),
            REFUSED,
        )?,
    ])
}

fn scenario(
    name: &'static str,
    set: Set,
    (size, feature): (Size, Feature),
    expected: Expected,
) -> Result<Scenario> {
    let path = match set {
        Set::Reference | Set::TwoWriters => "/mutate?timeout=10s",
        Set::Validating | Set::Hundred => "/validate?timeout=10s",
    };
    let (ceiling, baseline) = match size {
        Size::Usual => (CEILING, "AlwaysAdmit"),
        Size::Large => ("ceiling-200k", "AlwaysAdmit-200k"),
    };
    Ok(Scenario {
        name,
        group: Group::Policies,
        subject: Subject::Portcullis(Setup::Policies(set), Log::Off),
        question: post(path, policy_review(size, feature)?),
        size,
        expected,
        ways: WAYS,
        compared: Compared {
            baseline: Some(baseline),
            ..Compared::with(ceiling)
        },
    })
}
