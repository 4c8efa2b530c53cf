//! States of tenants: changes and expiry.

use std::time::SystemTime;

use portcullis_store::{StateChange, Store, Swept, TenantState};

use crate::place::Place;
use crate::records::at;

crate::on_both!(
    a_tenant_is_normal_until_somebody_says_otherwise,
    a_change_leaves_the_rest_as_it_was,
    a_state_without_flags_has_no_end,
    a_state_ends_at_its_time_swept_or_not,
    a_change_after_the_end_starts_from_normal,
    changes_of_different_flags_at_once_all_stay,
    odd_texts_are_kept,
    reading_alone_shows_and_changes_nothing,
);

fn paused() -> StateChange {
    StateChange {
        trigger_queue_paused: Some(true),
        ..StateChange::default()
    }
}

fn ending(end: SystemTime) -> StateChange {
    StateChange {
        expires_at: Some(Some(end)),
        ..paused()
    }
}

fn change(store: &mut Store, tenant: &str, change: &StateChange) -> TenantState {
    store
        .change_tenant_state(tenant, change, "alice", at(0))
        .unwrap()
}

fn a_tenant_is_normal_until_somebody_says_otherwise(place: &Place) {
    let mut store = place.open();
    assert_eq!(
        store.tenant_state("a", at(0)).unwrap(),
        TenantState::default()
    );
    assert_eq!(store.tenant_states(at(0)).unwrap(), []);
    let whole = StateChange {
        trigger_queue_discarding: Some(true),
        reason: Some(Some("upgrade".into())),
        expires_at: Some(Some(at(9000))),
        ..StateChange::default()
    };
    let expected = TenantState {
        trigger_queue_discarding: true,
        reason: Some("upgrade".into()),
        set_by: Some("alice".into()),
        set_at: Some(at(0)),
        expires_at: Some(at(9000)),
        ..TenantState::default()
    };
    assert_eq!(change(&mut store, "a", &whole), expected);
    let other = change(&mut store, "Z", &paused());
    drop(store);
    let mut store = place.open();
    assert_eq!(store.tenant_state("a", at(1)).unwrap(), expected);
    assert_eq!(
        store.tenant_state("A", at(1)).unwrap(),
        TenantState::default()
    );
    assert_eq!(
        store.tenant_states(at(1)).unwrap(),
        [("Z".to_owned(), other), ("a".to_owned(), expected)]
    );
}

fn a_change_leaves_the_rest_as_it_was(place: &Place) {
    let mut store = place.open();
    let first = StateChange {
        reason: Some(Some("why".into())),
        ..ending(at(9000))
    };
    change(&mut store, "a", &first);
    let second = StateChange {
        result_queue_paused: Some(true),
        ..StateChange::default()
    };
    let state = store
        .change_tenant_state("a", &second, "bob", at(7))
        .unwrap();
    let expected = TenantState {
        trigger_queue_paused: true,
        result_queue_paused: true,
        reason: Some("why".into()),
        set_by: Some("bob".into()),
        set_at: Some(at(7)),
        expires_at: Some(at(9000)),
        ..TenantState::default()
    };
    assert_eq!(state, expected);
    let third = StateChange {
        trigger_queue_paused: Some(false),
        reason: Some(None),
        expires_at: Some(None),
        ..StateChange::default()
    };
    let state = change(&mut store, "a", &third);
    let expected = TenantState {
        result_queue_paused: true,
        set_by: Some("alice".into()),
        set_at: Some(at(0)),
        ..TenantState::default()
    };
    assert_eq!(state, expected);
    assert_eq!(store.tenant_state("a", at(0)).unwrap(), expected);
}

fn a_state_without_flags_has_no_end(place: &Place) {
    let mut store = place.open();
    change(&mut store, "a", &ending(at(9000)));
    let back = StateChange {
        trigger_queue_paused: Some(false),
        reason: Some(Some("done".into())),
        ..StateChange::default()
    };
    let state = change(&mut store, "a", &back);
    assert_eq!(state.expires_at, None);
    assert_eq!(state.reason.as_deref(), Some("done"));
    let end_alone = StateChange {
        expires_at: Some(Some(at(9000))),
        ..StateChange::default()
    };
    assert_eq!(change(&mut store, "a", &end_alone).expires_at, None);
    assert_eq!(store.sweep(at(9000)).unwrap(), Swept::default());
    assert_eq!(
        store.tenant_state("a", at(9000)).unwrap().reason.as_deref(),
        Some("done")
    );
}

fn a_state_ends_at_its_time_swept_or_not(place: &Place) {
    let mut store = place.open();
    let state = change(&mut store, "a", &ending(at(1000)));
    let forever = change(&mut store, "b", &paused());
    assert_eq!(store.tenant_state("a", at(999)).unwrap(), state);
    assert_eq!(store.tenant_states(at(999)).unwrap().len(), 2);
    let only_b = [("b".to_owned(), forever)];
    let normal = TenantState::default();
    assert_eq!(store.tenant_state("a", at(1000)).unwrap(), normal);
    assert_eq!(store.tenant_states(at(1000)).unwrap(), only_b);
    assert_eq!(store.sweep(at(999)).unwrap(), Swept::default());
    let swept = Swept {
        states_ended: 1,
        ..Swept::default()
    };
    assert_eq!(store.sweep(at(1000)).unwrap(), swept);
    assert_eq!(store.sweep(at(1000)).unwrap(), Swept::default());
    // It is gone: also for one whose clock is behind.
    assert_eq!(store.tenant_state("a", at(0)).unwrap(), normal);
    assert_eq!(store.tenant_states(at(0)).unwrap(), only_b);
    // An end in the past is an end.
    assert_eq!(change(&mut store, "c", &ending(at(0))), normal);
    assert_eq!(store.tenant_state("c", at(0)).unwrap(), normal);
}

fn a_change_after_the_end_starts_from_normal(place: &Place) {
    let mut store = place.open();
    let old = StateChange {
        reason: Some(Some("old".into())),
        ..ending(at(1000))
    };
    change(&mut store, "a", &old);
    let new = StateChange {
        result_queue_paused: Some(true),
        ..StateChange::default()
    };
    let state = store
        .change_tenant_state("a", &new, "bob", at(1000))
        .unwrap();
    let expected = TenantState {
        result_queue_paused: true,
        set_by: Some("bob".into()),
        set_at: Some(at(1000)),
        ..TenantState::default()
    };
    assert_eq!(state, expected);
    assert_eq!(store.sweep(at(2000)).unwrap(), Swept::default());
    assert_eq!(store.tenant_state("a", at(2000)).unwrap(), expected);
}

fn changes_of_different_flags_at_once_all_stay(place: &Place) {
    drop(place.open());
    let flag = |which: usize, to: bool| StateChange {
        trigger_queue_discarding: (which == 0).then_some(to),
        trigger_queue_paused: (which == 1).then_some(to),
        result_queue_paused: (which == 2).then_some(to),
        reason: (which == 3).then(|| to.then(|| "why".to_owned())),
        ..StateChange::default()
    };
    for round in 0..5 {
        let tenant = &format!("t{round}");
        std::thread::scope(|scope| {
            for which in 0..4 {
                scope.spawn(move || {
                    let mut store = place.open();
                    // Ends with yes.
                    for step in 0..7 {
                        let state = change(&mut store, tenant, &flag(which, step % 2 == 0));
                        let own = [
                            state.trigger_queue_discarding,
                            state.trigger_queue_paused,
                            state.result_queue_paused,
                            state.reason.is_some(),
                        ];
                        assert_eq!(own[which], step % 2 == 0);
                    }
                });
            }
            scope.spawn(|| {
                let mut store = place.open();
                for _ in 0..7 {
                    store.sweep(at(5)).unwrap();
                }
            });
        });
        let state = place.open().tenant_state(tenant, at(0)).unwrap();
        assert!(state.trigger_queue_discarding && state.trigger_queue_paused);
        assert!(state.result_queue_paused);
        assert_eq!(state.reason.as_deref(), Some("why"));
    }
}

fn odd_texts_are_kept(place: &Place) {
    let mut store = place.open();
    for odd in ["", "'; DROP TABLE tenant_states", "?1", "🦀 é\r\n", "NULL"] {
        let odd_change = StateChange {
            reason: Some(Some(odd.into())),
            ..paused()
        };
        let state = store
            .change_tenant_state(odd, &odd_change, odd, at(0))
            .unwrap();
        assert_eq!(state.reason.as_deref(), Some(odd));
        assert_eq!(state.set_by.as_deref(), Some(odd));
        assert_eq!(store.tenant_state(odd, at(0)).unwrap(), state);
    }
    assert_eq!(store.tenant_states(at(0)).unwrap().len(), 5);
    // PostgreSQL can't store U+0000.
    let state = store
        .change_tenant_state("a\0", &paused(), "b\0", at(0))
        .unwrap();
    assert_eq!(state.set_by.as_deref(), Some("b\u{fffd}"));
    assert_eq!(store.tenant_state("a\0", at(0)).unwrap(), state);
}

fn reading_alone_shows_and_changes_nothing(place: &Place) {
    let mut store = place.open();
    let state = change(&mut store, "a", &ending(at(1000)));
    let mut reader = place.read_only().unwrap();
    assert_eq!(reader.tenant_state("a", at(0)).unwrap(), state);
    assert_eq!(
        reader.tenant_state("a", at(1000)).unwrap(),
        TenantState::default()
    );
    reader
        .change_tenant_state("a", &paused(), "x", at(0))
        .unwrap_err();
    assert_eq!(reader.tenant_state("a", at(0)).unwrap(), state);
}
