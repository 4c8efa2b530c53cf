//! Paths with placeholders: `/api/tenant/{tenant}/status`.
//!
//! `{project}` may span several segments, since projects have slashes, plain or percent-encoded. Paths
//! are taken apart before they are decoded, so that an encoded slash never ends a segment.

use percent_encoding::percent_decode_str;

/// What stood where a path has names, decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PathValues {
    values: Vec<(&'static str, String)>,
}

impl PathValues {
    /// The value of a name; the empty text if the path has none.
    pub(crate) fn get(&self, name: &str) -> &str {
        let found = self.values.iter().find(|(own, _)| *own == name);
        found.map_or("", |(_, value)| value)
    }
}

/// The name in a segment like `{tenant}`.
pub(crate) fn name_in(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

/// Whether a path fits a template, and what its names stand for.
pub(crate) fn fit(template: &'static str, path: &str) -> Option<PathValues> {
    // Most don't: that is seen without taking anything apart.
    let literal = template.split('{').next().unwrap_or_default();
    if !path.starts_with(literal) {
        return None;
    }
    let wanted: Vec<&'static str> = template.split('/').collect();
    let given: Vec<&str> = path.split('/').collect();
    let more = given.len().checked_sub(wanted.len())?;
    let mut rest = given.as_slice();
    let mut values = Vec::new();
    for segment in wanted {
        let spans = match name_in(segment) {
            Some("project") => 1 + more,
            _ => 1,
        };
        let (these, others) = rest.split_at_checked(spans)?;
        rest = others;
        match name_in(segment) {
            None if these == [segment] => {}
            None => return None,
            Some(name) => values.push((name, decoded(these)?)),
        }
    }
    rest.is_empty().then_some(PathValues { values })
}

/// The decoded segments; none if they can't be decoded.
fn decoded(segments: &[&str]) -> Option<String> {
    let mut text = String::new();
    for (index, segment) in segments.iter().enumerate() {
        if segment.is_empty() {
            return None;
        }
        if index > 0 {
            text.push('/');
        }
        text.push_str(&percent_decode_str(segment).decode_utf8().ok()?);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOLD: &str = "/api/tenant/{tenant}/project/{project}/autohold";

    #[test]
    fn a_project_may_span_segments_plain_or_encoded() {
        for (path, tenant, project) in [
            ("/api/tenant/t1/project/foo/autohold", "t1", "foo"),
            ("/api/tenant/t1/project/org/p/autohold", "t1", "org/p"),
            ("/api/tenant/t1/project/org%2Fp/autohold", "t1", "org/p"),
            (
                "/api/tenant/t%201/project/a/autohold/autohold",
                "t 1",
                "a/autohold",
            ),
            (
                "/api/tenant/t1/project/project/x/autohold",
                "t1",
                "project/x",
            ),
            ("/api/tenant/t1/project/f%25oo/autohold", "t1", "f%oo"),
        ] {
            let values = fit(HOLD, path).unwrap();
            assert_eq!(
                (values.get("tenant"), values.get("project")),
                (tenant, project)
            );
        }
    }

    #[test]
    fn what_does_not_fit_is_nothing() {
        for path in [
            "/api/tenant/t1/project/autohold",
            "/api/tenant/t1/project//autohold",
            "/api/tenant//project/foo/autohold",
            "/api/tenant/t1/project/foo/enqueue",
            "/api/tenant/t1/project/foo/autohold/",
            "/api/tenant/t1/project/%ff/autohold",
            "/api/tenant/a/b/project/foo/autohold",
            "",
        ] {
            assert_eq!(fit(HOLD, path), None, "{path}");
        }
        assert!(fit("/api/info", "/api/info").is_some());
        assert_eq!(fit("/api/info", "/api/info/x"), None);
        assert_eq!(
            fit("/api/tenant/{tenant}/status", "/api/tenant/a/b/status"),
            None
        );
    }
}
