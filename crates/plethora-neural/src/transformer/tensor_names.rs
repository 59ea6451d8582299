//! What tensors are called in the files of each architecture.

use super::architecture::ArchitectureKind;

/// Names of the matrices and norms of a layer, without `.weight` and `.bias`.
pub(super) struct LayerNames {
    pub(super) qkv: [String; 3],
    pub(super) output: String,
    pub(super) attention_norm: String,
    pub(super) inner: String,
    pub(super) outer: String,
    pub(super) norm: String,
}

/// The table of pieces.
pub(super) fn word_table(kind: ArchitectureKind) -> &'static str {
    match kind {
        ArchitectureKind::Xlnet => "word_embedding.weight",
        ArchitectureKind::Modernbert => "embeddings.tok_embeddings.weight",
        _ => "embeddings.word_embeddings.weight",
    }
}

/// The layer with this number.
pub(super) fn layer(kind: ArchitectureKind, number: usize) -> LayerNames {
    let (stem, [q, k, v, output, attention_norm, inner, outer, norm]) = match kind {
        // Layers of `ModernBERT` have names of their own, see `pre_norm.rs`.
        ArchitectureKind::Bert
        | ArchitectureKind::Roberta
        | ArchitectureKind::Electra
        | ArchitectureKind::Modernbert => (
            "encoder.layer",
            [
                "attention.self.query",
                "attention.self.key",
                "attention.self.value",
                "attention.output.dense",
                "attention.output.LayerNorm",
                "intermediate.dense",
                "output.dense",
                "output.LayerNorm",
            ],
        ),
        ArchitectureKind::Mpnet => (
            "encoder.layer",
            [
                "attention.attn.q",
                "attention.attn.k",
                "attention.attn.v",
                "attention.attn.o",
                "attention.LayerNorm",
                "intermediate.dense",
                "output.dense",
                "output.LayerNorm",
            ],
        ),
        ArchitectureKind::Distilbert => (
            "transformer.layer",
            [
                "attention.q_lin",
                "attention.k_lin",
                "attention.v_lin",
                "attention.out_lin",
                "sa_layer_norm",
                "ffn.lin1",
                "ffn.lin2",
                "output_layer_norm",
            ],
        ),
        ArchitectureKind::Xlnet => (
            "layer",
            [
                "rel_attn.q",
                "rel_attn.k",
                "rel_attn.v",
                "rel_attn.o",
                "rel_attn.layer_norm",
                "ff.layer_1",
                "ff.layer_2",
                "ff.layer_norm",
            ],
        ),
    };
    let named = |part: &str| format!("{stem}.{number}.{part}");
    LayerNames {
        qkv: [named(q), named(k), named(v)],
        output: named(output),
        attention_norm: named(attention_norm),
        inner: named(inner),
        outer: named(outer),
        norm: named(norm),
    }
}
