//! Parts of an object: what is kept of it.

use serde_json::{Map, Value};

use crate::expression::path::{Path, Step};

/// The object with nothing but what is at these paths. Where a path can't be followed further, what is
/// there stays, so that expressions over the rest say the same as over the whole.
pub(super) fn project(object: &Value, paths: &[Path]) -> Value {
    let paths: Vec<&[Step]> = paths.iter().map(|path| path.0.as_slice()).collect();
    part(object, &paths)
}

fn part(value: &Value, paths: &[&[Step]]) -> Value {
    match value {
        Value::Object(members) => {
            let mut kept = Map::new();
            for (name, member) in members {
                if let Some(member) = below(member, paths, |step| step.fits(name)) {
                    kept.insert(name.clone(), member);
                }
            }
            Value::Object(kept)
        }
        Value::Array(entries) => {
            let entries = entries.iter().enumerate();
            let kept = entries
                .filter_map(|(index, entry)| below(entry, paths, |step| step.fits_index(index)));
            Value::Array(kept.collect())
        }
        scalar => scalar.clone(),
    }
}

fn below(value: &Value, paths: &[&[Step]], fits: impl Fn(&Step) -> bool) -> Option<Value> {
    let mut further = Vec::new();
    for path in paths {
        match path {
            [step] if fits(step) => return Some(value.clone()),
            [step, rest @ ..] if fits(step) => further.push(rest),
            _ => {}
        }
    }
    (!further.is_empty()).then(|| part(value, &further))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_at_the_paths_stays() {
        let object = json!({
            "metadata": {"name": "x", "labels": {"a": "1", "b": "2"}},
            "spec": {"list": [{"name": "y", "more": 1}, {"more": 2}], "odd": "text", "no": null},
            "status": [1, 2],
        });
        let kept = |paths: &[&str]| {
            let paths: Vec<_> = paths.iter().map(|p| Path::parse(p).unwrap()).collect();
            project(&object, &paths)
        };
        assert_eq!(kept(&[]), json!({}));
        assert_eq!(
            kept(&["metadata.labels.b", "metadata.nothing"]),
            json!({"metadata": {"labels": {"b": "2"}}})
        );
        assert_eq!(
            kept(&["spec.list[*].name"]),
            json!({"spec": {"list": [{"name": "y"}, {}]}})
        );
        assert_eq!(
            kept(&["spec.odd.deeper", "spec.no.deeper", "status.deeper"]),
            json!({"spec": {"odd": "text", "no": null}, "status": []})
        );
        assert_eq!(kept(&["spec.odd", "spec"])["spec"], object["spec"]);
    }
}
