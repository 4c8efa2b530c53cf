//! Verbs: a bit each for the usual ones, names for the others.

/// The verbs that have a bit.
const USUAL: [&str; 8] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
];
const LIST: u8 = 1 << 1;
const WATCH: u8 = 1 << 2;
const DELETE: u8 = 1 << 6;
const DELETE_COLLECTION: u8 = 1 << 7;

/// The verb of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verb<'a> {
    bit: u8,
    text: &'a str,
}

impl<'a> Verb<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let bit = match text {
            "get" => 1,
            "list" => LIST,
            "watch" => WATCH,
            "create" => 1 << 3,
            "update" => 1 << 4,
            "patch" => 1 << 5,
            "delete" => DELETE,
            "deletecollection" => DELETE_COLLECTION,
            _ => 0,
        };
        Self { bit, text }
    }

    /// Whether it is about many objects at once.
    pub(super) fn is_collective(self) -> bool {
        self.bit & (LIST | WATCH | DELETE_COLLECTION) != 0
    }

    pub(super) fn is_delete(self) -> bool {
        self.bit == DELETE
    }

    pub(super) fn as_str(self) -> &'a str {
        self.text
    }
}

/// A set of verbs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Verbs {
    bits: u8,
    others: Vec<Box<str>>,
    any: bool,
}

impl Verbs {
    pub(super) fn add(&mut self, verb: &str) {
        match Verb::new(verb) {
            _ if verb == "*" => self.any = true,
            Verb { bit: 0, .. } if !self.others.iter().any(|other| **other == *verb) => {
                self.others.push(verb.into());
            }
            Verb { bit, .. } => self.bits |= bit,
        }
    }

    pub(super) fn has(&self, verb: Verb<'_>) -> bool {
        self.bits & verb.bit != 0
            || self.any
            || (verb.bit == 0 && self.others.iter().any(|other| **other == *verb.text))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bits == 0 && self.others.is_empty() && !self.any
    }

    /// Whether any of them is about many objects at once.
    pub(super) fn has_collective(&self) -> bool {
        self.any || self.bits & (LIST | WATCH | DELETE_COLLECTION) != 0
    }

    /// The verbs of both.
    pub(super) fn union(&mut self, more: &Self) {
        self.bits |= more.bits;
        self.any |= more.any;
        for other in &more.others {
            self.add(other);
        }
    }

    /// All of them, alphabetically.
    pub(super) fn names(&self) -> Vec<&str> {
        let usual = USUAL.iter().copied();
        let usual = usual.filter(|verb| self.bits & Verb::new(verb).bit != 0);
        let mut names: Vec<&str> = usual
            .chain(self.others.iter().map(|other| &**other))
            .collect();
        if self.any {
            names.push("*");
        }
        names.sort_unstable();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_in_its_own_set_only() {
        let all = [
            "get",
            "list",
            "watch",
            "create",
            "update",
            "patch",
            "delete",
            "deletecollection",
            "approve",
            "",
            "Get",
        ];
        for one in all {
            let mut verbs = Verbs::default();
            verbs.add(one);
            for other in all {
                assert_eq!(verbs.has(Verb::new(other)), one == other, "{one} {other}");
            }
            assert_eq!(verbs.names(), [one]);
        }
        let mut any = Verbs::default();
        any.add("*");
        assert!(all.iter().all(|verb| any.has(Verb::new(verb))));
    }

    #[test]
    fn names_are_sorted_and_single() {
        let mut verbs = Verbs::default();
        for verb in ["watch", "mark", "get", "mark", "create", "get"] {
            verbs.add(verb);
        }
        let mut more = Verbs::default();
        for verb in ["mark", "list", "bless"] {
            more.add(verb);
        }
        verbs.union(&more);
        assert_eq!(
            verbs.names(),
            ["bless", "create", "get", "list", "mark", "watch"]
        );
        assert!(verbs.has_collective() && !verbs.is_empty());
    }
}
