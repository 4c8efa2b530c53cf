//! Which masked places plug-ins and authorizers could read.
//!
//! Policies are watched while they run. Built-in plug-ins are not: what they could read is known from
//! where it is. They never read environment values, commands, headers of probes, what `kubectl` keeps of
//! the last change, the data of secrets, what else is known of a user, or options; and of objects only
//! pods, what holds a pod template, services and namespaces.

use portcullis_core::{Attributes, Kind};
use portcullis_kube::Workload;

use super::MASK;

const OBJECTS: [&str; 2] = ["/review/request/object/", "/review/request/oldObject/"];

/// Places that no built-in plug-in reads, wherever they are below.
const UNREAD: [&str; 4] = [
    "/http/",
    "/review/request/options/",
    "/review/request/userInfo/extra/",
    "/review/spec/extra/",
];

/// Whether an object is masked as a whole.
pub(super) fn is_whole(masked: &[String]) -> bool {
    let is_object = |place: &&String| OBJECTS.iter().any(|o| o.strip_suffix('/') == Some(place));
    masked.iter().any(|place| is_object(&place))
}

/// The first masked place that a built-in plug-in could read in such a request.
pub(super) fn for_plugins<'a>(masked: &'a [String], request: &Attributes) -> Option<&'a str> {
    let kinds = [Some(&request.kind), request.context.request_kind.as_ref()];
    let resource = &request.resource;
    let is_read = kinds.into_iter().flatten().any(is_looked_at)
        || Workload::from_resource(&resource.group, &resource.resource).is_some();
    let harmless = |place: &&String| {
        if UNREAD.iter().any(|unread| place.starts_with(unread)) {
            return true;
        }
        let object = OBJECTS.iter().find_map(|object| place.strip_prefix(object));
        match object {
            Some(inside) => !is_read || is_passed_over(inside),
            None => false,
        }
    };
    let mut places = masked.iter();
    places.find(|place| !harmless(place)).map(String::as_str)
}

/// What policies say of the requests they are for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matching {
    /// Some are for labels.
    pub(super) labels: bool,
    /// Some are for paths.
    pub(super) paths: bool,
}

/// The first masked place that decides which policies are asked.
pub(super) fn for_matching<'a>(
    matching: Matching,
    masked: &'a [String],
    request: &Attributes,
) -> Option<&'a str> {
    let path = request.context.uri.split('?').next().unwrap_or_default();
    if matching.paths && path.contains(MASK) {
        return Some("/http/uri");
    }
    if !matching.labels {
        return None;
    }
    let is_label = |place: &&String| {
        let inside = OBJECTS.iter().find_map(|object| place.strip_prefix(object));
        inside.is_some_and(|inside| {
            ["metadata", "metadata/labels"].contains(&inside)
                || inside.starts_with("metadata/labels/")
        })
    };
    masked.iter().find(is_label).map(String::as_str)
}

/// Whether a built-in plug-in looks into objects of this kind.
fn is_looked_at(kind: &Kind) -> bool {
    Workload::from_kind(&kind.group, &kind.kind).is_some()
        || (kind.group.is_empty()
            && ["Service", "Namespace", "Event"].contains(&kind.kind.as_str()))
}

/// `.../env/3/value`, `.../args/0` and the like.
fn is_passed_over(inside: &str) -> bool {
    const LAST_APPLIED: &str = "annotations/kubectl.kubernetes.io~1last-applied-configuration";
    if inside.ends_with(LAST_APPLIED) {
        return true;
    }
    let mut parts = inside.rsplit('/');
    let is_number = |part: Option<&str>| part.is_some_and(|n| n.parse::<usize>().is_ok());
    match parts.next() {
        Some("value") => {
            is_number(parts.next()) && matches!(parts.next(), Some("env" | "httpHeaders"))
        }
        last => is_number(last) && matches!(parts.next(), Some("args" | "command")),
    }
}

#[cfg(test)]
mod tests {
    use portcullis_core::{DoorContext, clock};
    use portcullis_kube::review;

    use super::*;

    fn request(group: &str, kind: &str) -> Attributes {
        let text = format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u",
            "kind":{{"group":"{group}","version":"v1","kind":"{kind}"}},
            "resource":{{"group":"{group}","version":"v1","resource":"x"}},"operation":"CREATE","object":{{}}}}}}"#
        );
        let context = DoorContext::default();
        let review =
            review::decode_admission(text.as_bytes(), context, clock::monotonic(), None).unwrap();
        review.attributes
    }

    #[test]
    fn only_what_a_plug_in_could_read_counts() {
        let pod = request("", "Pod");
        let found =
            |place: &str, request: &Attributes| for_plugins(&[place.to_owned()], request).is_some();
        assert!(!found(
            "/review/request/object/spec/containers/0/env/3/value",
            &pod
        ));
        assert!(!found("/review/request/userInfo/extra/t/0", &pod));
        assert!(!found("/http/headers/1/1", &pod));
        assert!(!found(
            "/review/request/object/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration",
            &pod
        ));
        assert!(!found(
            "/review/request/object/spec/containers/0/livenessProbe/httpGet/httpHeaders/0/value",
            &pod
        ));
        assert!(!found(
            "/review/request/object/spec/containers/0/args/1",
            &pod
        ));
        for place in [
            "/review/request/object/spec/containers/0/image",
            "/review/request/oldObject/spec/env/value",
            "/review/request/object/metadata/annotations/a",
            "/review/request/userInfo/username",
            "/review/request/object",
        ] {
            assert!(found(place, &pod), "{place}");
        }
        assert!(!found(
            "/review/request/object/data/x",
            &request("", "Secret")
        ));
        assert!(!found(
            "/review/request/object/spec/x",
            &request("db.example", "User")
        ));
        assert!(found(
            "/review/request/object/spec/x",
            &request("apps", "Deployment")
        ));
    }

    #[test]
    fn a_whole_object_is_known_by_its_place() {
        let is = |place: &str| is_whole(&[place.to_owned()]);
        assert!(is("/review/request/object") && is("/review/request/oldObject"));
        assert!(!is("/review/request/object/spec") && !is("/review/request/options"));
    }

    #[test]
    fn labels_and_paths_decide_who_is_asked() {
        let mut pod = request("", "Pod");
        let both = |labels, paths| Matching { labels, paths };
        let found = |matching, text: &str, pod: &Attributes| {
            for_matching(matching, &[text.to_owned()], pod).is_some()
        };
        let label = "/review/request/object/metadata/labels/a";
        assert!(found(both(true, false), label, &pod));
        assert!(!found(both(false, true), label, &pod));
        let name = "/review/request/object/metadata/name";
        assert!(!found(both(true, true), name, &pod));
        pod.context = std::sync::Arc::new(DoorContext {
            uri: "/mutate/(masked)?x=1".to_owned(),
            ..DoorContext::default()
        });
        assert!(found(both(false, true), name, &pod));
        assert!(!found(both(true, false), name, &pod));
    }
}
