"""How this project names and lays out the parameters of encoders, for the scripts beside this file."""

import torch


def own_layout(kind, values):
    """Tensors by their names in `transformers` as tensors by the names that the Rust code gives them.

    Works for values and for gradients: everything here is a rearrangement. What is not an encoder's
    (poolers, heads) is left out.
    """
    own = {}
    take = lambda name: values[name].detach()
    if kind == "xlnet":
        own["encoder.embeddings.word"] = take("word_embedding.weight")
    elif kind == "modernbert":
        own["encoder.embeddings.word"] = take("embeddings.tok_embeddings.weight")
        own["encoder.embeddings.norm.weight"] = take("embeddings.norm.weight")
        own["encoder.norm.weight"] = take("final_norm.weight")
    else:
        own["encoder.embeddings.word"] = take("embeddings.word_embeddings.weight")
        own["encoder.embeddings.position"] = take("embeddings.position_embeddings.weight")
        for part in ["weight", "bias"]:
            own[f"encoder.embeddings.norm.{part}"] = take(f"embeddings.LayerNorm.{part}")
        if kind in ["bert", "roberta", "electra"]:
            own["encoder.embeddings.type"] = take("embeddings.token_type_embeddings.weight")
    if kind == "electra":
        for part in ["weight", "bias"]:
            own[f"encoder.embeddings.projection.{part}"] = take(f"embeddings_project.{part}")
    if kind == "mpnet":
        own["encoder.distances"] = take("encoder.relative_attention_bias.weight")
    number = 0
    while True:
        layer = LAYERS.get(kind, plain_layer)(kind, number, values)
        if layer is None:
            return own
        own.update({f"encoder.layer.{number}.{name}": value for name, value in layer.items()})
        number += 1


PLAIN_NAMES = {
    "bert": ("encoder.layer.{}.", "attention.self.query attention.self.key attention.self.value attention.output.dense "
             "attention.output.LayerNorm intermediate.dense output.dense output.LayerNorm"),
    "mpnet": ("encoder.layer.{}.", "attention.attn.q attention.attn.k attention.attn.v attention.attn.o "
              "attention.LayerNorm intermediate.dense output.dense output.LayerNorm"),
    "distilbert": ("transformer.layer.{}.", "attention.q_lin attention.k_lin attention.v_lin attention.out_lin "
                   "sa_layer_norm ffn.lin1 ffn.lin2 output_layer_norm"),
}
PLAIN_NAMES["roberta"] = PLAIN_NAMES["electra"] = PLAIN_NAMES["bert"]
OWN_NAMES = ["attention.output", "attention.norm", "feed_forward.inner", "feed_forward.outer", "feed_forward.norm"]


def plain_layer(kind, number, values):
    prefix, names = PLAIN_NAMES[kind]
    prefix, names = prefix.format(number), names.split()
    if f"{prefix}{names[0]}.weight" not in values:
        return None
    own = {}
    for part in ["weight", "bias"]:
        taken = [values[f"{prefix}{name}.{part}"].detach() for name in names]
        own[f"attention.qkv.{part}"] = torch.cat(taken[:3])
        own.update({f"{name}.{part}": value for name, value in zip(OWN_NAMES, taken[3:])})
    return own


def xlnet_layer(_kind, number, values):
    prefix = f"layer.{number}."
    if f"{prefix}rel_attn.q" not in values:
        return None
    take = lambda name: values[prefix + name].detach()
    # `transformers` has inputs x heads x numbers a head.
    rows = lambda name: take(name).flatten(1).t()
    own = {
        "attention.qkv.weight": torch.cat([rows("rel_attn.q"), rows("rel_attn.k"), rows("rel_attn.v")]),
        "attention.output.weight": take("rel_attn.o").flatten(1),
        "attention.distances.weight": rows("rel_attn.r"),
        "attention.content_bias": take("rel_attn.r_w_bias").flatten(),
        "attention.distance_bias": take("rel_attn.r_r_bias").flatten(),
        "attention.segment_bias": take("rel_attn.r_s_bias").flatten(),
        "attention.segments": take("rel_attn.seg_embed").flatten(1),
    }
    for part in ["weight", "bias"]:
        own[f"attention.norm.{part}"] = take(f"rel_attn.layer_norm.{part}")
        own[f"feed_forward.inner.{part}"] = take(f"ff.layer_1.{part}")
        own[f"feed_forward.outer.{part}"] = take(f"ff.layer_2.{part}")
        own[f"feed_forward.norm.{part}"] = take(f"ff.layer_norm.{part}")
    return own


def modernbert_layer(_kind, number, values):
    prefix = f"layers.{number}."
    if f"{prefix}attn.Wqkv.weight" not in values:
        return None
    names = {"attention.qkv": "attn.Wqkv", "attention.output": "attn.Wo", "attention.norm": "attn_norm",
             "feed_forward.inner": "mlp.Wi", "feed_forward.outer": "mlp.Wo", "feed_forward.norm": "mlp_norm"}
    # The first layer has no norm before its attention.
    return {f"{own}.weight": values[f"{prefix}{name}.weight"].detach() for own, name in names.items()
            if f"{prefix}{name}.weight" in values}


LAYERS = {"xlnet": xlnet_layer, "modernbert": modernbert_layer}
