"""Attention layers beside Keras's: values, gradients, masks, weights of heads."""

from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.keras.layer_cases import Case, check
from webtensor import keras as ours

RANDOM = np.random.default_rng(5)
QUERY, VALUE = (2, 3, 4), (2, 5, 4)
#: What is seen; no row is without.
SEEN = np.array([[[1, 0, 1, 1, 0], [0, 0, 0, 0, 1], [1, 1, 1, 1, 1]]] * 2, bool)
KEPT = np.array([[1, 1, 0], [1, 0, 1]], bool)
HELD = np.array([[1, 1, 0, 0, 1], [0, 1, 1, 1, 1]], bool)


def array(*shape: int) -> Any:
    return RANDOM.normal(size=shape).astype("float32")


# -- without projections -----------------------------------------------------------------------

DOT = [
    Case("Attention", {}, [QUERY, VALUE]),
    Case("Attention", {"use_scale": True, "name": "mine"}, [QUERY, (2, 5, 6), VALUE]),
    Case("Attention", {"score_mode": "concat", "use_scale": True, "seed": 3}, [QUERY, VALUE]),
    Case("Attention", {"score_mode": "concat"}, [QUERY, VALUE], {"return_attention_scores": True}),
    Case("Attention", {}, [QUERY, VALUE], {"mask": [KEPT, HELD]}),
    Case(
        "Attention",
        {"use_scale": True},
        [VALUE, VALUE],
        {"use_causal_mask": True, "return_attention_scores": True, "mask": [HELD, HELD]},
    ),
    Case("AdditiveAttention", {}, [QUERY, VALUE, VALUE]),
    Case("AdditiveAttention", {"use_scale": False}, [QUERY, VALUE], {"use_causal_mask": True}),
]


@pytest.mark.parametrize("case", DOT, ids=repr)
def test_dot_as_in_keras(case: Case) -> None:
    check(case)


# -- with heads --------------------------------------------------------------------------------

HEADS: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {
    "MultiHeadAttention": [
        ({}, {}),
        (
            {"value_dim": 5, "output_shape": 6, "use_bias": False, "name": "mine"},
            {"return_attention_scores": True},
        ),
        ({"use_gate": True, "kernel_regularizer": "l2", "seed": 1}, {"attention_mask": SEEN}),
        ({"sliding_window": 2}, {"use_causal_mask": True, "return_attention_scores": True}),
        (
            {"output_shape": (2, 3), "kernel_initializer": "he_normal"},
            {"attention_mask": SEEN[:, :1], "return_attention_scores": True},
        ),
    ],
    "GroupQueryAttention": [
        ({}, {}),
        ({"use_bias": False, "use_gate": True}, {"attention_mask": SEEN}),
        ({"sliding_window": 2}, {"use_causal_mask": True, "return_attention_scores": True}),
        ({"bias_constraint": "non_neg"}, {"use_causal_mask": True}),
    ],
}
SIZES: dict[str, dict[str, Any]] = {
    "MultiHeadAttention": {"num_heads": 2, "key_dim": 3},
    "GroupQueryAttention": {"head_dim": 3, "num_query_heads": 4, "num_key_value_heads": 2},
}


@pytest.mark.parametrize(
    "name, config, call",
    [(name, config, call) for name, cases in HEADS.items() for config, call in cases],
)
def test_heads_as_in_keras(name: str, config: dict[str, Any], call: dict[str, Any]) -> None:
    scores = call.get("return_attention_scores", False)
    # Keras says that there are as many keys as queries in the scores that it returns.
    queries, keys = (QUERY, VALUE) if not scores else (VALUE, VALUE)
    call = dict(call)
    if scores and "attention_mask" in call:
        call["attention_mask"] = np.concatenate([call["attention_mask"]] * 5, 1)
    check(Case(name, {**SIZES[name], **config}, queries, {"value": array(*keys), **call}))


@pytest.mark.parametrize("axes", [(1, 2), 2, (-2,)])
def test_several_axes_as_in_keras(axes: Any) -> None:
    config = {**SIZES["MultiHeadAttention"], "attention_axes": axes}
    check(Case("MultiHeadAttention", config, (2, 3, 2, 4), {"value": array(2, 3, 2, 4)}))


def test_key_of_its_own_as_in_keras() -> None:
    call = {"value": array(2, 5, 6), "key": array(2, 5, 3)}
    check(Case("MultiHeadAttention", SIZES["MultiHeadAttention"], QUERY, call))


@pytest.mark.parametrize("name", list(SIZES))
def test_masks_of_inputs_hide(name: str, backend: str) -> None:
    """What the value's mask leaves out does not matter, and the query's mask goes on."""
    layer = getattr(ours.layers, name)(**SIZES[name])
    arrays = [array(*shape) for shape in (QUERY, VALUE)]

    def masked() -> Any:
        query, value = map(wt.tensor, arrays)
        query._keras_mask, value._keras_mask = wt.tensor(KEPT), wt.tensor(HELD)
        return query, value

    query, value = masked()
    result = layer(query, value)
    np.testing.assert_array_equal(result._keras_mask, KEPT)
    query, value = masked()
    other = wt.where(wt.tensor(HELD[..., None]), value, 7.0)
    other._keras_mask = value._keras_mask
    np.testing.assert_allclose(
        layer(query, other).numpy()[KEPT], result.numpy()[KEPT], rtol=1e-5, atol=1e-6
    )
    mask = KEPT[:, :, None] & HELD[:, None]
    plain = layer(wt.tensor(query.numpy()), wt.tensor(value.numpy()), attention_mask=mask)
    np.testing.assert_allclose(plain, result, rtol=1e-5, atol=1e-6)
    query, value = masked()
    _, scores = layer(query, value, return_attention_scores=True)
    assert not scores.numpy()[:, 0][~mask].any()


@pytest.mark.parametrize("name", [*SIZES, "Attention", "AdditiveAttention"])
def test_dropout_is_of_training_alone(name: str, backend: str) -> None:
    layer = getattr(ours.layers, name)(**SIZES.get(name, {}), dropout=0.5, seed=1)
    query, value = wt.tensor(array(*QUERY)), wt.tensor(array(*VALUE))
    arguments = (query, value) if name in SIZES else ([query, value],)
    plain = layer(*arguments)
    np.testing.assert_array_equal(layer(*arguments, training=False), plain)
    first, second = layer(*arguments, training=True), layer(*arguments, training=True)
    assert not np.allclose(first, plain)
    assert not np.allclose(first, second)


def test_few_operations() -> None:
    layer = ours.layers.MultiHeadAttention(2, 4)
    x = wt.tensor(array(2, 5, 8))
    layer(x, x)
    moved = {"reshape"}
    kernels = [kernel.name for kernel in wt.profile(lambda: layer(x, x)).kernels]
    assert len([kernel for kernel in kernels if kernel not in moved]) <= 12


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: ours.layers.Attention(score_mode="cosine"), "score_mode must be"),
        (lambda: ours.layers.Attention()(array(2, 3, 4)), "inputs must be a list"),
        (lambda: ours.layers.Attention()([array(*QUERY)]), "inputs must be a list"),
        (
            lambda: ours.layers.Attention()([array(*QUERY)] * 2, mask=np.ones((2, 3), bool)),
            "mask must be a list",
        ),
        (lambda: ours.layers.MultiHeadAttention(0, 2), "num_heads must be a positive integer"),
        (lambda: ours.layers.MultiHeadAttention(2, 2.5), "key_dim must be a positive integer"),  # type: ignore[arg-type]
        (lambda: ours.layers.MultiHeadAttention(2, 2, sliding_window=0), "sliding_window must be"),
        (lambda: ours.layers.MultiHeadAttention(2, 2, output_shape="x"), "output_shape must be"),  # type: ignore[arg-type]
        (
            lambda: ours.layers.MultiHeadAttention(2, 2, flash_attention=True),
            "flash_attention must",
        ),
        (
            lambda: ours.layers.MultiHeadAttention(2, 2)(
                array(*QUERY), array(*VALUE), key=array(2, 4, 4)
            ),
            "same shape, save for their sizes",
        ),
        (lambda: ours.layers.GroupQueryAttention(2, 3, 2), "must be a multiple of"),
    ],
)
def test_errors_name_what_was_wrong(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
