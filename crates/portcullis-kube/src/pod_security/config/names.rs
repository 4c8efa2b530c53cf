//! What is wrong with a name, in Kubernetes' words; nothing when it is fine.

const LABEL_RULE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_RULE: &str = r"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// For namespaces: a DNS label.
pub(super) fn label_fault(name: &str) -> Option<String> {
    let shape = if is_label(name) {
        None
    } else if is_subdomain(name) {
        Some("must not contain dots")
    } else {
        Some(LABEL_RULE)
    };
    joined(too_long(name, 63), shape)
}

/// For runtime classes: a DNS subdomain.
pub(super) fn subdomain_fault(name: &str) -> Option<String> {
    let shape = (!is_subdomain(name)).then_some(SUBDOMAIN_RULE);
    joined(too_long(name, 253), shape)
}

/// For users: anything but nothing.
pub(super) fn username_fault(name: &str) -> Option<String> {
    name.is_empty()
        .then(|| "username must not be empty".to_owned())
}

fn too_long(name: &str, limit: usize) -> Option<String> {
    (name.len() > limit).then(|| format!("must be no more than {limit} characters"))
}

fn joined(length: Option<String>, shape: Option<&str>) -> Option<String> {
    match (length, shape) {
        (Some(length), Some(shape)) => Some(format!("{length}, {shape}")),
        (length, shape) => length.or_else(|| shape.map(ToOwned::to_owned)),
    }
}

fn is_subdomain(name: &str) -> bool {
    name.split('.').all(is_label)
}

fn is_label(part: &str) -> bool {
    let is_alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    part.bytes()
        .all(|byte| is_alphanumeric(byte) || byte == b'-')
        && part.bytes().next().is_some_and(is_alphanumeric)
        && part.bytes().next_back().is_some_and(is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::{label_fault, subdomain_fault};

    #[test]
    fn labels_have_no_dots_and_at_most_63_characters() {
        for good in ["a", "kube-system", "0a", &"x".repeat(63)] {
            assert_eq!(label_fault(good), None);
        }
        assert_eq!(label_fault("a.b").as_deref(), Some("must not contain dots"));
        assert_eq!(
            label_fault(&"x".repeat(64)).as_deref(),
            Some("must be no more than 63 characters")
        );
        for bad in ["", "-a", "a-", "A", "a_b", "a b", "ä"] {
            let fault = label_fault(bad).expect(bad);
            assert!(fault.starts_with("a lowercase RFC 1123 label"), "{bad}");
        }
    }

    #[test]
    fn subdomains_are_labels_with_dots_between() {
        for good in ["a", "a.b-c.d0", &"x".repeat(253)] {
            assert_eq!(subdomain_fault(good), None);
        }
        for bad in ["", ".", "a..b", "a.", "a.-b", "A"] {
            assert!(subdomain_fault(bad).is_some(), "{bad}");
        }
        let both = subdomain_fault(&"X".repeat(254)).expect("a fault");
        assert!(both.starts_with("must be no more than 253 characters, a lowercase"));
    }
}
