//! The server with its built-in plug-ins, over every transport.

use super::{CEILING, Compared, Expected, Group, Scenario, Subject, UNDER_WAY, Ways, post};
use crate::ceiling;
use crate::failure::Result;
use crate::fixture::{self, Size};
use crate::http1::Question;
use crate::log::Log;
use crate::setup::Setup;
use crate::transport::Transport;

const WAYS: Ways = &[
    (Transport::Tcp, UNDER_WAY),
    (Transport::Unix, UNDER_WAY),
    (Transport::Tls, UNDER_WAY),
    (Transport::TlsH2, UNDER_WAY),
];

/// The ceiling for questions about access, which are much shorter than pods.
const ACCESS_CEILING: &str = "ceiling-access";

/// The group, the ceiling first.
pub(super) fn scenarios() -> Result<Vec<Scenario>> {
    let pod = fixture::pod_review()?;
    let forbidden = fixture::forbidden_pod_review()?;
    let alive = Question {
        method: "GET",
        path: "/livez",
        body: Vec::new(),
    };
    let validate = |body| post("/validate?timeout=10s", body);
    let authorize = |is_own| {
        let review = fixture::garden::access_review(is_own);
        post("/authorize?timeout=3s", review)
    };
    let allowed: &[&str] = &[r#""allowed":true"#];
    Ok(vec![
        of_ceiling(CEILING, validate(pod.clone())),
        of_ceiling("reading", post(ceiling::READ, pod.clone())),
        scenario("livez", Setup::AlwaysAdmit, alive, &["ok"]),
        scenario(
            "AlwaysAdmit",
            Setup::AlwaysAdmit,
            validate(pod.clone()),
            allowed,
        ),
        scenario(
            "PodSecurity",
            Setup::PodSecurity,
            validate(pod.clone()),
            &[
                r#""allowed":true"#,
                r#""enforce-policy":"restricted:latest""#,
            ],
        ),
        scenario(
            "PodSecurity-refuses",
            Setup::PodSecurity,
            validate(forbidden),
            &[
                r#""allowed":false"#,
                "hostNetwork",
                "allowPrivilegeEscalation",
            ],
        ),
        scenario(
            "AlwaysPullImages",
            Setup::AlwaysPullImages,
            post("/mutate?timeout=10s", pod),
            &[r#""allowed":true"#, r#""patch":""#],
        ),
        scenario(
            "ABAC",
            Setup::Abac,
            post("/authorize?timeout=3s", fixture::access_review()),
            allowed,
        ),
        Scenario {
            compared: Compared::with(ACCESS_CEILING),
            ..of_ceiling(ACCESS_CEILING, authorize(true))
        },
        of_agent("graph", authorize(true), allowed),
        of_agent(
            "graph-refuses",
            authorize(false),
            &[r#""allowed":false"#, "no relationship found"],
        ),
    ])
}

/// A question of an agent, next to a ceiling that is sent as much.
fn of_agent(name: &'static str, question: Question, holds: &'static [&'static str]) -> Scenario {
    Scenario {
        compared: Compared::with(ACCESS_CEILING),
        ..scenario(name, Setup::Graph, question, holds)
    }
}

fn of_ceiling(name: &'static str, question: Question) -> Scenario {
    Scenario {
        subject: Subject::Ceiling,
        ..scenario(name, Setup::AlwaysAdmit, question, &[r#""allowed":true"#])
    }
}

fn scenario(
    name: &'static str,
    setup: Setup,
    question: Question,
    holds: &'static [&'static str],
) -> Scenario {
    Scenario {
        name,
        group: Group::Gate,
        subject: Subject::Portcullis(setup, Log::Off),
        question,
        size: Size::Usual,
        expected: Expected { holds, lacks: &[] },
        ways: WAYS,
        compared: Compared::with(CEILING),
    }
}
