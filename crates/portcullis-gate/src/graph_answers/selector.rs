//! Selectors as people write them: `a=b,c!=d,e in (f, g),!h`.

use portcullis_core::access::Requirement;
use portcullis_kube::selector::{parse_fields, parse_labels};

/// The requirements of a label selector.
pub(super) fn labels(text: &str) -> Result<Vec<Requirement>, String> {
    some(parse_labels(text)).ok_or_else(|| {
        format!(
            "invalid label selector `{text}`: expected KEY=VALUE, KEY!=VALUE, KEY in (A, B), KEY notin (A, B), \
             KEY or !KEY, with commas between"
        )
    })
}

/// The requirements of a field selector, which knows `=`, `==` and `!=` only.
pub(super) fn fields(text: &str) -> Result<Vec<Requirement>, String> {
    some(parse_fields(text)).ok_or_else(|| {
        format!(
            "invalid field selector `{text}`: expected FIELD=VALUE or FIELD!=VALUE, with commas between"
        )
    })
}

/// A selector that selects nothing is more likely a mistake.
fn some(requirements: Option<Vec<Requirement>>) -> Option<Vec<Requirement>> {
    requirements.filter(|requirements| !requirements.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(requirements: &[Requirement]) -> Vec<String> {
        let one = |r: &Requirement| format!("{} {} {}", r.key, r.operator, r.values.join("|"));
        requirements.iter().map(one).collect()
    }

    #[test]
    fn labels_are_selected_in_every_way() {
        let all = labels("a=b,c==d, e != f ,g in (h, i),j notin (k),l,!m,n=").unwrap();
        assert_eq!(
            said(&all),
            [
                "a In b",
                "c In d",
                "e NotIn f",
                "g In h|i",
                "j NotIn k",
                "l Exists ",
                "m DoesNotExist ",
                "n In ",
            ]
        );
    }

    #[test]
    fn fields_are_compared_only() {
        let all = fields("spec.nodeName=n1,metadata.name!=x").unwrap();
        assert_eq!(said(&all), ["spec.nodeName In n1", "metadata.name NotIn x"]);
        for wrong in ["", "spec.nodeName", "a in (b)", "!a", "a=b=c"] {
            assert!(fields(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_no_selector_is_refused() {
        for wrong in [
            "", ",", "a=b,,c=d", "a=b,", "=b", "a b", "a in b)", "a in (b", "a on (b)", "a=b=c",
            "!",
        ] {
            assert!(labels(wrong).is_err(), "{wrong}");
        }
    }
}
