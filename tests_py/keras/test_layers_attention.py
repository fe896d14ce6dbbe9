"""Attention layers beside Keras's: values, gradients, masks, weights of heads."""

from typing import Any

import keras
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


# -- subclasses that override Keras's methods --------------------------------------------------


def with_bias(api: Any) -> Any:
    """Attention between heads that adds to scores, as in Keras's examples of subclasses."""
    ops = api.ops

    class WithBias(api.layers.MultiHeadAttention):  # type: ignore[misc]
        def _compute_attention(
            self,
            query: Any,
            key: Any,
            value: Any,
            attention_mask: Any = None,
            training: Any = None,
            return_attention_scores: bool = False,
        ) -> Any:
            query = ops.multiply(query, self._inverse_sqrt_key_dim)
            scores = ops.einsum(self._dot_product_equation, key, query)
            scores = scores + ops.arange(scores.shape[-1], dtype="float32")
            scores = self._masked_softmax(scores, attention_mask)
            dropped = self._dropout_layer(scores, training=training)
            return ops.einsum(self._combine_equation, dropped, value), scores

    return WithBias


def with_masks(api: Any) -> Any:
    """Attention between heads whose mask is that of Keras, and excludes the first key."""
    ops = api.ops

    class WithMasks(api.layers.MultiHeadAttention):  # type: ignore[misc]
        def _compute_attention_mask(self, query: Any, value: Any, **masks: Any) -> Any:
            mask = super()._compute_attention_mask(query, value, **masks)
            return ops.logical_and(mask, ops.arange(value.shape[1]) > 0)

        def _compute_causal_mask(self, query: Any, value: Any = None) -> Any:
            return ops.flip(super()._compute_causal_mask(query, value), axis=-1)

    return WithMasks


def without_bias_of_keys(api: Any) -> Any:
    """Attention whose projections are made as in KerasHub's Whisper."""
    einsum_dense = api.layers.EinsumDense

    class WithoutBiasOfKeys(api.layers.MultiHeadAttention):  # type: ignore[misc]
        def build(self, query_shape: Any, value_shape: Any, key_shape: Any = None) -> None:
            for name, shape, size, bias_axes in (
                ("query", query_shape, self._key_dim, "de" if self._use_bias else None),
                ("key", value_shape if key_shape is None else key_shape, self._key_dim, None),
                ("value", value_shape, self._value_dim, "de"),
            ):
                layer = einsum_dense(
                    "abc,cde->abde",
                    output_shape=(None, self._num_heads, size),
                    bias_axes=bias_axes,
                    name=name,
                    **self._get_common_kwargs_for_sublayer(),
                )
                layer.build(shape)
                setattr(self, f"_{name}_dense", layer)
            self._build_attention(4)
            self._output_dense = self._make_output_dense(
                query_shape, self._get_common_kwargs_for_sublayer(), "attention_output"
            )
            self._output_dense.build((*query_shape[:-1], self._num_heads, self._value_dim))

    return WithoutBiasOfKeys


MADE_OF_HEADS: list[tuple[Any, dict[str, Any], dict[str, Any]]] = [
    (with_bias, {}, {"attention_mask": SEEN, "return_attention_scores": True}),
    (with_bias, {"attention_axes": (1, 2)}, {"return_attention_scores": True}),
    (with_masks, {}, {"attention_mask": SEEN}),
    (with_masks, {"sliding_window": 3}, {"use_causal_mask": True}),
    (
        without_bias_of_keys,
        {"value_dim": 5, "output_shape": 6},
        {"return_attention_scores": True},
    ),
    (without_bias_of_keys, {"use_bias": False}, {}),
]


@pytest.mark.parametrize("make, config, call", MADE_OF_HEADS)
def test_subclasses_of_heads(
    make: Any, config: dict[str, Any], call: dict[str, Any], backend: str
) -> None:
    rank = len(config.get("attention_axes", ())) or 1
    query, value = (array(size[0], *[size[1]] * rank, size[2]) for size in (QUERY, VALUE))
    layer, theirs = (make(api)(2, 3, **config) for api in (ours, keras))
    theirs(query, value, **call)
    layer(query, value, **call)
    assert [weight.path for weight in layer.weights] == [weight.path for weight in theirs.weights]
    layer.set_weights([array(*weight.shape) for weight in theirs.weights])
    theirs.set_weights(layer.get_weights())
    expected = theirs(query, value, **call)
    for ours_part, part in zip(
        ours.tree.flatten(layer(query, value, **call)), keras.tree.flatten(expected), strict=True
    ):
        np.testing.assert_allclose(ours_part, part, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["Attention", "AdditiveAttention"])
def test_subclasses_that_compute_and_apply_scores(name: str, backend: str) -> None:
    def make(api: Any) -> Any:
        class Sharp(getattr(api.layers, name)):  # type: ignore[misc]
            def _calculate_scores(self, query: Any, key: Any) -> Any:
                return 3 * super()._calculate_scores(query, key)

            def _apply_scores(self, scores: Any, value: Any, **options: Any) -> Any:
                return super()._apply_scores(api.ops.tanh(scores), value, **options)

        return Sharp(use_scale=False)

    query, value = array(*QUERY), array(*VALUE)
    result, expected = (
        make(api)([query, value], mask=[KEPT, HELD], use_causal_mask=True) for api in (ours, keras)
    )
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


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
    with pytest.raises((TypeError, ValueError), match=message):
        make()
