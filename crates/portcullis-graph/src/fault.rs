//! Faults of profiles that several parts find.

use portcullis_document::Fault;

use crate::kinds::Kinds;
use crate::vertex::KindId;

/// The kind of this name; a fault if there is none.
pub(crate) fn known_kind(
    kinds: &Kinds,
    name: &str,
    at: &str,
    faults: &mut Vec<Fault>,
) -> Option<KindId> {
    let id = kinds.id(name);
    if id.is_none() {
        let known = kinds.iter().map(|(_, kind)| kind.name.as_str());
        let fault = Fault::at(at, format!("unknown kind `{name}`"));
        faults.push(fault.with_known("kinds of `vertices`", name, known));
    }
    id
}
