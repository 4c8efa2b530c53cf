//! Events one after another.

use super::*;

const LOOKING: &str = "
- {kind: Hall, keep: [status.until, spec.company], edges: [{from: Company, names: self.spec.company}]}
- kind: Show
  only: self.spec.hall != ''
  keep: [spec.hall]
  edges:
    - {to: Hall, names: self.spec.hall}
    - when: \"!exists('Hall', '', self.spec.hall) || expired(lookup('Hall', '', self.spec.hall).status.until)\"
      from: Seat
      names: self.spec.emergency
    - {from: Company, names: \"lookup('Hall', '', self.spec.hall).spec.company\"}
- kind: Ticket
  only: \"exists('Show', self.metadata.namespace, self.spec.show)\"
  edges: [{to: Show, names: self.spec.show}]
- {kind: Visitor, edges: [{to: Ticket, when: \"exists('Ticket', self.metadata.namespace, self.ticket)\", names: self.ticket}]}
";

fn hall(name: &str, until: &str) -> Value {
    object(
        "Hall",
        "",
        name,
        &json!({"status": {"until": until}, "spec": {"company": "c", "secret": "x"}}),
    )
}

fn show(hall: &str) -> Value {
    object(
        "Show",
        "a",
        "s",
        &json!({"spec": {"hall": hall, "emergency": "e", "more": "unread"}}),
    )
}

const SOON: &str = "1970-01-01T00:20:00Z";

#[test]
fn what_depends_on_others_follows_them() {
    let following = following(&theatre(LOOKING));
    let state = &following.state;
    assert_eq!(state.apply(&show("h")), Applied::Followed(vec![]));
    let alone = [
        "Show:a/s",
        "Show:a/s: Seat:a/e -> Show:a/s",
        "Show:a/s: Show:a/s -> Hall:h",
    ];
    assert_eq!(following.edges("Hall"), alone);
    assert_eq!(state.tick(), None);

    state.apply(&hall("h", SOON));
    let company = "Show:a/s: Company:c -> Show:a/s";
    let opened = [
        "Hall:h",
        "Hall:h: Company:c -> Hall:h",
        "Show:a/s",
        company,
        "Show:a/s: Show:a/s -> Hall:h",
    ];
    assert_eq!(following.edges("Hall"), opened);
    let soon = UNIX_EPOCH + Duration::from_secs(1_200);
    assert_eq!(state.tick(), Some(soon));

    // Time passes.
    following.clock.store(1_199, Ordering::SeqCst);
    assert_eq!(state.tick(), Some(soon));
    assert_eq!(following.edges("Hall"), opened);
    following.clock.store(1_200, Ordering::SeqCst);
    assert_eq!(state.tick(), None);
    assert!(
        following
            .edges("Hall")
            .contains(&"Show:a/s: Seat:a/e -> Show:a/s".to_owned())
    );

    // Another moment.
    state.apply(&hall("h", "1970-01-01T01:00:00Z"));
    assert_eq!(following.edges("Hall"), opened);
    assert_eq!(state.tick(), Some(UNIX_EPOCH + Duration::from_secs(3_600)));

    // The hall goes, and with it what was known of its moment.
    following.delete("Hall", "", "h");
    assert_eq!(following.edges("Hall"), alone);
    assert_eq!(state.tick(), None);
    following.delete("Show", "a", "s");
    assert_eq!(following.edges("Hall"), Vec::<String>::new());
    assert_eq!(state.waiting(), 0);

    let (hall, show) = (following.kind("Hall"), following.kind("Show"));
    let wanted = [
        (show, Update::Apply),
        (hall, Update::Apply),
        (show, Update::Reevaluate),
        (show, Update::Reevaluate),
        (hall, Update::Apply),
        (show, Update::Reevaluate),
        (hall, Update::Delete),
        (show, Update::Reevaluate),
        (show, Update::Delete),
    ];
    assert_eq!(*following.told.updates.lock().unwrap(), wanted);
}

#[test]
fn a_change_goes_on_as_far_as_it_matters() {
    let following = following(&theatre(LOOKING));
    let state = &following.state;
    let visitor = object("Visitor", "a", "v", &json!({"ticket": "t"}));
    let ticket = object("Ticket", "a", "t", &json!({"spec": {"show": "s"}}));
    state.apply(&visitor);
    assert_eq!(state.apply(&ticket), Applied::Ignored);
    assert_eq!(following.edges("Show"), ["Visitor:a/v"]);
    state.apply(&show("h"));
    let all = following.edges("Show");
    assert!(
        all.contains(&"Visitor:a/v: Visitor:a/v -> Ticket:a/t".to_owned()),
        "{all:?}"
    );
    assert!(
        all.contains(&"Ticket:a/t: Ticket:a/t -> Show:a/s".to_owned()),
        "{all:?}"
    );
    // The show stops matching: it is as if it were deleted, and so is the ticket.
    assert_eq!(state.apply(&show("")), Applied::Ignored);
    assert_eq!(following.edges("Show"), ["Visitor:a/v"]);
    assert_eq!(following.find("Show", "a", "s"), None);
    assert_eq!(following.find("Ticket", "a", "t"), None);
    state.apply(&show("h"));
    assert_eq!(following.edges("Show"), all);
    following.delete("Ticket", "a", "t");
    following.delete("Show", "a", "s");
    state.apply(&show("h"));
    assert_eq!(following.find("Ticket", "a", "t"), None);
}

#[test]
fn only_what_is_wanted_is_kept() {
    let following = following(&theatre(LOOKING));
    let state = &following.state;
    state.apply(&hall("h", SOON));
    let metadata = json!({"name": "h", "namespace": ""});
    assert_eq!(
        following.find("Hall", "any", "h"),
        Some(json!({"metadata": metadata, "spec": {"company": "c"}, "status": {"until": SOON}}))
    );
    state.apply(&object("Visitor", "a", "v", &json!({"ticket": "t"})));
    assert_eq!(
        following.find("Visitor", "a", "v"),
        Some(json!({"metadata": {"name": "v", "namespace": "a"}}))
    );
    assert_eq!(following.find("Visitor", "b", "v"), None);
    let unwatched = Vertex {
        kind: "Seat".to_owned(),
        namespace: "a".to_owned(),
        name: "1".to_owned(),
    };
    assert!(matches!(state.find(&unwatched), LookupResult::Unread));
    let vertex = |kind: &str, namespace: &'static str, name: &'static str| VertexRef {
        kind: following.kind(kind),
        namespace,
        name,
    };
    assert!(state.has_object(vertex("Hall", "", "h")));
    assert!(!state.has_object(vertex("Company", "", "c")));
    assert!(!state.has_object(vertex("Show", "a", "s")));
    // Of what must be looked at again, only what is looked at is remembered.
    state.apply(&show("h"));
    let key = Key::new("a", "s");
    let table = &state.tables[following.source("Show").0];
    let read = table.read(&key, |entry| {
        entry
            .reevaluation
            .as_ref()
            .map(|again| again.object.clone())
    });
    let read: Value = serde_json::from_str(&read.flatten().unwrap()).unwrap();
    assert_eq!(
        read,
        json!({"metadata": {"name": "s", "namespace": "a"}, "spec": {"hall": "h", "emergency": "e"}})
    );
    let visitor = &state.tables[following.source("Hall").0];
    assert_eq!(
        visitor.read(&Key::new("", "h"), |entry| entry.reevaluation.is_some()),
        Some(false)
    );
}

#[test]
fn sources_are_found_by_group_and_kind() {
    let following = following(&theatre(LOOKING));
    let state = &following.state;
    let hall = following.source("Hall");
    assert_eq!(state.source_of("theatre.example/v2", "Hall"), Some(hall));
    assert_eq!(
        state.source_of("theatre.example/v1alpha7", "Hall"),
        Some(hall)
    );
    assert_eq!(state.source_of("v1", "Hall"), None);
    assert_eq!(state.source_of("other.example/v2", "Hall"), None);
    assert_eq!(state.source_of("v1", "Seat"), None);
    assert_eq!(state.source_of("", ""), None);
    assert!(!state.is_caught_up());
    state.set_caught_up();
    assert!(state.is_caught_up());
}

#[test]
fn a_new_list_takes_the_place_of_the_old() {
    let following = following(&theatre(LOOKING));
    let state = &following.state;
    let source = following.source("Hall");
    for number in 0..1_000 {
        state.apply(&hall(&format!("h{number}"), SOON));
    }
    state.apply(&show("h7"));
    let before = following.edges("Hall");
    let mut list = state.relist(source);
    for number in (0..1_000).filter(|n| n % 2 == 0) {
        list.apply(&hall(&format!("h{number}"), SOON));
    }
    // Until it is complete, answers go on from what is known.
    assert_eq!(following.edges("Hall"), before);
    // Others go on in the meantime.
    state.apply(&hall("h1", SOON));
    state.apply(&hall("new", SOON));
    following.delete("Hall", "", "h2");
    list.finish();
    let is_there = |name: &str| following.find("Hall", "", name).is_some();
    assert!(is_there("h0") && is_there("h1") && is_there("new"));
    assert!(!is_there("h2") && !is_there("h3") && !is_there("h7"));
    assert_eq!(
        state.graphs()[0]
            .list(Some(following.kind("Hall")), None, None, usize::MAX)
            .len(),
        500 + 1 + 1 - 1 + 1
    );
    assert!(
        following
            .edges("Hall")
            .contains(&"Show:a/s: Seat:a/e -> Show:a/s".to_owned())
    );
    // One that is never finished takes nothing away.
    let _unfinished = state.relist(source);
    assert!(is_there("h0"));
    state.relist(source).finish();
    assert_eq!(following.edges("Hall").len(), 3);
}

#[test]
fn what_came_back_during_a_list_stays() {
    let following = following(&theatre(LOOKING));
    let state = &following.state;
    let source = following.source("Hall");
    state.apply(&hall("h", SOON));
    let list = state.relist(source);
    let number = list.list;
    let table = &state.tables[source.0];
    let (older, _) = table.older(number, None);
    assert_eq!(older, [Key::new("", "h")]);
    // Found to be old, then applied again before it is removed.
    state.apply(&hall("h", SOON));
    state.remove(&(source, older[0].clone()), Some(number));
    assert!(following.find("Hall", "", "h").is_some());
    list.finish();
    assert!(following.find("Hall", "", "h").is_some());
}

#[test]
fn many_may_feed_at_once() {
    let profile = theatre(LOOKING);
    let name = |letter: &str, n: usize| format!("{letter}{n}");
    let halls: Vec<Value> = (0..20).map(|n| hall(&name("h", n), SOON)).collect();
    let shows: Vec<Value> = (0..200)
        .map(|n| {
            let spec = json!({"hall": name("h", n % 30), "emergency": "e"});
            object("Show", "a", &name("s", n), &json!({"spec": spec}))
        })
        .collect();
    let tickets: Vec<Value> = (0..200)
        .map(|n| {
            let spec = json!({"show": name("s", n + 50)});
            object("Ticket", "a", &name("t", n), &json!({"spec": spec}))
        })
        .collect();
    let visitors: Vec<Value> = (0..200)
        .map(|n| {
            object(
                "Visitor",
                "a",
                &name("v", n),
                &json!({"ticket": name("t", n)}),
            )
        })
        .collect();
    let at_once = following(&profile);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for round in 0..10 {
                for (number, hall) in halls.iter().enumerate() {
                    at_once.state.apply(hall);
                    if round < 9 && number % 3 == 0 {
                        at_once.delete("Hall", "", &name("h", number));
                    }
                }
            }
        });
        threads.spawn(|| {
            for round in 0..3 {
                let mut list = at_once.state.relist(at_once.source("Show"));
                for show in shows.iter().skip(if round == 1 { 100 } else { 0 }) {
                    list.apply(show);
                }
                list.finish();
            }
        });
        let state = &at_once.state;
        for objects in [&tickets, &visitors] {
            threads.spawn(move || {
                for _ in 0..3 {
                    for object in objects {
                        state.apply(object);
                    }
                }
            });
        }
        threads.spawn(|| {
            for _ in 0..100 {
                at_once.state.tick();
                at_once.find("Show", "a", "s1");
            }
        });
    });
    // The last thread may have left work to another one that was just ending.
    at_once.state.tick();
    let one_by_one = following(&profile);
    for object in visitors.iter().chain(&tickets).chain(&shows).chain(&halls) {
        one_by_one.state.apply(object);
    }
    for target in ["Hall", "Show"] {
        assert_eq!(at_once.edges(target), one_by_one.edges(target));
    }
    assert_eq!(at_once.state.waiting(), 0);
}
