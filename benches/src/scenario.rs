//! What is measured: which server is asked what, and which answer is right.
//!
//! To add a scenario, add a line to [`all`]; if it needs a server of its own, a [`Setup`] with its
//! configuration. Everything else (transports, rounds, ratios, report) follows.

use crate::ceiling;
use crate::failure::Result;
use crate::fixture;
use crate::http1::{self, Question};

/// The scenario that the others are compared with.
pub(crate) const CEILING: &str = "ceiling";

/// A server process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// `portcullis-bench ceiling`: reads the request, answers the same to all.
    Ceiling,
    /// `portcullis serve`.
    Portcullis(Setup),
}

/// A configuration of Portcullis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setup {
    /// A chain that asks nobody.
    AlwaysAdmit,
    /// Pods are held to `restricted`.
    PodSecurity,
    /// Every pod is changed.
    AlwaysPullImages,
    /// An attribute file says who may do what.
    Abac,
}

/// What one kind of request is, and what is right to answer.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    /// The name on the command line and in the report.
    pub(crate) name: &'static str,
    /// Who is asked.
    pub(crate) subject: Subject,
    /// What is asked.
    pub(crate) question: Question,
    /// What every answer must hold, beside the status 200.
    pub(crate) expected: &'static [&'static str],
}

impl Subject {
    /// A name for directories and messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ceiling => CEILING,
            Self::Portcullis(setup) => setup.name(),
        }
    }
}

impl Setup {
    fn name(self) -> &'static str {
        match self {
            Self::AlwaysAdmit => "AlwaysAdmit",
            Self::PodSecurity => "PodSecurity",
            Self::AlwaysPullImages => "AlwaysPullImages",
            Self::Abac => "ABAC",
        }
    }

    /// The configuration file without its listeners.
    pub(crate) fn configuration(self) -> &'static str {
        match self {
            Self::AlwaysAdmit => "admission: {plugins: [{name: AlwaysAdmit}]}\n",
            Self::PodSecurity => {
                "admission:\n\
                 \x20 plugins:\n\
                 \x20 - name: PodSecurity\n\
                 \x20   configuration:\n\
                 \x20     apiVersion: pod-security.admission.config.k8s.io/v1\n\
                 \x20     kind: PodSecurityConfiguration\n\
                 \x20     defaults: {enforce: restricted}\n"
            }
            Self::AlwaysPullImages => "admission: {plugins: [{name: AlwaysPullImages}]}\n",
            Self::Abac => {
                "authorization:\n\
                 \x20 authorizers: [{name: local, driver: ABAC, file: abac.jsonl}]\n\
                 \x20 chains: {default: [local]}\n"
            }
        }
    }

    /// Files that lie beside the configuration: name and text.
    pub(crate) fn files(self) -> Vec<(&'static str, String)> {
        match self {
            Self::Abac => vec![("abac.jsonl", fixture::abac())],
            _ => Vec::new(),
        }
    }
}

impl Scenario {
    /// Whether an answer is right.
    pub(crate) fn is_right(&self, status: u16, body: &[u8]) -> bool {
        let holds = |text: &&str| http1::find(body, text.as_bytes()).is_some();
        status == 200 && self.expected.iter().all(holds)
    }
}

/// Every scenario, the ceiling first.
pub(crate) fn all() -> Result<Vec<Scenario>> {
    let post = |path, body| Question {
        method: "POST",
        path,
        body,
    };
    let portcullis = Subject::Portcullis;
    let pod = fixture::pod_review()?;
    let forbidden = fixture::forbidden_pod_review()?;
    let scenario = |name, subject, question, expected| Scenario {
        name,
        subject,
        question,
        expected,
    };
    Ok(vec![
        scenario(
            CEILING,
            Subject::Ceiling,
            post("/validate?timeout=10s", pod.clone()),
            &[r#""allowed":true"#],
        ),
        scenario(
            "reading",
            Subject::Ceiling,
            post(ceiling::READ, pod.clone()),
            &[r#""allowed":true"#],
        ),
        scenario(
            "livez",
            portcullis(Setup::AlwaysAdmit),
            Question {
                method: "GET",
                path: "/livez",
                body: Vec::new(),
            },
            &["ok"],
        ),
        scenario(
            "AlwaysAdmit",
            portcullis(Setup::AlwaysAdmit),
            post("/validate?timeout=10s", pod.clone()),
            &[r#""allowed":true"#],
        ),
        scenario(
            "PodSecurity",
            portcullis(Setup::PodSecurity),
            post("/validate?timeout=10s", pod.clone()),
            &[
                r#""allowed":true"#,
                r#""enforce-policy":"restricted:latest""#,
            ],
        ),
        scenario(
            "PodSecurity-refuses",
            portcullis(Setup::PodSecurity),
            post("/validate?timeout=10s", forbidden),
            &[
                r#""allowed":false"#,
                "hostNetwork",
                "allowPrivilegeEscalation",
            ],
        ),
        scenario(
            "AlwaysPullImages",
            portcullis(Setup::AlwaysPullImages),
            post("/mutate?timeout=10s", pod),
            &[r#""allowed":true"#, r#""patch":""#],
        ),
        scenario(
            "ABAC",
            portcullis(Setup::Abac),
            post("/authorize?timeout=3s", fixture::access_review()),
            &[r#""allowed":true"#],
        ),
    ])
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_ceiling_comes_first_and_names_are_unique() {
        let all = all().unwrap();
        assert_eq!(all[0].name, CEILING);
        let names: HashSet<_> = all.iter().map(|s| s.name).collect();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn a_wrong_answer_is_seen() {
        let all = all().unwrap();
        let admitted = fixture::ADMITTED.as_bytes();
        assert!(all[0].is_right(200, admitted));
        assert!(!all[0].is_right(500, admitted));
        assert!(!all[0].is_right(200, b"{\"allowed\":false}"));
        let refuses = all
            .iter()
            .find(|s| s.name == "PodSecurity-refuses")
            .unwrap();
        assert!(!refuses.is_right(200, admitted));
    }
}
