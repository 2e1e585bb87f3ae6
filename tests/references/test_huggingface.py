"""Tiny Hugging Face models, built from a configuration and never downloaded, with their weights put into ours.

GPT-2 (learned positions, tied), Marian (post-norm encoder-decoder, tied) and Llama (rotary, RMS norm, SwiGLU, grouped
heads): the same logits plain, padded and cached, the same loss, the same gradients.
"""

import pytest
import torch
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, MarianConfig, MarianMTModel

from regard.data import IGNORE, Batch
from regard.objectives import NextToken
from regard.systems import System
from regard.systems.gpt import Gpt
from regard.systems.transformer import Transformer
from tests.references.copy import exact, lively, put, put_like

VOCABULARY, WIDTH, HEADS, HIDDEN, DEPTH, CONTEXT = 31, 24, 4, 37, 3, 41
SIZES = {"width": WIDTH, "heads": HEADS, "hidden": HIDDEN, "depth": DEPTH, "context": CONTEXT, "dropout": 0.0}
PRESENT = torch.arange(13) < torch.tensor([[13], [7], [11]])
SEEN = torch.arange(11) < torch.tensor([[5], [11], [8]])


def tokens(length: int) -> Tensor:
    return torch.randint(2, VOCABULARY, (3, length))


def gpt2() -> tuple[System, nn.Module]:
    config = GPT2Config(
        vocab_size=VOCABULARY,
        n_positions=CONTEXT,
        n_embd=WIDTH,
        n_layer=DEPTH,
        n_head=HEADS,
        n_inner=HIDDEN,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=0,
        eos_token_id=1,
    )
    theirs = lively(GPT2LMHeadModel(config))
    mine = Gpt(**SIZES).build(VOCABULARY).double()
    body, stack = theirs.transformer, mine.decoder
    put_like(stack.embedding.rows, body.wte)
    put_like(stack.embedding.position.table.rows, body.wpe)
    put_like(stack.norm, body.ln_f)
    for block, other in zip(stack.blocks, body.h, strict=True):
        parts = zip(other.attn.c_attn.weight.chunk(3, dim=1), other.attn.c_attn.bias.chunk(3), strict=True)
        attention = block.attention
        for layer, (weight, bias) in zip(
            (attention.to_query, attention.to_key, attention.to_value), parts, strict=True
        ):
            put(layer, weight.T, bias)  # their matrices stand the other way round
        put(attention.output, other.attn.c_proj.weight.T, other.attn.c_proj.bias)
        put(block.feedforward.widen, other.mlp.c_fc.weight.T, other.mlp.c_fc.bias)
        put(block.feedforward.output, other.mlp.c_proj.weight.T, other.mlp.c_proj.bias)
        put_like(block.around_attention.norm, other.ln_1)
        put_like(block.around_feedforward.norm, other.ln_2)
    return mine, theirs


def llama() -> tuple[System, nn.Module]:
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        intermediate_size=HIDDEN,
        num_hidden_layers=DEPTH,
        num_attention_heads=HEADS,
        num_key_value_heads=2,
        max_position_embeddings=CONTEXT,
        rms_norm_eps=1e-5,
        tie_word_embeddings=False,
        bos_token_id=0,
        eos_token_id=1,
    )
    theirs = lively(LlamaForCausalLM(config))
    settings = Gpt(**SIZES, position="rotary", normalizer="rms", feedforward="swiglu", groups=2, bias=False, tied=False)
    mine = settings.build(VOCABULARY).double()
    put_like(mine.decoder.embedding.rows, theirs.model.embed_tokens)
    put_like(mine.decoder.norm, theirs.model.norm)
    put_like(mine.output.rows, theirs.lm_head)
    for block, other in zip(mine.decoder.blocks, theirs.model.layers, strict=True):
        put(block.attention.to_query, pairs_together(other.self_attn.q_proj.weight, HEADS))
        put(block.attention.to_key, pairs_together(other.self_attn.k_proj.weight, 2))
        put_like(block.attention.to_value, other.self_attn.v_proj)
        put_like(block.attention.output, other.self_attn.o_proj)
        put_like(block.feedforward.gate, other.mlp.gate_proj)
        put_like(block.feedforward.widen, other.mlp.up_proj)
        put_like(block.feedforward.output, other.mlp.down_proj)
        put_like(block.around_attention.norm, other.input_layernorm)
        put_like(block.around_feedforward.norm, other.post_attention_layernorm)
    return mine, theirs


def pairs_together(weight: Tensor, heads: int) -> Tensor:
    """Llama turns row i of a head with row i + half; ours turns neighbours."""
    return weight.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)


def marian() -> tuple[System, nn.Module]:
    config = MarianConfig(
        vocab_size=VOCABULARY,
        d_model=WIDTH,
        encoder_layers=DEPTH,
        decoder_layers=DEPTH,
        encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS,
        encoder_ffn_dim=HIDDEN,
        decoder_ffn_dim=HIDDEN,
        max_position_embeddings=CONTEXT,
        activation_function="relu",
        scale_embedding=True,
        dropout=0.0,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        forced_eos_token_id=1,
    )
    theirs = lively(MarianMTModel(config))
    mine = Transformer(**SIZES, norm="post", position="learned", tied="all").build(VOCABULARY).double()
    put_like(mine.decoder.embedding.rows, theirs.model.shared)
    for stack, other in ((mine.encoder, theirs.model.encoder), (mine.decoder, theirs.model.decoder)):
        put_like(stack.embedding.position.table.rows, other.embed_positions)
        for block, layer in zip(stack.blocks, other.layers, strict=True):
            put_marian_block(block, layer)
    return mine, theirs


def put_marian_block(block: nn.Module, layer: nn.Module) -> None:
    attentions = [(block.attention, layer.self_attn)]
    norms = [
        (block.around_attention, layer.self_attn_layer_norm),
        (block.around_feedforward, layer.final_layer_norm),
    ]
    if block.cross is not None:
        attentions.append((block.cross, layer.encoder_attn))
        norms.append((block.around_cross, layer.encoder_attn_layer_norm))
    for mine, theirs in attentions:
        put_like(mine.to_query, theirs.q_proj)
        put_like(mine.to_key, theirs.k_proj)
        put_like(mine.to_value, theirs.v_proj)
        put_like(mine.output, theirs.out_proj)
    for around, norm in norms:
        put_like(around.norm, norm)
    put_like(block.feedforward.widen, layer.fc1)
    put_like(block.feedforward.output, layer.fc2)


def equal(mine: Tensor, reference: Tensor, theirs: nn.Module) -> None:
    """Llama's norms and angles are computed in single precision, whatever the model is in."""
    single = isinstance(theirs, LlamaForCausalLM)
    torch.testing.assert_close(mine, reference, rtol=1e-4 if single else 1e-7, atol=1e-5 if single else 1e-9)


language_models = pytest.mark.parametrize("make", [gpt2, llama])


@language_models
@pytest.mark.parametrize("training", [False, True])
def test_a_language_model_has_the_same_logits(make, training: bool) -> None:
    mine, theirs = (model.train(training) for model in make())
    text = tokens(CONTEXT)
    equal(mine.decode(text), theirs(text).logits, theirs)


@language_models
def test_a_padded_batch_has_the_same_logits_loss_and_gradients(make) -> None:
    mine, theirs = make()
    text = tokens(13)
    labels = text.masked_fill(~PRESENT, IGNORE)
    reference = theirs(text, attention_mask=PRESENT.long(), labels=labels)
    equal(mine.decode(text)[PRESENT], reference.logits[PRESENT], theirs)
    targets = labels.roll(-1, dims=1)
    targets[:, -1] = IGNORE
    count = int((targets != IGNORE).sum())
    loss = NextToken()(mine, Batch(text, targets, count))
    torch.testing.assert_close(loss.total / count, reference.loss, check_dtype=False)  # sums in single precision
    (loss.total / count).backward()
    reference.loss.backward()
    for a, b in gradients(mine, theirs):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)


def gradients(mine: System, theirs: nn.Module) -> list[tuple[Tensor, Tensor]]:
    """Of the embedding, a query projection, a feed-forward layer and a norm in the middle block."""
    block = mine.decoder.blocks[1]
    names = {
        GPT2LMHeadModel: ("transformer.wte", "transformer.h.1.mlp.c_proj", "transformer.h.1.ln_2"),
        LlamaForCausalLM: (
            "model.embed_tokens",
            "model.layers.1.mlp.down_proj",
            "model.layers.1.post_attention_layernorm",
        ),
    }[type(theirs)]
    others = [theirs.get_submodule(name).weight.grad for name in names]
    if isinstance(theirs, GPT2LMHeadModel):
        others[1] = others[1].T
        query = theirs.transformer.h[1].attn.c_attn.weight.grad[:, :WIDTH].T
    else:
        query = pairs_together(theirs.model.layers[1].self_attn.q_proj.weight.grad, HEADS)
    ours = [
        mine.decoder.embedding.rows,
        block.feedforward.output,
        block.around_feedforward.norm,
        block.attention.to_query,
    ]
    return [(layer.weight.grad, other) for layer, other in zip(ours, [*others, query], strict=True)]


@language_models
def test_a_language_model_has_the_same_logits_with_a_cache(make) -> None:
    mine, theirs = (model.eval() for model in make())
    text = tokens(13)
    cache, past = mine.start(3, 13), None
    with torch.no_grad():
        for a, b in ((0, 5), (5, 6), (6, 7), (7, 13)):
            reference = theirs(text[:, a:b], past_key_values=past, use_cache=True)
            past = reference.past_key_values
            equal(mine.decode(text[:, a:b], cache=cache), reference.logits, theirs)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_a_translator_has_the_same_logits_and_gradients(padded: bool, training: bool) -> None:
    mine, theirs = (model.train(training) for model in marian())
    source, target = tokens(11), tokens(13)
    seen = SEEN if padded else None
    got = mine.decode(target, mine.encode(source, seen))
    reference = theirs(
        input_ids=source, attention_mask=SEEN.long() if padded else None, decoder_input_ids=target, use_cache=False
    ).logits
    exact(got, reference)
    direction = torch.randn_like(got)
    (got * direction).sum().backward()
    (reference * direction).sum().backward()
    exact(mine.decoder.embedding.rows.weight.grad, theirs.model.shared.weight.grad)
    exact(
        mine.encoder.blocks[0].attention.to_key.weight.grad, theirs.model.encoder.layers[0].self_attn.k_proj.weight.grad
    )
    exact(
        mine.decoder.blocks[1].cross.to_value.weight.grad,
        theirs.model.decoder.layers[1].encoder_attn.v_proj.weight.grad,
    )


def test_a_translator_has_the_same_logits_with_a_cache() -> None:
    mine, theirs = (model.eval() for model in marian())
    source, target = tokens(11), tokens(13)
    with torch.no_grad():
        memory, cache, past = mine.encode(source, SEEN), mine.start(3, 13), None
        encoded = theirs.model.encoder(source, attention_mask=SEEN.long())
        exact(memory.vectors[SEEN], encoded.last_hidden_state[SEEN])
        for step in range(13):
            newest = target[:, step : step + 1]
            reference = theirs(
                encoder_outputs=encoded,
                attention_mask=SEEN.long(),
                decoder_input_ids=newest,
                past_key_values=past,
                use_cache=True,
            )
            past = reference.past_key_values
            exact(mine.decode(newest, memory, cache), reference.logits)
