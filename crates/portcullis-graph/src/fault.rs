//! What can be wrong with a profile.

use crate::kinds::Kinds;
use crate::vertex::KindId;

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where, like `sources[3].edges[1].names`.
    pub path: String,
    /// What.
    pub message: String,
    /// What would be right, where that can be listed: what the list is of, what was written, the list.
    pub known: Option<(String, String, Vec<String>)>,
}

impl Fault {
    /// Something wrong there.
    pub(crate) fn at(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
            known: None,
        }
    }
}

/// The kind of this name; a fault if there is none.
pub(crate) fn known_kind(
    kinds: &Kinds,
    name: &str,
    at: &str,
    faults: &mut Vec<Fault>,
) -> Option<KindId> {
    let id = kinds.id(name);
    if id.is_none() {
        let known = kinds.iter().map(|(_, kind)| kind.name.clone()).collect();
        let mut fault = Fault::at(at, format!("unknown kind `{name}`"));
        fault.known = Some(("kinds of `vertices`".to_owned(), name.to_owned(), known));
        faults.push(fault);
    }
    id
}
