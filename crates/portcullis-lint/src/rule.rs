//! The names of rules, which people write in comments and scripts filter by. They never change.

use portcullis_core::vocabulary;

vocabulary! {
    /// What a finding is about.
    #[derive(PartialOrd, Ord)]
    pub enum Rule {
        /// A kind that no Kubernetes API has.
        UnknownKind = "unknown-kind",
        /// The code tests for a kind that `match` excludes.
        ExcludedKind = "excluded-kind",
        /// The code tests for an operation that `match` excludes.
        ExcludedOperation = "excluded-operation",
        /// `object` or `oldObject` is always null here.
        NullObject = "null-object",
        /// A `match` that no request can fulfil.
        ImpossibleMatch = "impossible-match",
        /// A field that no matched object has.
        UnknownField = "unknown-field",
        /// Containers are tested, but not all of them.
        ForgottenContainers = "forgotten-containers",
        /// A comparison that always has the same result.
        ConstantComparison = "constant-comparison",
        /// An assignment where a comparison is expected.
        AssignmentInCondition = "assignment-in-condition",
        /// A `return` of what is not a verdict.
        MeaninglessReturn = "meaningless-return",
        /// A policy that can't deny, warn, allow or change anything.
        NoEffect = "no-effect",
        /// `allow`, `deny` or `warn` without a call.
        UncalledVerdict = "uncalled-verdict",
        /// An import that is not used.
        UnusedImport = "unused-import",
        /// A look-up in the cluster of a kind that the configuration does not name.
        UnwatchedKind = "unwatched-kind",
        /// Code that never runs.
        UnreachableCode = "unreachable-code",
        /// A comment that should silence findings, but has no reason or names no rule.
        InvalidIgnore = "invalid-ignore",
        /// A comment that silences nothing.
        UnusedIgnore = "unused-ignore",
    }
}

impl Rule {
    /// What it finds, in a sentence for reports.
    pub fn summary(self) -> &'static str {
        match self {
            Self::UnknownKind => "No Kubernetes API has this kind.",
            Self::ExcludedKind => "The code tests for a kind that `match` excludes.",
            Self::ExcludedOperation => "The code tests for an operation that never comes.",
            Self::NullObject => "The object is always null for the matched operations.",
            Self::ImpossibleMatch => "No request can fulfil this `match`.",
            Self::UnknownField => "No object of the matched kinds has this field.",
            Self::ForgottenContainers => "Not all containers of a pod are tested.",
            Self::ConstantComparison => "The comparison always has the same result.",
            Self::AssignmentInCondition => "A condition assigns instead of comparing.",
            Self::MeaninglessReturn => "The returned value is not a verdict.",
            Self::NoEffect => "The policy can't deny, warn, allow or change anything.",
            Self::UncalledVerdict => "A verdict function is named, but not called.",
            Self::UnusedImport => "The import is not used.",
            Self::UnwatchedKind => "The kind can't be looked up in the cluster.",
            Self::UnreachableCode => "The code never runs.",
            Self::InvalidIgnore => "The comment needs the name of a rule and a reason.",
            Self::UnusedIgnore => "The comment silences nothing.",
        }
    }
}
