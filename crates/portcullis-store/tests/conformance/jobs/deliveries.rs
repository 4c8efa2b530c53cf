//! Deliveries: what becomes of them.

use portcullis_store::{
    AfterTry, Claimant, Delivery, DeliveryFilter, DeliveryShare, DeliveryState, DeliveryTry, Store,
};

use super::builders::{at, deliver, delivery, insert, run};
use crate::place::Place;

crate::on_both!(
    a_delivery_comes_back_as_it_was_inserted,
    a_token_belongs_to_one_delivery,
    tries_are_recorded_by_who_has_claimed_it,
    a_delivery_ends_once,
    a_delivery_can_be_sent_again,
    the_deliveries_of_a_job_are_cancelled,
    lists_are_paged,
);

fn claim(store: &mut Store, name: &str, now: u64) -> Vec<Delivery> {
    let share = DeliveryShare {
        controller: 3,
        most: 10,
        after: "",
    };
    let claimant = Claimant {
        name,
        now: at(now),
        until: at(now + 15),
    };
    run(store, |tx| tx.claim_deliveries(&[share], 10, claimant))
}

fn attempted(seconds: u64) -> DeliveryTry {
    DeliveryTry {
        at: at(seconds),
        status: Some(500),
        error: Some("status 500".into()),
        duration_ms: 31,
    }
}

fn a_delivery_comes_back_as_it_was_inserted(place: &Place) {
    let mut store = place.open();
    let mut one = delivery(9, "g/p", 4, 3);
    one.tries.push(attempted(1));
    one.leased_by = Some("x".into());
    one.leased_until = Some(at(5));
    one.answer = Some("digest".into());
    run(&mut store, |tx| tx.insert_delivery(&one));
    let mut store = place.open();
    assert_eq!(run(&mut store, |tx| tx.delivery(9)), Some(one.clone()));
    assert_eq!(run(&mut store, |tx| tx.delivery_for_change(9)), Some(one));
    assert_eq!(run(&mut store, |tx| tx.delivery(8)), None);
}

fn a_token_belongs_to_one_delivery(place: &Place) {
    let mut store = place.open();
    let one = run(&mut store, |tx| deliver(tx, "g/p", 3));
    let found = run(&mut store, |tx| tx.delivery_by_token("hash-1"));
    assert_eq!(found, Some(one));
    assert_eq!(run(&mut store, |tx| tx.delivery_by_token("hash-2")), None);
    let mut same = delivery(2, "g/p", 1, 3);
    same.token_hash = "hash-1".into();
    assert!(store.jobs(|tx| tx.insert_delivery(&same)).is_err());
}

fn tries_are_recorded_by_who_has_claimed_it(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| deliver(tx, "g/p", 3));
    let again = AfterTry::Again(at(30));
    let by = |store: &mut Store, name, seconds, after| {
        run(store, |tx| {
            tx.record_try(1, name, attempted(seconds), after)
        })
    };
    assert_eq!(by(&mut store, "a", 1, again), None);
    let claimed = claim(&mut store, "a", 0).pop().unwrap();
    assert_eq!(claimed.leased_by.as_deref(), Some("a"));
    assert_eq!(
        (claimed.leased_until, claimed.next_at),
        (Some(at(15)), at(15))
    );
    assert_eq!(run(&mut store, |tx| tx.delivery(1)), Some(claimed));
    assert_eq!(by(&mut store, "b", 1, again), None);
    let tried = by(&mut store, "a", 1, again).unwrap();
    assert_eq!(
        (tried.state, tried.next_at),
        (DeliveryState::Waiting, at(30))
    );
    assert_eq!((&tried.leased_by, tried.leased_until), (&None, None));
    assert_eq!(tried.tries, [attempted(1)]);
    assert_eq!(run(&mut store, |tx| tx.delivery(1)), Some(tried));
    // Not due; then due, and claimed by two after each other because the first is never heard of.
    assert!(claim(&mut store, "a", 29).is_empty());
    assert_eq!(claim(&mut store, "a", 30).len(), 1);
    assert!(claim(&mut store, "b", 44).is_empty());
    assert_eq!(claim(&mut store, "b", 45).len(), 1);
    assert_eq!(by(&mut store, "a", 46, AfterTry::Delivered), None);
    let tried = by(&mut store, "b", 47, AfterTry::Delivered).unwrap();
    assert_eq!(tried.state, DeliveryState::Delivered);
    assert_eq!(tried.tries, [attempted(1), attempted(47)]);
    // Delivered ones are not sent again.
    assert!(claim(&mut store, "a", 9999).is_empty());
    assert_eq!(by(&mut store, "b", 48, again), None);
}

fn a_delivery_ends_once(place: &Place) {
    let mut store = place.open();
    for _ in 0..3 {
        run(&mut store, |tx| deliver(tx, "g/p", 3));
    }
    assert!(run(&mut store, |tx| tx.finish_delivery(1, Some("digest"))));
    assert!(!run(&mut store, |tx| tx.finish_delivery(1, Some("other"))));
    assert!(!run(&mut store, |tx| tx.finish_delivery(1, None)));
    let done = run(&mut store, |tx| tx.delivery(1)).unwrap();
    assert_eq!(
        (done.state, done.answer.as_deref()),
        (DeliveryState::Done, Some("digest"))
    );
    assert!(run(&mut store, |tx| tx.finish_delivery(2, None)));
    let failed = run(&mut store, |tx| tx.delivery(2)).unwrap();
    assert_eq!((failed.state, failed.answer), (DeliveryState::Failed, None));
    assert!(!run(&mut store, |tx| tx.finish_delivery(77, None)));
    let claimed = claim(&mut store, "a", 1);
    assert_eq!(claimed.len(), 1);
    let done = run(&mut store, |tx| {
        tx.record_try(3, "a", attempted(2), AfterTry::Done("inline"))
    });
    assert_eq!(done.unwrap().answer.as_deref(), Some("inline"));
    assert!(claim(&mut store, "a", 9999).is_empty());
}

fn a_delivery_can_be_sent_again(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| deliver(tx, "g/p", 3));
    assert_eq!(claim(&mut store, "a", 1).len(), 1);
    assert!(run(&mut store, |tx| tx.finish_delivery(1, None)));
    assert!(claim(&mut store, "a", 9).is_empty());
    assert!(run(&mut store, |tx| tx.redeliver(1, at(9))));
    assert_eq!(claim(&mut store, "b", 9).len(), 1);
    assert!(run(&mut store, |tx| tx.finish_delivery(1, Some("digest"))));
    assert!(!run(&mut store, |tx| tx.redeliver(1, at(9))));
    assert!(!run(&mut store, |tx| tx.redeliver(2, at(9))));
}

fn the_deliveries_of_a_job_are_cancelled(place: &Place) {
    let mut store = place.open();
    let job = run(&mut store, |tx| {
        let job = insert(tx, "g/p", &[])?;
        let other = insert(tx, "g/p", &[])?;
        for (id, of) in [(1, &job), (2, &job), (3, &job), (4, &other)] {
            tx.insert_delivery(&delivery(id, "g/p", of.id, 3))?;
        }
        tx.finish_delivery(1, Some("digest"))?;
        Ok(job)
    });
    run(&mut store, |tx| tx.cancel_deliveries(&job));
    let states = [1, 2, 3, 4].map(|id| run(&mut store, |tx| tx.delivery(id)).unwrap().state);
    use DeliveryState::{Done, Failed, Waiting};
    assert_eq!(states, [Done, Failed, Failed, Waiting]);
}

fn lists_are_paged(place: &Place) {
    let mut store = place.open();
    run(&mut store, |tx| {
        for id in 1..=12 {
            let project = if id % 2 == 0 { "g/p" } else { "h" };
            tx.insert_delivery(&delivery(id, project, id % 2, id % 3))?;
        }
        Ok(())
    });
    for (filter, wanted) in [
        (DeliveryFilter::All, (1..=12).rev().collect::<Vec<u64>>()),
        (DeliveryFilter::Job("g/p", 0), vec![12, 10, 8, 6, 4, 2]),
        (DeliveryFilter::Job("g/p", 1), vec![]),
        (DeliveryFilter::Controller(1), vec![10, 7, 4, 1]),
    ] {
        let mut found: Vec<u64> = Vec::new();
        loop {
            let before = found.last().copied();
            let page = run(&mut store, |tx| tx.list_deliveries(filter, before, 2));
            if page.is_empty() {
                break;
            }
            found.extend(page.into_iter().map(|one| one.id));
        }
        assert_eq!(found, wanted, "{filter:?}");
    }
}
