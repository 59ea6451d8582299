//! The ranges of each system's recipe, compiled in.

/// Systems and their ranges. A system's are one more file here.
const RANGES: [(&str, &str); 13] = [
    (
        "wide-tree",
        include_str!("../../../../recipes/ranges/wide-tree.toml"),
    ),
    (
        "parabel",
        include_str!("../../../../recipes/ranges/parabel.toml"),
    ),
    (
        "bonsai",
        include_str!("../../../../recipes/ranges/bonsai.toml"),
    ),
    (
        "one-vs-all",
        include_str!("../../../../recipes/ranges/one-vs-all.toml"),
    ),
    (
        "attentionxml",
        include_str!("../../../../recipes/ranges/attentionxml.toml"),
    ),
    (
        "attentionxml-plt",
        include_str!("../../../../recipes/ranges/attentionxml-plt.toml"),
    ),
    (
        "xml-rnn",
        include_str!("../../../../recipes/ranges/xml-rnn.toml"),
    ),
    (
        "xml-cnn",
        include_str!("../../../../recipes/ranges/xml-cnn.toml"),
    ),
    (
        "lightxml",
        include_str!("../../../../recipes/ranges/lightxml.toml"),
    ),
    (
        "lightattention",
        include_str!("../../../../recipes/ranges/lightattention.toml"),
    ),
    ("knn", include_str!("../../../../recipes/ranges/knn.toml")),
    (
        "treaderxml",
        include_str!("../../../../recipes/ranges/treaderxml.toml"),
    ),
    (
        "aplc-xlnet",
        include_str!("../../../../recipes/ranges/aplc-xlnet.toml"),
    ),
];

/// The ranges of a system, a TOML document with a range a setting.
pub(super) fn default_ranges(system: &str) -> Option<&'static str> {
    let known = RANGES.iter().find(|(name, _)| *name == system);
    known.map(|(_, text)| *text)
}
