//! Holds: placing, listing, expiring, releasing.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use portcullis_store::{Hold, NewHold, Placed, Store, Swept};

use crate::place::Place;
use crate::records::at;

crate::on_both!(
    a_hold_comes_back_as_it_was_placed,
    holds_of_others_are_not_there,
    ids_are_never_given_twice,
    a_hold_ends_at_its_time_swept_or_not,
    what_expired_long_ago_is_gone,
    a_tenant_has_so_many_and_no_more,
    what_expired_does_not_pile_up,
    many_who_place_at_once_get_ids_of_their_own,
    two_who_place_the_last_get_one,
    odd_texts_and_numbers_are_kept,
    reading_alone_shows_and_changes_nothing,
    a_sweep_beside_others_harms_nobody,
);

const HOUR: Duration = Duration::from_secs(3600);

/// A hold with everything simple.
pub(crate) fn wish(tenant: &str, project: &str) -> NewHold {
    NewHold {
        tenant: tenant.into(),
        project: project.into(),
        job: "unit".into(),
        reference: None,
        change: None,
        reason: "look at it".into(),
        max_count: 1,
        node_expiration: None,
        placed_by: "alice".into(),
        placed_at: at(0),
        expires_at: None,
    }
}

pub(crate) fn place_one(store: &mut Store, wish: &NewHold) -> Hold {
    match store.place_hold(wish).unwrap() {
        Placed::Done(hold) => hold,
        Placed::Full => panic!("there is room"),
    }
}

fn ids(store: &mut Store, tenant: &str) -> Vec<u64> {
    let holds = store.holds(tenant, None, at(0)).unwrap();
    holds.into_iter().map(|hold| hold.id).collect()
}

fn a_hold_comes_back_as_it_was_placed(place: &Place) {
    let mut store = place.open();
    let wish = NewHold {
        tenant: "tenant-one".into(),
        project: "org/project".into(),
        job: "unit".into(),
        reference: Some("refs/heads/main".into()),
        change: Some("12,1".into()),
        reason: "why".into(),
        max_count: 3,
        node_expiration: Some(86_400),
        placed_by: "alice".into(),
        placed_at: at(5),
        expires_at: Some(at(9)),
    };
    let hold = place_one(&mut store, &wish);
    let expected = Hold {
        id: 1,
        tenant: "tenant-one".into(),
        project: "org/project".into(),
        job: "unit".into(),
        reference: Some("refs/heads/main".into()),
        change: Some("12,1".into()),
        reason: "why".into(),
        max_count: 3,
        current_count: 0,
        node_expiration: Some(86_400),
        placed_by: "alice".into(),
        placed_at: at(5),
        expires_at: Some(at(9)),
        expired_at: None,
        nodes: Vec::new(),
    };
    assert_eq!(hold, expected);
    drop(store);
    let mut store = place.open();
    assert_eq!(
        store.hold("tenant-one", 1, at(6)).unwrap(),
        Some(expected.clone())
    );
    assert_eq!(
        store.holds("tenant-one", None, at(6)).unwrap(),
        std::slice::from_ref(&expected)
    );
    let of_project = store.holds("tenant-one", Some("org/project"), at(6));
    assert_eq!(of_project.unwrap(), [expected]);
}

fn holds_of_others_are_not_there(place: &Place) {
    let mut store = place.open();
    for (tenant, project) in [("a", "p"), ("b", "p"), ("a", "q"), ("a", "p")] {
        place_one(&mut store, &wish(tenant, project));
    }
    assert_eq!(ids(&mut store, "a"), [1, 3, 4]);
    assert_eq!(ids(&mut store, "b"), [2]);
    assert!(ids(&mut store, "A").is_empty());
    let of_project = store.holds("a", Some("p"), at(0)).unwrap();
    let of_project: Vec<u64> = of_project.into_iter().map(|hold| hold.id).collect();
    assert_eq!(of_project, [1, 4]);
    assert_eq!(store.hold("b", 1, at(0)).unwrap(), None);
    assert!(!store.release_hold("b", 1).unwrap());
    assert_eq!(store.hold("a", u64::MAX, at(0)).unwrap(), None);
    assert!(!store.release_hold("a", u64::MAX).unwrap());
    assert_eq!(ids(&mut store, "a"), [1, 3, 4]);
    assert!(store.release_hold("a", 1).unwrap());
    assert!(!store.release_hold("a", 1).unwrap());
    assert_eq!(ids(&mut store, "a"), [3, 4]);
}

fn ids_are_never_given_twice(place: &Place) {
    for expected in [1, 2, 3] {
        let mut store = place.open();
        let hold = place_one(&mut store, &wish("a", "p"));
        assert_eq!(hold.id, expected);
        assert!(store.release_hold("a", expected).unwrap());
        assert!(ids(&mut store, "a").is_empty());
    }
}

fn a_hold_ends_at_its_time_swept_or_not(place: &Place) {
    let mut store = place.open();
    let ending = NewHold {
        expires_at: Some(at(1000)),
        ..wish("a", "p")
    };
    place_one(&mut store, &ending);
    place_one(&mut store, &wish("a", "p"));
    let ends = |store: &mut Store, now: SystemTime| {
        let listed = store.holds("a", None, now).unwrap();
        for hold in &listed {
            assert_eq!(store.hold("a", hold.id, now).unwrap().as_ref(), Some(hold));
        }
        let ends: Vec<_> = listed.into_iter().map(|hold| hold.expired_at).collect();
        ends
    };
    assert_eq!(ends(&mut store, at(999)), [None, None]);
    assert_eq!(ends(&mut store, at(1000)), [Some(at(1000)), None]);
    assert_eq!(ends(&mut store, at(5000)), [Some(at(1000)), None]);
    assert_eq!(store.sweep(at(999)).unwrap(), Swept::default());
    let swept = Swept {
        holds_expired: 1,
        ..Swept::default()
    };
    assert_eq!(store.sweep(at(5000)).unwrap(), swept);
    assert_eq!(store.sweep(at(5000)).unwrap(), Swept::default());
    assert_eq!(ends(&mut store, at(5000)), [Some(at(1000)), None]);
}

fn what_expired_long_ago_is_gone(place: &Place) {
    let mut store = place.open();
    for end in [0, 1] {
        let ending = NewHold {
            expires_at: Some(at(end)),
            ..wish("a", "p")
        };
        place_one(&mut store, &ending);
    }
    place_one(&mut store, &wish("a", "p"));
    // A day after the first is not more than a day.
    let swept = store.sweep(at(0) + 24 * HOUR).unwrap();
    assert_eq!((swept.holds_expired, swept.holds_deleted), (2, 0));
    let swept = store.sweep(at(1) + 24 * HOUR).unwrap();
    assert_eq!((swept.holds_expired, swept.holds_deleted), (0, 1));
    assert_eq!(ids(&mut store, "a"), [2, 3]);
    let swept = store.sweep(at(1) + 10_000 * HOUR).unwrap();
    assert_eq!((swept.holds_expired, swept.holds_deleted), (0, 1));
    assert_eq!(ids(&mut store, "a"), [3]);
}

/// Fills the table behind the store's back, as 10,000 transactions take their time.
fn fill(place: &Place, tenant: &str, count: u64, expires_at: &str) {
    place.meddle(&format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
         INSERT INTO holds (id, tenant, project, job, reason, max_count, current_count, placed_by, \
         placed_at, expires_at) \
         SELECT i + (SELECT value FROM counters WHERE name = 'holds'), '{tenant}', 'p', 'j', 'r', \
         1, 0, 'u', 0, {expires_at} FROM n; \
         UPDATE counters SET value = value + {count} WHERE name = 'holds'"
    ));
}

fn a_tenant_has_so_many_and_no_more(place: &Place) {
    let mut store = place.open();
    fill(place, "a", 9_998, "NULL");
    let ending = NewHold {
        expires_at: Some(at(1000)),
        ..wish("a", "p")
    };
    assert_eq!(place_one(&mut store, &ending).id, 9_999);
    assert_eq!(place_one(&mut store, &wish("a", "p")).id, 10_000);
    assert_eq!(store.place_hold(&wish("a", "p")).unwrap(), Placed::Full);
    // Others are not concerned, and no id was lost.
    assert_eq!(place_one(&mut store, &wish("b", "p")).id, 10_001);
    // One that is over makes room, swept or not.
    let later = NewHold {
        placed_at: at(1000),
        ..wish("a", "p")
    };
    assert_eq!(place_one(&mut store, &later).id, 10_002);
    assert_eq!(store.place_hold(&later).unwrap(), Placed::Full);
    // So does one that is released.
    assert!(store.release_hold("a", 7).unwrap());
    assert_eq!(place_one(&mut store, &later).id, 10_003);
    assert_eq!(store.holds("a", None, at(0)).unwrap().len(), 10_001);
}

fn what_expired_does_not_pile_up(place: &Place) {
    let mut store = place.open();
    fill(place, "a", 9_999, "NULL");
    fill(place, "a", 10_001, "20000 - i");
    assert_eq!(place_one(&mut store, &wish("a", "p")).id, 20_001);
    // The one that expired first made room.
    assert_eq!(store.hold("a", 20_000, at(0)).unwrap(), None);
    assert!(store.hold("a", 19_999, at(0)).unwrap().is_some());
    assert_eq!(store.holds("a", None, at(0)).unwrap().len(), 20_000);
    assert_eq!(store.place_hold(&wish("a", "p")).unwrap(), Placed::Full);
    assert_eq!(store.holds("a", None, at(0)).unwrap().len(), 20_000);
}

fn many_who_place_at_once_get_ids_of_their_own(place: &Place) {
    drop(place.open());
    let all: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|number| {
                scope.spawn(move || {
                    let mut store = place.open();
                    let wish = wish(["a", "b"][number % 2], "p");
                    let placed = (0..20).map(|_| place_one(&mut store, &wish).id);
                    placed.collect::<Vec<u64>>()
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    // Each thread saw its ids rise.
    assert!(all.iter().all(|ids| ids.is_sorted()));
    let distinct: BTreeSet<u64> = all.into_iter().flatten().collect();
    assert_eq!(distinct, (1..=80).collect());
    let mut store = place.open();
    assert_eq!(ids(&mut store, "a").len(), 40);
    assert!(ids(&mut store, "b").is_sorted());
}

fn two_who_place_the_last_get_one(place: &Place) {
    drop(place.open());
    fill(place, "a", 9_999, "NULL");
    let placed: Vec<bool> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| place.open().place_hold(&wish("a", "p")).unwrap()))
            .collect();
        let placed = threads.into_iter().map(|thread| thread.join().unwrap());
        placed.map(|placed| placed != Placed::Full).collect()
    });
    assert_eq!(placed.iter().filter(|is_placed| **is_placed).count(), 1);
}

fn odd_texts_and_numbers_are_kept(place: &Place) {
    let mut store = place.open();
    for odd in [
        "",
        "'; DROP TABLE holds",
        "?1 $1",
        "🦀 é e\u{301} \u{202e}rtl",
        "\u{10ffff}\u{feff}\r\n",
        "NULL",
    ] {
        let wish = NewHold {
            tenant: odd.into(),
            project: odd.into(),
            job: odd.into(),
            reference: Some(odd.into()),
            change: Some(odd.into()),
            reason: odd.into(),
            max_count: u32::MAX,
            node_expiration: Some(u64::MAX),
            placed_by: odd.into(),
            placed_at: UNIX_EPOCH - HOUR,
            expires_at: Some(UNIX_EPOCH + Duration::from_secs(1 << 60)),
        };
        let hold = place_one(&mut store, &wish);
        let found = store.holds(odd, Some(odd), at(0)).unwrap();
        assert_eq!(found, [hold]);
        let found = &found[0];
        let texts = [&found.tenant, &found.project, &found.job, &found.reason];
        assert!(texts.into_iter().all(|text| text == odd), "{odd}");
        assert_eq!(found.reference.as_deref(), Some(odd));
        assert_eq!(found.change.as_deref(), Some(odd));
        assert_eq!(found.max_count, u32::MAX);
        assert_eq!(found.node_expiration, Some(i64::MAX as u64));
        assert_eq!(found.placed_at, UNIX_EPOCH - HOUR);
        // Far is still far, and never over.
        assert!(found.expires_at.unwrap() > at(0) + 1_000_000 * HOUR);
        assert_eq!(found.expired_at, None);
        assert!(store.release_hold(odd, found.id).unwrap());
    }
    // PostgreSQL can't store U+0000.
    let hold = place_one(&mut store, &wish("a\0b", "p"));
    assert_eq!(hold.tenant, "a\u{fffd}b");
    assert_eq!(ids(&mut store, "a\0b"), [hold.id]);
    assert!(store.release_hold("a\0b", hold.id).unwrap());
}

fn reading_alone_shows_and_changes_nothing(place: &Place) {
    let mut store = place.open();
    let ending = NewHold {
        expires_at: Some(at(10)),
        ..wish("a", "p")
    };
    place_one(&mut store, &ending);
    let mut reader = place.read_only().unwrap();
    let hold = reader.hold("a", 1, at(10)).unwrap().unwrap();
    assert_eq!(hold.expired_at, Some(at(10)));
    reader.place_hold(&ending).unwrap_err();
    reader.release_hold("a", 1).unwrap_err();
    reader.sweep(at(10)).unwrap_err();
    assert_eq!(ids(&mut reader, "a"), [1]);
    // What others do is seen.
    store.release_hold("a", 1).unwrap();
    assert!(ids(&mut reader, "a").is_empty());
}

fn a_sweep_beside_others_harms_nobody(place: &Place) {
    drop(place.open());
    std::thread::scope(|scope| {
        for tenant in ["a", "b"] {
            scope.spawn(move || {
                let mut store = place.open();
                for number in 0..20 {
                    let ending = NewHold {
                        expires_at: (number % 2 == 0).then(|| at(1)),
                        ..wish(tenant, "p")
                    };
                    place_one(&mut store, &ending);
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                let mut store = place.open();
                for _ in 0..10 {
                    store.sweep(at(5)).unwrap();
                }
            });
        }
    });
    let mut store = place.open();
    store.sweep(at(5)).unwrap();
    for tenant in ["a", "b"] {
        let holds = store.holds(tenant, None, at(5)).unwrap();
        let over = holds.iter().filter(|hold| hold.expired_at.is_some());
        assert_eq!((over.count(), holds.len()), (10, 20));
    }
}
