//! Which runners may take a job, why others may not, and why a job is stuck.
//!
//! The rules are GitLab's; admission adds the runner filter. The queue must ask them in its query.

use portcullis_core::vocabulary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filter::RunnerFilter;
use super::record::{AccessLevel, Runner, RunnerId, RunnerType};

/// What a job asks of a runner.
#[derive(Debug, Clone, Copy)]
pub struct RunnerNeeds<'a> {
    /// The path of its project.
    pub project: &'a str,
    /// Its tags, after all changes.
    pub tags: &'a [String],
    /// Whether its ref is protected.
    pub ref_protected: bool,
    /// What the verdicts leave.
    pub filter: &'a RunnerFilter,
}

vocabulary! {
    /// What is required of a runner, in the order in which it is checked.
    pub enum Requirement {
        /// It is there for the project.
        Scope = "scope",
        /// It takes jobs of refs that aren't protected, or the ref is.
        Ref = "ref",
        /// It has all tags of the job.
        Tags = "tags",
        /// It takes jobs without tags, or the job has some.
        Untagged = "untagged",
        /// Admission accepts it, or all.
        Accepted = "accepted",
        /// Admission doesn't reject it.
        NotRejected = "not_rejected",
        /// It isn't paused.
        NotPaused = "not_paused",
    }
}

/// Whether a runner meets one requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequirementCheck {
    /// The requirement.
    pub requirement: Requirement,
    /// Whether it is met.
    pub met: bool,
    /// Why not.
    pub reason: Option<String>,
}

/// Whether one runner may take a job, and why not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Eligibility {
    /// The runner.
    pub id: RunnerId,
    /// Its description.
    pub description: String,
    /// Whether it may take the job.
    pub eligible: bool,
    /// Why not: one sentence for each reason.
    pub reasons: Vec<String>,
    /// Every requirement, in the order in which they are checked.
    pub requirements: Vec<RequirementCheck>,
}

impl RunnerNeeds<'_> {
    /// Whether a runner may take the job, and why not.
    pub fn judge(&self, runner: &Runner) -> Eligibility {
        let check = |requirement| {
            let met = self.is_fulfilled(requirement, runner);
            let reason = (!met).then(|| self.sentence(runner, requirement));
            RequirementCheck {
                requirement,
                met,
                reason,
            }
        };
        let requirements = Requirement::ALL.map(check).to_vec();
        let reasons = requirements.iter();
        Eligibility {
            id: runner.id,
            description: runner.description.clone(),
            eligible: requirements.iter().all(|check| check.met),
            reasons: reasons.filter_map(|check| check.reason.clone()).collect(),
            requirements,
        }
    }

    /// Whether a runner may take the job now.
    pub fn is_met_by(&self, runner: &Runner) -> bool {
        self.first_obstacle(runner).is_none()
    }

    /// Whether a runner may take the job, now or once it is no longer paused.
    fn could_be_met_by(&self, runner: &Runner) -> bool {
        let first = self.first_obstacle(runner);
        matches!(first, None | Some(Requirement::NotPaused))
    }

    /// The first requirement that a runner doesn't meet.
    fn first_obstacle(&self, runner: &Runner) -> Option<Requirement> {
        let mut all = Requirement::ALL.into_iter();
        all.find(|requirement| !self.is_fulfilled(*requirement, runner))
    }

    fn is_fulfilled(&self, requirement: Requirement, runner: &Runner) -> bool {
        match requirement {
            Requirement::Scope => runner.serves(self.project),
            Requirement::Ref => {
                self.ref_protected || runner.access_level != AccessLevel::RefProtected
            }
            Requirement::Tags => self.tags.iter().all(|tag| runner.tags.contains(tag)),
            Requirement::Untagged => !self.tags.is_empty() || runner.run_untagged,
            Requirement::Accepted => self.filter.accepts(runner.id),
            Requirement::NotRejected => !self.filter.rejected().contains(&runner.id),
            // The last one: whatever else is met, it may be resumed.
            Requirement::NotPaused => !runner.paused,
        }
    }

    /// Why a runner doesn't meet a requirement.
    fn sentence(&self, runner: &Runner, requirement: Requirement) -> String {
        match requirement {
            Requirement::Scope => {
                let what = match runner.kind {
                    RunnerType::Group => "group",
                    _ => "project",
                };
                let path = runner.path.as_deref().unwrap_or_default();
                format!("it only takes jobs of the {what} `{path}`")
            }
            Requirement::Ref => "it only takes jobs of protected refs".to_owned(),
            Requirement::Tags => {
                let missing = self.tags.iter().filter(|tag| !runner.tags.contains(tag));
                format!("it doesn't have {}", tags_text(missing))
            }
            Requirement::Untagged => "it doesn't take jobs without tags".to_owned(),
            Requirement::Accepted => "admission accepted other runners only".to_owned(),
            Requirement::NotRejected => "admission rejected it for this job".to_owned(),
            Requirement::NotPaused => "it is paused".to_owned(),
        }
    }
}

fn tags_text<'t>(tags: impl Iterator<Item = &'t String>) -> String {
    let tags: Vec<String> = tags.map(|tag| format!("`{tag}`")).collect();
    let word = if tags.len() == 1 { "tag" } else { "tags" };
    format!("the {word} {}", tags.join(", "))
}

/// The runners that may take the job now, in the order given.
pub fn eligible_runners(needs: &RunnerNeeds<'_>, runners: &[Runner]) -> Vec<RunnerId> {
    let eligible = runners.iter().filter(|runner| needs.is_met_by(runner));
    eligible.map(|runner| runner.id).collect()
}

/// Whether some registered runner may take the job, now or once it is no longer paused.
pub fn could_ever_match(needs: &RunnerNeeds<'_>, runners: &[Runner]) -> bool {
    runners.iter().any(|runner| needs.could_be_met_by(runner))
}

/// Whether the runner lists leave no registered runner, paused or not. Where the tags alone leave none, the
/// lists are not to blame, and the job waits.
pub fn is_no_runner_left(needs: &RunnerNeeds<'_>, runners: &[Runner]) -> bool {
    if !needs.filter.is_filtering() || could_ever_match(needs, runners) {
        return false;
    }
    let is_none_registered = needs.filter.accepted().is_some()
        && !runners.iter().any(|runner| needs.filter.allows(runner.id));
    let everyone = RunnerFilter::default();
    let without_lists = RunnerNeeds {
        filter: &everyone,
        ..*needs
    };
    is_none_registered || could_ever_match(&without_lists, runners)
}

/// Why no runner takes the job, in one sentence; nothing if some runner may.
pub fn stuck_reason(needs: &RunnerNeeds<'_>, runners: &[Runner]) -> Option<String> {
    if runners.iter().any(|runner| needs.is_met_by(runner)) {
        return None;
    }
    // The runner that gets furthest through the checks says what is missing.
    let first = |runner: &Runner| needs.first_obstacle(runner);
    let place = |requirement: &Requirement| Requirement::ALL.iter().position(|r| r == requirement);
    let Some(furthest) = runners.iter().filter_map(first).max_by_key(place) else {
        return Some("no runner is registered".to_owned());
    };
    Some(match furthest {
        Requirement::Scope => format!("no runner takes jobs of the project `{}`", needs.project),
        Requirement::Ref => {
            "every runner for this project only takes jobs of protected refs".to_owned()
        }
        Requirement::Tags => format!("no runner has {}", tags_text(needs.tags.iter())),
        Requirement::Untagged => "no runner takes jobs without tags".to_owned(),
        Requirement::Accepted | Requirement::NotRejected => {
            "admission left none of the matching runners".to_owned()
        }
        Requirement::NotPaused => "every matching runner is paused".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::lists::RunnerLists;
    use super::*;

    fn runner(id: RunnerId, tags: &str, untagged: bool) -> Runner {
        Runner {
            id,
            kind: RunnerType::Instance,
            path: None,
            description: format!("runner {id}"),
            tags: tags.split_whitespace().map(str::to_owned).collect(),
            run_untagged: untagged,
            access_level: AccessLevel::NotProtected,
            paused: false,
            locked: false,
        }
    }

    /// R1 to R6 of the reference; the project `g/p` is p.
    fn fleet() -> Vec<Runner> {
        vec![
            runner(1, "docker linux", false),
            runner(2, "linux us-west", true),
            Runner {
                kind: RunnerType::Group,
                path: Some("g".to_owned()),
                ..runner(3, "linux", false)
            },
            Runner {
                kind: RunnerType::Project,
                path: Some("g/p".to_owned()),
                access_level: AccessLevel::RefProtected,
                ..runner(4, "secure", false)
            },
            runner(5, "", true),
            Runner {
                paused: true,
                ..runner(6, "linux us-west", true)
            },
        ]
    }

    fn filter(accepted: &[RunnerId], rejected: &[RunnerId]) -> RunnerFilter {
        RunnerFilter::of(&[RunnerLists {
            accepted_ids: accepted.to_vec(),
            rejected_ids: rejected.to_vec(),
        }])
    }

    fn tags(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn eligible_runners_follow_tags_protection_and_lists() {
        for (job_tags, protected, accepted, rejected, wanted) in [
            ("linux", false, &[][..], &[][..], &[1, 2, 3][..]), // cases 1, 15
            ("linux us-west", false, &[], &[], &[2]),           // case 6
            ("docker", false, &[], &[], &[1]),                  // case 7
            ("", false, &[], &[], &[2, 5]),                     // cases 11, 51
            ("linux", false, &[2], &[], &[2]),                  // case 12
            ("linux", false, &[], &[1], &[2, 3]),               // case 13
            ("linux", false, &[1, 2], &[2], &[1]),              // case 14
            ("linux", false, &[99], &[], &[]),                  // case 16
            ("secure", false, &[], &[], &[]),                   // case 50
            ("secure", true, &[], &[], &[4]),                   // case 50
        ] {
            let (job_tags, filter) = (tags(job_tags), filter(accepted, rejected));
            let needs = RunnerNeeds {
                project: "g/p",
                tags: &job_tags,
                ref_protected: protected,
                filter: &filter,
            };
            assert_eq!(eligible_runners(&needs, &fleet()), wanted, "{needs:?}");
            for runner in fleet() {
                let judged = needs.judge(&runner);
                assert_eq!(judged.eligible, wanted.contains(&runner.id));
                assert_eq!(judged.eligible, judged.reasons.is_empty());
                assert_eq!(judged.eligible, needs.is_met_by(&runner));
                let missing = judged.requirements.iter().filter(|check| !check.met);
                let reasons: Vec<_> = missing.filter_map(|check| check.reason.clone()).collect();
                assert_eq!(judged.reasons, reasons);
            }
        }
    }

    #[test]
    fn no_runner_is_left_only_because_of_lists() {
        for (job_tags, accepted, rejected, is_none_left) in [
            ("linux", &[][..], &[][..], false),
            ("linux", &[99], &[], true),         // case 16
            ("linux", &[], &[1, 2, 3, 6], true), // case 17
            ("linux", &[], &[1, 2, 3], false),   // R6 is paused, but counts
            ("linux", &[6], &[], false),
            ("linux", &[5], &[], true),
            ("unknown", &[], &[], false),
            ("unknown", &[], &[1], false),
            ("unknown", &[1], &[], false),
            ("unknown", &[99], &[], true),
        ] {
            let (job_tags, filter) = (tags(job_tags), filter(accepted, rejected));
            let needs = RunnerNeeds {
                project: "g/p",
                tags: &job_tags,
                ref_protected: false,
                filter: &filter,
            };
            assert_eq!(
                is_no_runner_left(&needs, &fleet()),
                is_none_left,
                "{needs:?}"
            );
        }
        let filter = filter(&[], &[1]);
        let needs = RunnerNeeds {
            project: "g/p",
            tags: &[],
            ref_protected: false,
            filter: &filter,
        };
        assert!(!is_no_runner_left(&needs, &[]));
    }

    #[test]
    fn every_reason_is_a_sentence() {
        let (job_tags, filter) = (tags("secure gpu"), filter(&[1], &[4]));
        let needs = RunnerNeeds {
            project: "other/p",
            tags: &job_tags,
            ref_protected: false,
            filter: &filter,
        };
        let runner = Runner {
            paused: true,
            ..fleet()[3].clone()
        };
        assert_eq!(
            needs.judge(&runner).reasons,
            [
                "it only takes jobs of the project `g/p`",
                "it only takes jobs of protected refs",
                "it doesn't have the tag `gpu`",
                "admission accepted other runners only",
                "admission rejected it for this job",
                "it is paused",
            ]
        );
    }

    #[test]
    fn a_stuck_job_says_what_is_missing() {
        let everyone = RunnerFilter::default();
        let stuck = |job_tags: &str, filter: &RunnerFilter, runners: &[Runner]| {
            let job_tags = tags(job_tags);
            let needs = RunnerNeeds {
                project: "g/p",
                tags: &job_tags,
                ref_protected: false,
                filter,
            };
            stuck_reason(&needs, runners).unwrap_or_default()
        };
        let fleet = fleet();
        assert_eq!(stuck("linux", &everyone, &fleet), "");
        assert_eq!(stuck("a", &everyone, &[]), "no runner is registered");
        assert_eq!(
            stuck("linux gpu", &everyone, &fleet),
            "no runner has the tags `linux`, `gpu`"
        );
        assert_eq!(
            stuck("secure", &everyone, &fleet[3..4]),
            "every runner for this project only takes jobs of protected refs"
        );
        assert_eq!(
            stuck("", &everyone, &fleet[..1]),
            "no runner takes jobs without tags"
        );
        assert_eq!(
            stuck("linux", &everyone, &fleet[5..]),
            "every matching runner is paused"
        );
        assert_eq!(
            stuck("linux", &filter(&[5], &[]), &fleet),
            "admission left none of the matching runners"
        );
    }
}
