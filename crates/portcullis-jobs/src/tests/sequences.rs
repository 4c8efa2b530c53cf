//! Long random sequences: what the search of the model is too broad for.

use proptest::collection::vec;
use proptest::prelude::*;

use super::server::{ACTIONS, Server, World};
use crate::{Effect, Event, FailureReason, JobState, JobStatus, Timestamp};

proptest! {
    #[test]
    fn any_sequence_of_actions_keeps_the_invariants(
        actions in vec(proptest::sample::select(ACTIONS), 0..120),
    ) {
        let world = World::new();
        let mut server = Server::new();
        for action in actions {
            if let Some(next) = server.after(action, &world) {
                next.check(&server, action);
                server = next;
            }
        }
    }

    #[test]
    fn a_job_is_in_the_queue_exactly_while_it_is_pending(
        events in vec((0_usize..18, 0_u64..3), 0..80),
    ) {
        let mut state = JobState::new();
        let (mut is_queued, mut now) = (false, 0);
        for (index, passed) in events {
            now += passed;
            let at = Timestamp::from_millis(now);
            let Ok(transition) = state.apply(&event(index, now), at) else {
                continue;
            };
            for effect in &transition.effects {
                match effect {
                    Effect::EnterQueue => {
                        prop_assert!(!is_queued);
                        is_queued = true;
                    }
                    Effect::LeaveQueue => {
                        prop_assert!(is_queued);
                        is_queued = false;
                    }
                    _ => {}
                }
            }
            let ended = transition.state.status.is_finished() && !state.status.is_finished();
            let checks = transition.effects.contains(&Effect::CheckPipeline);
            prop_assert!(checks || !ended, "the pipeline hears of every end");
            state = transition.state;
            prop_assert_eq!(is_queued, state.status == JobStatus::Pending);
            prop_assert_eq!(state.finished_at.is_some(), state.status.is_finished());
        }
    }
}

fn event(index: usize, now: u64) -> Event {
    let deadline = Timestamp::from_millis(now + 3);
    let reason = FailureReason::ScriptFailure;
    let all = [
        Event::Prepare { deadline },
        Event::Enqueue,
        Event::AskNext,
        Event::Accept,
        Event::Deny,
        Event::LeaveNoRunner,
        Event::TimeOut,
        Event::Take { runner: 1 },
        Event::Acknowledge,
        Event::Requeue,
        Event::GetStuck,
        Event::LoseRunner,
        Event::Succeed,
        Event::Fail {
            reason,
            exit_code: None,
        },
        Event::Cancel,
        Event::Skip,
        Event::Revive,
        Event::Retry,
    ];
    all[index]
}
