//! Reads single members of a review out of scanned text, with faults that say where.

use portcullis_core::json::{JsonFault, Scanned};
use serde::de::DeserializeOwned;

/// Reads the text of the member `key` of `parent`; `null` is the same as absent.
pub(super) fn read<T: DeserializeOwned + Default>(
    scanned: &Scanned<'_>,
    parent: &str,
    key: &str,
    text: &str,
) -> Result<T, JsonFault> {
    match serde_json::from_str::<Option<T>>(text) {
        Ok(value) => Ok(value.unwrap_or_default()),
        Err(e) => {
            let dot = if parent.is_empty() { "" } else { "." };
            let message = format!("{parent}{dot}{key}: {}", without_position(&e));
            Err(scanned.fault_at(text, &message))
        }
    }
}

/// The review's version, if it is of this kind and group and the version is known.
pub(super) fn version(scanned: &Scanned<'_>, kind: &str, group: &str) -> Result<String, JsonFault> {
    if !scanned.is_object() {
        return Err(scanned.fault(&format!("expected an object of kind {kind}")));
    }
    let text = |key: &str| -> Result<String, JsonFault> {
        match scanned.member(key) {
            Some(text) => read(scanned, "", key, text),
            None => Ok(String::new()),
        }
    };
    let (found_kind, found) = (text("kind")?, text("apiVersion")?);
    let known = found.strip_prefix(group).and_then(|v| v.strip_prefix('/'));
    if found_kind != kind || !matches!(known, Some("v1" | "v1beta1")) {
        let wanted = format!("expected kind {kind} of apiVersion {group}/v1 or {group}/v1beta1");
        return Err(scanned.fault(&wanted));
    }
    Ok(found)
}

/// The member's text, which must be an object.
pub(super) fn object<'a>(scanned: &Scanned<'a>, key: &str) -> Result<&'a str, JsonFault> {
    match scanned.member(key) {
        Some(text) if text.starts_with('{') => Ok(text),
        Some(text) => Err(scanned.fault_at(text, &format!("{key}: expected an object"))),
        None => Err(scanned.fault(&format!("{key} is missing"))),
    }
}

/// The position is that of the member, which is added with the fault.
fn without_position(e: &serde_json::Error) -> String {
    let text = e.to_string();
    match text.rfind(" at line ") {
        Some(end) => text.get(..end).unwrap_or(&text).to_owned(),
        None => text,
    }
}
