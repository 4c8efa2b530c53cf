//! Claiming deliveries: turns, shares, leases, several at once.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_store::{Claimant, Delivery, DeliveryShare, JobsError, JobsWriter, Store};

use super::builders::{at, deliver, run};
use crate::place::Place;

crate::on_both!(
    projects_take_turns,
    a_project_without_much_leaves_room_for_others,
    a_controller_gets_no_more_than_its_share,
    many_projects_that_are_not_due_hold_up_no_other,
    leases_end_and_are_claimed_again,
    two_writers_claim_nothing_twice,
    what_waits_is_known_for_each_controller,
);

fn fill(store: &mut Store, controller: u64, projects: &[(&str, usize)]) {
    run(store, |tx| {
        for (project, count) in projects {
            for _ in 0..*count {
                deliver(tx, project, controller)?;
            }
        }
        Ok(())
    });
}

fn claimant(name: &str, now: u64) -> Claimant<'_> {
    Claimant {
        name,
        now: at(now),
        until: at(now + 15),
    }
}

fn claim(store: &mut Store, most: usize, after: &str, now: u64) -> Vec<Delivery> {
    let share = DeliveryShare {
        controller: 1,
        most,
        after,
    };
    run(store, |tx| {
        tx.claim_deliveries(&[share], 1000, claimant("x", now))
    })
}

fn projects(claimed: &[Delivery]) -> Vec<&str> {
    claimed.iter().map(|one| one.project.as_str()).collect()
}

fn projects_take_turns(place: &Place) {
    let mut store = place.open();
    fill(
        &mut store,
        1,
        &[("big", 50), ("a/small", 2), ("z/small", 2), ("c", 1)],
    );
    let mut after = String::new();
    let mut order = Vec::new();
    for _ in 0..4 {
        let claimed = claim(&mut store, 2, &after, 1);
        after.clone_from(&claimed.last().unwrap().project);
        order.extend(claimed);
    }
    let wanted = [
        "a/small", "big", "c", "z/small", "a/small", "big", "z/small", "big",
    ];
    assert_eq!(projects(&order), wanted);
    // Within a project the oldest is first.
    let of_big = order.iter().filter(|one| one.project == "big");
    assert_eq!(of_big.map(|one| one.id).collect::<Vec<_>>(), [1, 2, 3]);
}

fn a_project_without_much_leaves_room_for_others(place: &Place) {
    let mut store = place.open();
    fill(&mut store, 1, &[("big", 50), ("a", 2), ("z", 3)]);
    let claimed = claim(&mut store, 20, "", 1);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for project in projects(&claimed) {
        *counts.entry(project).or_default() += 1;
    }
    assert_eq!(counts, [("a", 2), ("big", 15), ("z", 3)].into());
    assert_eq!(claim(&mut store, 100, "", 1).len(), 35);
    assert!(claim(&mut store, 100, "", 1).is_empty());
}

fn a_controller_gets_no_more_than_its_share(place: &Place) {
    let mut store = place.open();
    for controller in 1..=3 {
        fill(&mut store, controller, &[("p", 10), ("q", 10)]);
    }
    let share = |controller, most| DeliveryShare {
        controller,
        most,
        after: "",
    };
    let shares = [share(1, 4), share(2, 0), share(3, 100), share(9, 5)];
    let mut claimed = |limit| {
        let found = run(&mut store, |tx| {
            tx.claim_deliveries(&shares, limit, claimant("x", 1))
        });
        [1, 2, 3].map(|wanted| found.iter().filter(|one| one.controller == wanted).count())
    };
    assert_eq!(claimed(10), [4, 0, 6]);
    assert_eq!(claimed(1), [1, 0, 0]);
    assert_eq!(claimed(0), [0, 0, 0]);
    assert_eq!(claimed(100), [4, 0, 14]);
}

fn many_projects_that_are_not_due_hold_up_no_other(place: &Place) {
    let mut store = place.open();
    let waiting: Vec<String> = (0..300).map(|number| format!("p/{number:03}")).collect();
    let waiting: Vec<(&str, usize)> = waiting.iter().map(|path| (path.as_str(), 1)).collect();
    fill(&mut store, 1, &waiting);
    let all = claim(&mut store, 1000, "", 1);
    let ids: BTreeSet<u64> = all.iter().map(|one| one.id).collect();
    assert_eq!((all.len(), ids.len()), (300, 300));
    fill(&mut store, 1, &[("z", 2), ("a", 1)]);
    for (most, after, wanted) in [(1, "p", "z"), (1, "p/100", "z"), (5, "z", "a")] {
        assert_eq!(projects(&claim(&mut store, most, after, 2)), [wanted]);
    }
}

fn leases_end_and_are_claimed_again(place: &Place) {
    let mut store = place.open();
    fill(&mut store, 1, &[("p", 3)]);
    let first = claim(&mut store, 10, "", 1);
    assert_eq!(first.len(), 3);
    assert!(claim(&mut store, 10, "", 15).is_empty());
    let again = claim(&mut store, 10, "", 16);
    let ids = |claimed: &[Delivery]| claimed.iter().map(|one| one.id).collect::<Vec<_>>();
    assert_eq!(ids(&again), ids(&first));
    assert_eq!(again[0].leased_until, Some(at(31)));
}

fn two_writers_claim_nothing_twice(place: &Place) {
    let mut store = place.open();
    fill(&mut store, 1, &[("p", 80), ("q", 80), ("r", 40)]);
    let claimed: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = ["one", "two"]
            .into_iter()
            .map(|name| {
                scope.spawn(move || {
                    let writer = JobsWriter::start(place.open(), 8).unwrap();
                    let mut all = Vec::new();
                    // It is for the other as well: some rounds find everything locked.
                    for _ in 0..60 {
                        let found = writer.run(move |tx| {
                            let share = DeliveryShare {
                                controller: 1,
                                most: 9,
                                after: "",
                            };
                            tx.claim_deliveries(&[share], 9, claimant(name, 1))
                        });
                        let found = found.map_err(|error: JobsError| error.to_string()).unwrap();
                        assert!(
                            found
                                .iter()
                                .all(|one| one.leased_by.as_deref() == Some(name))
                        );
                        all.extend(found.into_iter().map(|one| one.id));
                    }
                    all
                })
            })
            .collect();
        let all = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap());
        all.collect()
    });
    assert_eq!(claimed.len(), 200);
    assert_eq!(claimed.into_iter().collect::<BTreeSet<_>>().len(), 200);
}

fn what_waits_is_known_for_each_controller(place: &Place) {
    let mut store = place.open();
    assert!(run(&mut store, |tx| tx.due_controllers()).is_empty());
    for controller in [2, 5, 9] {
        fill(&mut store, controller, &[("p", 3), ("q", 2)]);
    }
    run(&mut store, |tx| {
        for delivery in
            tx.list_deliveries(portcullis_store::DeliveryFilter::Controller(5), None, 9)?
        {
            tx.finish_delivery(delivery.id, None)?;
        }
        Ok(())
    });
    let share = DeliveryShare {
        controller: 9,
        most: 9,
        after: "",
    };
    run(&mut store, |tx| {
        tx.claim_deliveries(&[share], 9, claimant("x", 4))
    });
    let due = run(&mut store, |tx| tx.due_controllers());
    assert_eq!(due, [(2, at(0)), (9, at(19))]);
    let oldest = run(&mut store, |tx| tx.oldest_deliveries());
    assert_eq!(oldest, [(2, at(0)), (9, at(0))]);
}
