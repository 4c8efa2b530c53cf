//! Laws that hold for all pods and LimitRanges.

use proptest::prelude::*;

use super::*;

prop_compose! {
    fn amounts()(cpu in prop::option::of(0..4000u32), memory in prop::option::of(0..4000u32)) -> Value {
        let mut amounts = json!({});
        for (name, amount, unit) in [("cpu", cpu, "m"), ("memory", memory, "Mi")] {
            if let Some(amount) = amount {
                amounts[name] = json!(format!("{amount}{unit}"));
            }
        }
        amounts
    }
}

prop_compose! {
    fn resources()(limits in amounts(), requests in amounts()) -> Value {
        json!({"name": "x", "resources": {"limits": limits, "requests": requests}})
    }
}

prop_compose! {
    fn limit()(
        kind in prop::sample::select(vec!["Container", "Pod"]),
        min in amounts(), max in amounts(), default in amounts(), request in amounts(),
    ) -> Value {
        json!({"type": kind, "min": min, "max": max, "default": default, "defaultRequest": request})
    }
}

proptest! {
    #[test]
    fn defaults_are_set_once_and_change_nothing_else(
        limits in prop::collection::vec(limit(), 0..4),
        containers in prop::collection::vec(resources(), 0..3),
        init in prop::collection::vec(resources(), 0..3),
    ) {
        let limits: Vec<Value> = limits.into_iter().map(|limit| json!([limit])).collect();
        let plugin = limited(&limits);
        let before = json!({"containers": containers, "initContainers": init});
        let mut request = create_spec(before.clone());
        prop_assert_eq!(admit(&plugin, &mut request), Outcome::Pass);
        let after = object_of(&request).clone();
        for list in ["containers", "initContainers"] {
            for (n, container) in before[list].as_array().unwrap().iter().enumerate() {
                for key in ["limits", "requests"] {
                    for (name, amount) in container["resources"][key].as_object().unwrap() {
                        prop_assert_eq!(&after["spec"][list][n]["resources"][key][name], amount);
                    }
                }
            }
        }
        let verdict = validate(&plugin, &request);
        let mut again = create_pod(after.clone());
        prop_assert_eq!(admit(&plugin, &mut again), Outcome::Pass);
        prop_assert_eq!(object_of(&again), &after);
        prop_assert_eq!(validate(&plugin, &again), verdict);
    }

    #[test]
    fn a_larger_maximum_objects_to_nothing_more(max in 1..4000u32, more in 0..4000u32, asked in resources()) {
        let with = |max: u32| container(json!({"max": {"cpu": format!("{max}m")}}));
        let request = create_spec(json!({"containers": [asked]}));
        if objection(&with(max), &request).is_none() {
            prop_assert_eq!(objection(&with(max + more), &request), None);
        }
    }
}
