//! Which step comes next, at which time.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use super::{names, seconds, start, terms};
use crate::Terms;
use crate::contents::Contents;
use crate::plan::{Situation, Step, apply, next_step};

/// What a Secret holds, at work.
struct Case {
    terms: Terms,
    contents: Contents,
    names: BTreeSet<String>,
}

impl Case {
    fn new() -> Self {
        let terms = terms();
        let step = Step::Create { keep: Vec::new() };
        let contents = apply(&step, None, &terms.names, &terms, start()).unwrap();
        let names = terms.names.clone();
        Self {
            terms,
            contents,
            names,
        }
    }

    fn next(&self, now: SystemTime, next_published: Option<Duration>) -> Option<Step> {
        let situation = Situation {
            now,
            terms: &self.terms,
            names: &self.names,
            own: None,
            next_published,
        };
        next_step(&self.contents, situation)
    }

    #[track_caller]
    fn does(&mut self, step: &Step, now: SystemTime, next_published: Option<Duration>) {
        assert_eq!(self.next(now, next_published).as_ref(), Some(step));
        let after = apply(step, Some(&self.contents), &self.names, &self.terms, now);
        self.contents = after.unwrap();
    }
}

fn at(second: u64) -> SystemTime {
    start() + seconds(second)
}

#[test]
fn a_certificate_is_renewed_by_the_same_authority() {
    let mut case = Case::new();
    for time in [0, 1, 59] {
        assert_eq!(case.next(at(time), None), None, "{time}");
    }
    let before = case.contents.clone();
    case.does(&Step::Renew, at(60), None);
    assert_eq!(case.contents.trusted(), before.trusted());
    assert_ne!(case.contents.serving(), before.serving());
    assert_eq!(case.contents.serving().certificate.not_after(), at(160));
    assert_eq!(case.next(at(119), None), None);
}

#[test]
fn an_authority_is_published_before_it_signs_and_stays_until_it_is_over() {
    let mut case = Case::new();
    for time in [60, 120, 180, 240] {
        case.does(&Step::Renew, at(time), None);
    }
    assert_eq!(case.next(at(259), None), None);
    let old = case.contents.trusted()[0].clone();
    case.does(&Step::AddAuthority, at(260), None);
    assert_eq!(case.contents.trusted().len(), 2);
    assert!(old.has_signed(&case.contents.serving().certificate));
    // Until it is published, and for some time, the old one goes on.
    for published in [None, Some(Duration::ZERO), Some(seconds(9))] {
        assert_eq!(case.next(at(280), published), None);
        let mut later = Case {
            terms: case.terms.clone(),
            contents: case.contents.clone(),
            names: case.names.clone(),
        };
        later.does(&Step::Renew, at(300), published);
        assert!(old.has_signed(&later.contents.serving().certificate));
    }
    case.does(&Step::SwitchAuthority, at(280), Some(seconds(10)));
    let served = case.contents.serving().certificate.clone();
    assert!(!old.has_signed(&served) && case.contents.trusted().contains(&old));
    assert_eq!(served.not_after(), at(380));
    assert_eq!(case.next(at(339), None), None);
    case.does(&Step::Renew, at(340), None);
    assert_eq!(case.next(at(399), None), None);
    case.does(&Step::Renew, at(400), None);
    case.does(&Step::RemoveExpired, at(400), None);
    assert_eq!(case.contents.trusted().len(), 1);
    assert!(!case.contents.trusted().contains(&old));
}

#[test]
fn an_authority_that_can_not_be_published_goes_on_to_its_end() {
    let mut case = Case::new();
    case.does(&Step::AddAuthority, at(260), None);
    case.does(&Step::Renew, at(260), None);
    case.does(&Step::Renew, at(320), None);
    // The authority ends at 400, and so does this; another one would not last longer.
    assert_eq!(case.contents.serving().certificate.not_after(), at(400));
    assert_eq!(case.next(at(390), None), None);
    // When nothing that is served is valid there is nothing to wait for.
    case.does(&Step::SwitchAuthority, at(400), None);
    assert_eq!(case.contents.serving().certificate.not_after(), at(500));
}

#[test]
fn a_successor_that_waited_too_long_is_replaced() {
    let mut case = Case::new();
    case.does(&Step::AddAuthority, at(260), None);
    let unused = case.contents.trusted()[1].clone();
    // Much later, all of it is over or nearly so: everything is made anew, and what is left stays trusted.
    let now = at(600);
    let step = case.next(now, Some(seconds(300)));
    assert_eq!(
        step,
        Some(Step::Create {
            keep: case.contents.trusted().to_vec()
        })
    );
    let step = step.unwrap();
    let after = apply(&step, Some(&case.contents), &case.names, &case.terms, now).unwrap();
    assert_eq!(after.trusted().len(), 2);
    assert!(after.trusted().contains(&unused));
    assert_eq!(after.serving().certificate.not_after(), at(700));
}

#[test]
fn names_that_are_needed_are_added_and_taken_away_with_the_next_renewal() {
    let mut case = Case::new();
    case.names = names(&["new.portcullis.svc"]);
    case.does(&Step::Renew, at(10), None);
    let both = names(&[
        "127.0.0.1",
        "new.portcullis.svc",
        "portcullis.portcullis.svc",
    ]);
    assert_eq!(case.contents.serving().certificate.names(), &both);
    // A replica that needs the others is content too.
    case.names = names(&["127.0.0.1"]);
    assert_eq!(case.next(at(11), None), None);
    case.names = names(&["new.portcullis.svc"]);
    case.does(&Step::Renew, at(70), None);
    assert_eq!(case.contents.serving().certificate.names(), &case.names);
}

#[test]
fn longer_terms_take_effect_by_another_authority() {
    let mut case = Case::new();
    case.terms.validity = seconds(10_000);
    case.terms.renew_before = seconds(1000);
    case.does(&Step::AddAuthority, at(0), None);
    case.does(&Step::Renew, at(0), None);
    assert_eq!(case.contents.serving().certificate.not_after(), at(400));
    assert_eq!(case.next(at(1), Some(seconds(59))), None);
    case.does(&Step::SwitchAuthority, at(60), Some(seconds(60)));
    assert_eq!(case.contents.serving().certificate.not_after(), at(10_060));
    assert_eq!(case.next(at(61), None), None);
}

#[test]
fn what_another_replica_serves_becomes_trusted_again() {
    let (mut case, other) = (Case::new(), Case::new());
    let own = other.contents.trusted()[0].clone();
    let situation = Situation {
        now: at(1),
        terms: &case.terms,
        names: &case.names,
        own: Some(&own),
        next_published: None,
    };
    let step = next_step(&case.contents, situation);
    assert_eq!(step, Some(Step::Keep(own.clone())));
    let over = Situation {
        now: at(400),
        ..situation
    };
    assert_ne!(next_step(&case.contents, over), step);
    let after = apply(
        &Step::Keep(own.clone()),
        Some(&case.contents),
        &case.names,
        &case.terms,
        at(1),
    );
    case.contents = after.unwrap();
    assert!(case.contents.trusted().contains(&own));
    assert_eq!(case.next(at(1), None), None);
}
