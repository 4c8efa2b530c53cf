//! Which connections are accepted, and which wait.

use std::future::Future;
use std::task::{Context, Waker};

use super::*;

fn counts(total: u32) -> ConnectionCounts {
    ConnectionCounts {
        total,
        per_address: u32::MAX,
    }
}

/// Connections with so many listeners.
fn with_rooms(total: u32, rooms: usize) -> (Connections, Vec<RoomId>) {
    let connections = Connections::new(counts(total));
    let rooms: Vec<RoomId> = (0..rooms).map(|_| connections.room()).collect();
    connections.share_out(counts(total), &unlimited(&rooms));
    (connections, rooms)
}

fn unlimited(rooms: &[RoomId]) -> Vec<(RoomId, Option<u32>)> {
    rooms.iter().map(|room| (*room, None)).collect()
}

/// What comes of asking now; nothing if it would wait.
fn ask(connections: &Connections, room: RoomId, address: Option<&str>) -> Option<Admission> {
    let address = address.map(|text| text.parse().unwrap());
    let asking = std::pin::pin!(connections.admit(room, address));
    match asking.poll(&mut Context::from_waker(Waker::noop())) {
        std::task::Poll::Ready(admission) => Some(admission),
        std::task::Poll::Pending => None,
    }
}

/// Opens as many as there is room for.
fn fill(connections: &Connections, room: RoomId) -> Vec<Admitted> {
    let next = || match ask(connections, room, None) {
        Some(Admission::Admitted(admitted)) => Some(admitted),
        _ => None,
    };
    std::iter::from_fn(next).collect()
}

#[test]
fn one_listener_gets_everything_when_it_is_alone() {
    for total in [1, 2, 5, 8] {
        let (connections, rooms) = with_rooms(total, 1);
        assert_eq!(fill(&connections, rooms[0]).len(), total as usize);
    }
}

#[test]
fn a_full_listener_leaves_the_others_their_share() {
    let (connections, rooms) = with_rooms(40, 4);
    let hostile = fill(&connections, rooms[0]);
    assert_eq!(hostile.len(), 25);
    for room in &rooms[1..] {
        assert_eq!(fill(&connections, *room).len(), 5);
    }
    let all: Vec<_> = rooms.iter().map(|room| fill(&connections, *room)).collect();
    assert_eq!(all.iter().map(Vec::len).sum::<usize>() + hostile.len(), 40);
}

#[test]
fn with_fewer_than_listeners_those_who_come_first_get_in() {
    let (connections, rooms) = with_rooms(2, 3);
    for room in &rooms {
        assert_eq!(fill(&connections, *room).len(), 2);
    }
}

#[test]
fn a_listener_may_have_a_limit_of_its_own() {
    let (connections, rooms) = with_rooms(40, 2);
    connections.share_out(counts(40), &[(rooms[0], Some(3)), (rooms[1], None)]);
    let few = fill(&connections, rooms[0]);
    assert_eq!(few.len(), 3);
    // What the first can't use is for the other.
    assert_eq!(fill(&connections, rooms[1]).len(), 37);
}

#[test]
fn an_address_has_a_limit_at_each_listener() {
    let (connections, rooms) = with_rooms(40, 2);
    let limited = ConnectionCounts {
        per_address: 2,
        ..counts(40)
    };
    connections.share_out(limited, &unlimited(&rooms));
    let admitted = |room, address| match ask(&connections, room, Some(address)) {
        Some(Admission::Admitted(admitted)) => Some(admitted),
        Some(Admission::TooMany) => None,
        other => panic!("{other:?}"),
    };
    let first = [
        admitted(rooms[0], "10.0.0.1"),
        admitted(rooms[0], "::ffff:10.0.0.1"),
    ];
    assert!(first.iter().all(Option::is_some));
    assert!(admitted(rooms[0], "10.0.0.1").is_none());
    assert!(admitted(rooms[0], "10.0.0.2").is_some());
    assert!(admitted(rooms[1], "10.0.0.1").is_some());
    let network = [
        admitted(rooms[0], "2001:db8::1"),
        admitted(rooms[0], "2001:db8::2"),
    ];
    assert!(network.iter().all(Option::is_some));
    assert!(admitted(rooms[0], "2001:db8::3").is_none());
    assert!(admitted(rooms[0], "2001:db8:0:1::3").is_some());
    drop(first);
    assert!(admitted(rooms[0], "10.0.0.1").is_some());
}

#[test]
fn a_smaller_limit_counts_once_the_others_are_gone() {
    let (connections, rooms) = with_rooms(8, 1);
    let mut open = fill(&connections, rooms[0]);
    connections.share_out(counts(2), &unlimited(&rooms));
    open.truncate(2);
    assert_eq!(fill(&connections, rooms[0]).len(), 0);
    open.clear();
    assert_eq!(fill(&connections, rooms[0]).len(), 2);
}

#[test]
fn connections_of_a_listener_that_is_gone_count_until_they_end() {
    let (connections, rooms) = with_rooms(8, 2);
    let old = fill(&connections, rooms[0]);
    assert_eq!(old.len(), 6);
    connections.share_out(counts(8), &unlimited(&rooms[1..]));
    assert!(matches!(
        ask(&connections, rooms[1], None),
        Some(Admission::Admitted(_))
    ));
    let rest = fill(&connections, rooms[1]);
    assert_eq!(rest.len(), 4);
    drop(old);
    assert!(matches!(
        ask(&connections, rooms[0], None),
        Some(Admission::Closed)
    ));
    assert_eq!(fill(&connections, rooms[1]).len(), 4);
}

#[tokio::test]
async fn who_waits_gets_in_when_another_leaves() {
    let (connections, rooms) = with_rooms(1, 1);
    let only = fill(&connections, rooms[0]);
    let waiting = tokio::spawn({
        let (connections, room) = (connections.clone(), rooms[0]);
        async move { connections.admit(room, None).await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    drop(only);
    assert!(matches!(waiting.await.unwrap(), Admission::Admitted(_)));
}

#[tokio::test]
async fn finishing_waits_for_all_of_them() {
    let (connections, rooms) = with_rooms(4, 1);
    let open = fill(&connections, rooms[0]);
    connections.share_out(counts(1), &unlimited(&rooms));
    let waiting = tokio::spawn({
        let connections = connections.clone();
        async move { connections.finish().await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    drop(open);
    waiting.await.unwrap();
    assert!(matches!(
        ask(&connections, rooms[0], None),
        Some(Admission::Closed)
    ));
}
