//! The built-in profiles.

/// Name and text of every built-in profile.
pub const ALL: &[(&str, &str)] = &[
    ("gardener", include_str!("../../../profiles/gardener.yaml")),
    (
        "gardener-2021",
        include_str!("../../../profiles/gardener-2021.yaml"),
    ),
    ("node", include_str!("../../../profiles/node.yaml")),
];

/// The text of a built-in profile.
pub fn find(name: &str) -> Option<&'static str> {
    let mut all = ALL.iter();
    all.find(|(known, _)| *known == name).map(|(_, text)| *text)
}
