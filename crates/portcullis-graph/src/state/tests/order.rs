//! Whatever the order of events, the final state is the same.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const PROFILE: &str = "
- {kind: Hall, only: \"self.spec.open\", keep: [spec.company, spec.until], edges: [{from: Company, names: self.spec.company}]}
- kind: Show
  keep: [spec.hall]
  only: \"self.spec.hall == 'h0' || exists('Hall', '', self.spec.hall)\"
  edges:
    - {to: Hall, names: self.spec.hall}
    - {from: Company, names: \"lookup('Hall', '', self.spec.hall).spec.company\", targets: [Hall]}
    - {from: Seat, when: \"expired(lookup('Hall', '', self.spec.hall).spec.until)\", names: self.spec.seats}
- kind: Ticket
  keep: [spec.show]
  edges:
    - {to: Show, names: self.spec.show}
    - {from: Seat, names: self.spec.seat, of: {kind: Hall, name: \"lookup('Show', self.metadata.namespace, self.spec.show).spec.hall\"}, targets: [Hall]}
- kind: Visitor
  targets: [Hall]
  only: \"!exists('Ticket', self.metadata.namespace, self.spec.other)\"
  edges:
    - {to: Ticket, names: [self.spec.ticket, self.spec.other]}
    - {to: Show, names: \"[lookup('Ticket', self.metadata.namespace, self.spec.ticket).spec.show]\"}
    - {from: Seat, names: self.spec.odd}
";

type Name = (String, String, String);

fn any_object() -> impl Strategy<Value = Value> {
    let pick = |letter: char| (0..3_u8).prop_map(move |n| format!("{letter}{n}"));
    let namespace = prop::sample::select(vec!["a", "b"]);
    prop_oneof![
        (
            pick('h'),
            any::<bool>(),
            pick('c'),
            prop::sample::select(vec![500, 2_000])
        )
            .prop_map(|(name, open, company, until)| {
                let until = format!("1970-01-01T00:{:02}:{:02}Z", until / 60, until % 60);
                let spec = json!({"open": open, "company": company, "until": until});
                object("Hall", "", &name, &json!({"spec": spec}))
            }),
        (
            namespace.clone(),
            pick('s'),
            pick('h'),
            prop::collection::vec(pick('p'), 0..3)
        )
            .prop_map(|(namespace, name, hall, seats)| {
                let spec = json!({"hall": hall, "seats": seats});
                object("Show", namespace, &name, &json!({"spec": spec}))
            }),
        (namespace.clone(), pick('t'), pick('s'), pick('p')).prop_map(
            |(namespace, name, show, seat)| {
                let spec = json!({"show": show, "seat": seat});
                object("Ticket", namespace, &name, &json!({"spec": spec}))
            }
        ),
        (namespace, pick('v'), pick('t'), pick('t'), any::<bool>()).prop_map(
            |(namespace, name, ticket, other, odd)| {
                let odd = if odd { json!(7) } else { json!("p9") };
                let spec = json!({"ticket": ticket, "other": other, "odd": odd});
                object("Visitor", namespace, &name, &json!({"spec": spec}))
            }
        ),
    ]
}

#[derive(Debug, Clone)]
enum Event {
    Apply(Value),
    Delete(usize),
    /// A list of one kind that leaves out what the number says.
    Relist(&'static str, u32),
}

fn event() -> impl Strategy<Value = Event> {
    let kind = prop::sample::select(vec!["Hall", "Show", "Ticket", "Visitor"]);
    prop_oneof![
        6 => any_object().prop_map(Event::Apply),
        2 => any::<usize>().prop_map(Event::Delete),
        1 => (kind, any::<u32>()).prop_map(|(kind, without)| Event::Relist(kind, without)),
    ]
}

fn name_of(object: &Value) -> Name {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = &object["metadata"];
    (
        text(&object["kind"]),
        text(&metadata["namespace"]),
        text(&metadata["name"]),
    )
}

/// Everything that can be asked.
fn picture(following: &Following) -> Vec<String> {
    let mut all = following.edges("Hall");
    all.extend(following.edges("Show"));
    for kind in ["Hall", "Show", "Ticket", "Visitor"] {
        for namespace in ["a", "b"] {
            for letter in ["h", "s", "t", "v"] {
                for number in 0..3 {
                    let name = format!("{letter}{number}");
                    if let Some(found) = following.find(kind, namespace, &name) {
                        all.push(format!("{kind} {namespace} {name}: {found}"));
                    }
                }
            }
        }
    }
    for graph in following.state.graphs() {
        let target = graph.shape().target;
        let targets = graph.list(Some(target), None, None, usize::MAX);
        for from in graph.list(None, None, None, usize::MAX) {
            for to in &targets {
                let vertex = |v: &(KindId, String, String)| (v.0, v.1.clone(), v.2.clone());
                let (a, b) = (vertex(&from), vertex(to));
                let reach = graph.leads(
                    VertexRef {
                        kind: a.0,
                        namespace: &a.1,
                        name: &a.2,
                    },
                    VertexRef {
                        kind: b.0,
                        namespace: &b.1,
                        name: &b.2,
                    },
                );
                all.push(format!("{a:?} {b:?} {reach:?}"));
            }
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_sequence_ends_as_its_last_objects_alone(
        events in prop::collection::vec(event(), 1..40),
        order in any::<u64>(),
        ticks in any::<bool>(),
    ) {
        let profile = theatre(PROFILE);
        let long = following(&profile);
        let mut objects: BTreeMap<Name, Value> = BTreeMap::new();
        for event in events {
            match event {
                Event::Apply(object) => {
                    long.state.apply(&object);
                    objects.insert(name_of(&object), object);
                }
                Event::Delete(number) => {
                    if let Some(name) = objects.keys().nth(number % objects.len().max(1)).cloned() {
                        objects.remove(&name);
                        long.delete(&name.0, &name.1, &name.2);
                    }
                }
                Event::Relist(kind, without) => {
                    let mut list = long.state.relist(long.source(kind));
                    let mut number = 0;
                    objects.retain(|name, object| {
                        if name.0 != kind {
                            return true;
                        }
                        number += 1;
                        let stays = without >> (number % 32) & 1 == 0;
                        if stays {
                            list.apply(object);
                        }
                        stays
                    });
                    list.finish();
                }
            }
        }
        let mut last: Vec<Value> = objects.into_values().collect();
        // Any other order.
        let mut seed = order;
        for place in (1..last.len()).rev() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            last.swap(place, usize::try_from(seed >> 33).unwrap() % (place + 1));
        }
        let short = following(&profile);
        if ticks {
            // One learns of the time before, the other after it has its objects.
            short.clock.store(3_000, Ordering::SeqCst);
            long.clock.store(3_000, Ordering::SeqCst);
            prop_assert_eq!(long.state.tick(), None);
        }
        for object in &last {
            short.state.apply(object);
        }
        prop_assert_eq!(short.state.waiting(), 0);
        prop_assert_eq!(long.state.waiting(), 0);
        prop_assert_eq!(picture(&long), picture(&short));
        prop_assert_eq!(long.state.tick(), short.state.tick());
    }
}
