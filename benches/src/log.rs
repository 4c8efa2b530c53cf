//! Whether a server keeps its decisions.

/// What becomes of the decisions of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Log {
    /// Nothing.
    Off,
    /// They are kept whole, in SQLite; those that come too fast for it are dropped and counted.
    Kept,
    /// They are kept, and nobody is answered before theirs is.
    Required,
}

impl Log {
    /// Whether decisions are kept.
    pub(crate) fn is_on(self) -> bool {
        self != Self::Off
    }

    /// What is added to the name of a server.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Off => "",
            Self::Kept => "-kept",
            Self::Required => "-required",
        }
    }

    /// The `decisions` key; the store is the one of the data directory. The size keeps a run from
    /// filling a disk.
    pub(crate) fn configuration(self) -> &'static str {
        match self {
            Self::Off => "decisions: {store: false}\n",
            Self::Kept => "decisions: {store: true, required: false, maxSize: 256Mi}\n",
            Self::Required => "decisions: {store: true, required: true, maxSize: 256Mi}\n",
        }
    }
}
