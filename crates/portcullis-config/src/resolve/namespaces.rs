//! Checks of `namespaces`.

use std::collections::HashSet;

use portcullis_document::Document;
use portcullis_kube::Namespace;

use crate::notes::Notes;

/// Checks that each is named once.
pub(crate) fn check_namespaces(document: &Document, namespaces: &[Namespace], notes: &mut Notes) {
    let mut seen = HashSet::new();
    for (index, namespace) in namespaces.iter().enumerate() {
        let at = format!("namespaces[{index}].name");
        if namespace.name.is_empty() {
            notes.fault(document.fault(&at, "the name is empty"));
        } else if !seen.insert(namespace.name.as_str()) {
            notes.fault(document.fault(
                &at,
                format!("the namespace `{}` is given twice", namespace.name),
            ));
        }
    }
}
