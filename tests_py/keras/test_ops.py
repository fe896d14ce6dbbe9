"""Functions of ``keras.ops``: values, symbolic shapes and configurations are those of Keras."""

import json
import os
import pickle
import subprocess
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.closeness import assert_close
from tests_py.keras import ops_cases
from tests_py.keras.ops_cases import CASES, Given, elements, flat, function, mapped
from webtensor import keras as ours
from webtensor.keras.registry import deserialize_keras_object
from webtensor.nest import flatten, map_structure

#: How Keras calls dtypes of whole numbers that are int32 here.
HELD = {
    "float64": "float32",
    **dict.fromkeys(("int8", "int16", "int64", "uint8", "uint16", "uint32"), "int32"),
}


def identity(number: int) -> str:
    name, _, options = CASES[number]
    return f"{number}-{name}-{','.join(options)}"


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    """What Keras returns for each case."""
    file = tmp_path_factory.mktemp("ops") / "results"
    script = str(Path(ops_cases.__file__))
    environment = {**os.environ, "KERAS_BACKEND": "numpy"}
    subprocess.run([sys.executable, script, str(file)], env=environment, check=True)
    results: list[list[Any]] = pickle.loads(file.read_bytes())
    return results


def tensor_of(value: Any) -> Any:
    return wt.tensor(value) if isinstance(value, np.ndarray) else value


def same(mine: Any, theirs: Any) -> None:
    """Check shape, dtype and elements of a result."""
    assert np.asarray(mine).shape == theirs.shape
    if not isinstance(mine, (bool, int, float)):
        assert str(mine.dtype) == HELD.get(str(theirs.dtype), str(theirs.dtype))
    np.testing.assert_allclose(np.asarray(mine), theirs, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("number", range(len(CASES)), ids=identity)
def test_values(number: int, backend: str, expected: list[list[Any]]) -> None:
    args, options = map_structure(tensor_of, list(elements(number)))
    result = function(ours.ops, CASES[number][0])(*args, **options)
    for mine, theirs in zip(flat(result), expected[number], strict=True):
        same(mine, theirs)


# -- symbolic ----------------------------------------------------------------------------------

SYMBOLIC = [
    number
    for number, (_, args, _) in enumerate(CASES[: ops_cases.SYMBOLIC])
    if mapped(lambda _: None, args) != args
]


def symbolic(module: Any, number: int, batch: int | None) -> Any:
    """A model of one call, whose inputs are the arrays; those of two examples may have more."""
    name, args, options = CASES[number]
    rng = np.random.default_rng(0)
    inputs: list[Any] = []

    def symbol(description: Given) -> Any:
        dtype = str(ops_cases.array_of(description, rng).dtype)
        length = batch if description.shape[0] == 2 else description.shape[0]
        inputs.append(module.Input(batch_shape=(length, *description.shape[1:]), dtype=dtype))
        return inputs[-1]

    args = [mapped(symbol, argument) for argument in args]
    if isinstance(options.get("weights", 0), Given) or isinstance(options.get("mask", 0), Given):
        options = mapped(symbol, options)
    output = function(module.ops, name)(*args, **options)
    return module.Model(inputs if len(inputs) > 1 else inputs[0], output)


def arrays(number: int) -> list[Any]:
    """What stands for the inputs of the model."""
    _, args, options = CASES[number]
    rng = np.random.default_rng(number)
    collected: list[Any] = []
    mapped(
        lambda description: collected.append(ops_cases.array_of(description, rng)), [args, options]
    )
    return collected


def begin() -> None:
    keras.utils.clear_session(free_memory=False)
    ours.names.forget_names()


@pytest.mark.parametrize("number", SYMBOLIC, ids=identity)
def test_symbolic_calls(number: int, expected: list[list[Any]]) -> None:
    begin()
    batch: int | None = None
    try:
        theirs = symbolic(keras, number, batch)
    except (AttributeError, TypeError, ValueError):
        begin()
        batch = 2
        theirs = symbolic(keras, number, batch)
    mine = symbolic(ours, number, batch)
    shapes = [tuple(output.shape) for output in theirs.outputs]
    assert [tuple(output.shape) for output in mine.outputs] == shapes
    kinds = [HELD.get(output.dtype, output.dtype) for output in theirs.outputs]
    assert [str(output.dtype) for output in mine.outputs] == kinds
    config = json.loads(theirs.to_json())
    assert json.loads(mine.to_json()) == config
    # A model of Keras is read here, and the other way round.
    keras.models.model_from_json(mine.to_json())
    read = deserialize_keras_object(config)
    values = arrays(number)[: len(read.inputs)]
    tensors = [wt.tensor(value) for value in values]
    result = read(tensors if len(tensors) > 1 else tensors[0])
    for leaf, value in zip(flat(result), expected[number], strict=True):
        same(leaf, value)


# -- what makes no operations ------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, args, options",
    [
        ("arange", (5,), {}),
        ("arange", (1, 4, 0.5), {}),
        ("arange", (1, 9, 2), {"dtype": "float32"}),
        ("arange", (np.int64(3),), {}),
        ("arange", (np.int32(1), np.int64(4), np.float32(0.5)), {}),
        ("bartlett", (6,), {}),
        ("blackman", (6,), {}),
        ("eye", (3,), {"M": 4, "k": 1}),
        ("full", ((2, 3), 1.5), {}),
        ("full", (2, 7), {"dtype": "int32"}),
        ("full", (np.int64(2), np.array([1, 2])), {}),
        ("hamming", (6,), {}),
        ("hanning", (6,), {}),
        ("identity", (3,), {}),
        ("kaiser", (6, 3.0), {}),
        ("linspace", (0, 1), {"num": 3, "retstep": True}),
        ("ones", ((2, 3),), {}),
        ("tri", (3,), {"M": 4, "k": -1}),
        ("zeros", ((2, 3),), {"dtype": "int32"}),
        ("histogram", (np.array([1, 2, 2, 5, 3], "float32"),), {"bins": 4}),
        ("histogram", (np.array([1, 2, 2, 5, 3], "float32"),), {"range": (0, 4)}),
        ("nonzero", (np.array([1, 0, 2], "float32"),), {}),
        ("unique", (np.array([3, 1, 3, 2], "int32"),), {}),
        (
            "unique",
            (np.array([3, 1, 3], "int32"),),
            {"return_inverse": True, "return_counts": True},
        ),
    ],
)
def test_made_tensors(name: str, args: Any, options: dict[str, Any]) -> None:
    theirs = flat(getattr(keras.ops, name)(*args, **options))
    mine = flat(getattr(ours.ops, name)(*args, **options))
    for value, other in zip(mine, theirs, strict=True):
        same(value, np.asarray(other))


def steps(module: Any) -> dict[str, Any]:
    """What functions that call functions return."""
    ops = module.ops
    x = ops.reshape(ops.arange(6, dtype="float32"), (3, 2))

    def added(carry: Any, row: Any) -> Any:
        return carry + row, carry * row

    return {
        "associative_scan": ops.associative_scan(ops.add, x),
        "associative_scan backwards": ops.associative_scan(ops.add, x, reverse=True),
        "cond": ops.cond(ops.sum(x) > 1, lambda: x, lambda: -x),
        "fori_loop": ops.fori_loop(1, 4, lambda i, value: value * i, ops.ones((2,))),
        "map": ops.map(lambda row: row * 2, x),
        "scan": ops.scan(added, ops.zeros((2,)), x),
        "scan backwards": ops.scan(added, ops.zeros((2,)), x, reverse=True),
        "switch": ops.switch(1, [lambda v: v, lambda v: v * 3], x),
        "vectorized_map": ops.vectorized_map(ops.sum, x),
        "while_loop": ops.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v + i), (0, x)),
    }


def test_functions_of_functions() -> None:
    mine, theirs = steps(ours), steps(keras)
    for name, result in mine.items():
        pairs = zip(flatten(result), flatten(theirs[name]), strict=True)
        for value, other in pairs:
            np.testing.assert_allclose(np.asarray(value), np.asarray(other), err_msg=name)


def test_facts_of_tensors() -> None:
    x = ours.Input((3,))
    assert ours.ops.shape(x) == (None, 3)
    assert ours.ops.ndim(x) == 2
    assert ours.ops.dtype(x) == "float32"
    assert ours.ops.is_tensor(wt.ones(2))
    assert not ours.ops.is_tensor([1.0])
    assert ours.ops.convert_to_numpy(wt.ones(2)).tolist() == [1.0, 1.0]
    assert ours.ops.cast([1.5], "int64").dtype == "int32"


@pytest.mark.parametrize("dtype", ["uint8", "float64", "int64", "U1", "bool"])
def test_convert_to_numpy_keeps_the_dtype_of_arrays(dtype: str) -> None:
    for x in (np.array([[0, 1]]).astype(dtype), np.array(1).astype(dtype)[()]):
        array, expected = (library.ops.convert_to_numpy(x) for library in (ours, keras))
        assert array.dtype == expected.dtype
        assert array.tolist() == expected.tolist()
        assert array is not x


def test_gradients_stop() -> None:
    x = wt.tensor([1.0, 2.0])
    gradient = wt.grad(lambda x: wt.sum(ours.ops.stop_gradient(x) * x))(x)
    assert gradient.tolist() == [1.0, 2.0]


def test_custom_gradients() -> None:
    @ours.ops.custom_gradient  # type: ignore[untyped-decorator]
    def doubled(x: Any) -> Any:
        return x * 2, lambda upstream: upstream * 5

    assert wt.grad(lambda x: wt.sum(doubled(x)))(wt.ones(2)).tolist() == [5.0, 5.0]


def test_few_heads_of_keys_are_shared() -> None:
    rng = np.random.default_rng(3)
    query, key, value = (wt.tensor(rng.normal(size=(2, 3, n, 5))) for n in (4, 2, 2))
    attend = ours.ops.dot_product_attention
    expected = attend(query, wt.repeat(key, 2, axis=2), wt.repeat(value, 2, axis=2))
    assert_close(np.asarray(attend(query, key, value)), np.asarray(expected), rtol=1e-5)


@pytest.mark.parametrize(
    "name, args",
    [
        ("array_split", [np.int64(3)]),
        ("moveaxis", [np.int64(0), np.int64(1)]),
        ("reshape", [np.int64(6)]),
        ("roll", [np.int64(1), np.int64(0)]),
        ("split", [np.int64(2)]),
        ("tile", [np.int64(2)]),
    ],
)
def test_integers_may_be_numpys(name: str, args: list[Any]) -> None:
    x = np.arange(6.0, dtype="float32").reshape(2, 3)
    expected = getattr(np, name)(x, *args)
    computed = getattr(ours.ops, name)(x, *args)
    for part, expected_part in zip(computed, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(part), expected_part)


def test_patches_are_those_of_keras() -> None:
    x = np.random.default_rng(4).normal(size=(2, 7, 6, 3)).astype("float32")
    for options in ({"size": 2}, {"size": (3, 2), "strides": 1, "padding": "same"}):
        expected = keras.ops.image.extract_patches(x, **options, data_format="channels_last")
        same(ours.ops.image.extract_patches(x, **options), np.asarray(expected))
    assert ours.ops.image.extract_patches(x, np.int64(2)).shape == (2, 3, 3, 12)
    assert ours.ops.image.extract_patches(x, np.array([2, 3])).shape == (2, 3, 2, 18)


def test_a_size_may_be_an_array() -> None:
    assert ours.ops.image.resize(np.ones((4, 4, 1)), np.array([2, 3])).shape == (2, 3, 1)
    strides: Any = np.array([1, 2])
    convolution = ours.layers.Conv2D(1, 2, strides=strides)
    assert convolution(np.ones((1, 4, 4, 1))).shape == (1, 3, 2, 1)


def test_operators_of_symbolic_tensors() -> None:
    begin()

    def used(module: Any) -> Any:
        x = module.Input((4,))
        y = 1 - (x + 2) * x / 3 // 2 % 5 + (-x) ** 2 + abs(x)
        return module.Model(x, module.ops.where((y > 1) & ~(y <= 3) | (x != 2), y, x[:, ::-1]))

    assert json.loads(used(ours).to_json()) == json.loads(used(keras).to_json())


def test_unknown_lengths_stay_unknown() -> None:
    x = ours.Input((None, None, 3))
    assert ours.ops.conv(x, wt.ones((5, 5, 3, 2))).shape == (None, None, None, 2)
    assert ours.ops.reshape(x, (-1, 3)).shape == (None, 3)
    assert (x + wt.ones((1, 4, 3))).shape == (None, None, 4, 3)
    assert x[:, 5:, 7].shape == (None, None, 3)
    assert ours.ops.top_k(ours.Input((None,)), 6)[0].shape == (None, 6)


def s(*shape: int | None) -> Any:
    """A symbolic tensor."""
    return ours.KerasTensor(shape)


@pytest.mark.parametrize(
    "name, args, options, shape",
    [
        ("dot", [s(None, 3), s(None, None, 2)], {}, (None, None, 2)),
        ("einsum", ["ij,jk->ik", s(None, 3), s(None, None)], {}, (None, None)),
        ("inner", [s(None), s(3)], {}, ()),
        ("split", [s(None, 4), 4], {}, [(None, 4)] * 4),
        ("array_split", [s(None, 4), 2], {}, [(None, 4)] * 2),
        ("rearrange", [s(None, 8), "(b c) (h w) -> b h (w c)"], {"c": 3, "h": 2}, (None, 2, 12)),
        ("max_pool", [s(None, None, 3), 16], {}, (None, None, 3)),
        ("rfft", [s(None, None)], {}, [(None, None)] * 2),
        ("nonzero", [s(None, 3)], {}, [(None,)] * 2),
        ("slice", [s(None, 3), (1, 1), (-1, -1)], {}, (None, 2)),
        ("unique", [s(None, 3)], {"axis": 1, "return_index": True}, [(None, None), (None,)]),
    ],
)
def test_unknown_lengths_that_have_to_fit(
    name: str, args: Any, options: dict[str, Any], shape: Any
) -> None:
    outputs = flat(getattr(ours.ops, name)(*args, **options))
    assert [output.shape for output in outputs] == (shape if isinstance(shape, list) else [shape])


@pytest.mark.parametrize(
    "name, shape, args, options",
    [
        ("split", (None, 4), [[1, 3]], {}),
        ("split", (None, None), [[1, 3]], {"axis": -1}),
        ("split", (None, 4), [[2]], {"axis": 1}),
        ("split", (None, 4), [100], {}),
        ("split", (None, 6), [3], {"axis": 1}),
        ("array_split", (None, 4), [3], {}),
        ("hsplit", (None,), [[1, 3]], {}),
        ("hsplit", (2, None), [[1, 3]], {}),
        ("vsplit", (None, 4), [[1, 3]], {}),
        ("dsplit", (2, 3, None), [[1, 3]], {}),
        ("diag", (None,), [], {"k": 3}),
        ("diag", (3,), [], {"k": -2}),
        ("diag", (None, 5), [], {"k": 3}),
        ("diag", (5, None), [], {"k": -3}),
        ("diag", (4, 5), [], {"k": 3}),
        ("diagonal", (None, 5), [], {"offset": 3}),
        ("diagonal", (None, 4, 5), [], {"offset": 3, "axis1": 1, "axis2": 2}),
        ("diagonal", (2, 4, None), [], {"offset": -2, "axis1": 1, "axis2": 2}),
        ("bincount", (7,), [], {}),
        ("bincount", (2, 7), [], {"minlength": 3}),
        ("bincount", (None, 7), [], {}),
        ("stft", (2, None), [16, 8, 16], {"center": False}),
        ("extract_sequences", (None, None), [1024, 8], {}),
    ],
)
def test_unknown_sizes_are_those_of_keras(
    name: str, shape: Any, args: list[Any], options: dict[str, Any]
) -> None:
    dtype = "int32" if name == "bincount" else "float32"
    outputs = [
        flat(getattr(module.ops, name)(module.KerasTensor(shape, dtype), *args, **options))
        for module in (ours, keras)
    ]
    mine, theirs = ([(leaf.shape, str(leaf.dtype)) for leaf in leaves] for leaves in outputs)
    assert mine == theirs


def test_no_function_is_missing() -> None:
    #: Why functions are not here.
    without = {
        "eig": "eigenvalues of other than symmetric matrices are not computed",
        "view": "the bits of dtypes that are held in others are not to be seen",
    }
    for space in ("ops", "ops.image", "ops.linalg", "ops.nn", "ops.numpy", "random"):
        theirs, mine = function(keras, space), function(ours, space)
        names = {public_name for public_name in dir(theirs) if not public_name.startswith("_")}
        assert {name for name in names if not hasattr(mine, name)} <= without.keys(), space


def test_directional_derivatives() -> None:
    def both(x: Any, y: Any) -> Any:
        return {"product": x * y, "wave": ours.ops.sin(x), "constant": wt.ones((2,))}

    x, y = wt.tensor([1.0, 2.0]), wt.tensor([3.0, -1.0])
    dx, dy = wt.tensor([0.5, 1.0]), wt.tensor([2.0, 4.0])
    value, moved = ours.ops.jvp(both, (x, y), (dx, dy))
    np.testing.assert_allclose(np.asarray(value["product"]), [3, -2])
    np.testing.assert_allclose(np.asarray(moved["product"]), [3.5, 7])
    assert_close(np.asarray(moved["wave"]), np.cos([1, 2]) * [0.5, 1], rtol=1e-6)
    assert moved["constant"].tolist() == [0, 0]
    cubed = ours.ops.jvp(lambda x: (x**3, "beside"), (x,), (dx,), has_aux=True)
    np.testing.assert_allclose(np.asarray(cubed[1]), [1.5, 12])
    assert cubed[2] == "beside"
    symbols = ours.ops.jvp(ours.ops.exp, (ours.Input((3,)),), (ours.Input((3,)),))
    assert [symbol.shape for symbol in symbols] == [(None, 3)] * 2


def test_vectorized_functions() -> None:
    rng = np.random.default_rng(5)
    a, b = (rng.normal(size=shape).astype("float32") for shape in ((2, 1, 3, 4), (5, 4)))
    signature = "(m,n),(n)->(m)"
    mine = ours.ops.vectorize(ours.ops.matmul, signature=signature)(wt.tensor(a), wt.tensor(b))
    expected = keras.ops.vectorize(keras.ops.matmul, signature=signature)(a, b)
    assert_close(np.asarray(mine), np.asarray(expected), rtol=1e-5)
    powers = ours.ops.vectorize(lambda x, n: x**n, excluded={1})(wt.tensor([1.0, 3.0]), 2)
    assert powers.tolist() == [1.0, 9.0]


def test_losses_of_sequences() -> None:
    rng = np.random.default_rng(6)
    labels = np.array([[1, 2, 2], [3, 0, 0], [1, 1, 3], [1, 0, 2]], "int32")
    logits = rng.normal(size=(4, 9, 4)).astype("float32")
    lengths: Any = [3, 1, 3, 2], [9, 6, 8, 7]
    mine = ours.ops.ctc_loss(labels, wt.tensor(logits), *lengths)
    expected = keras.ops.ctc_loss(labels, logits, *map(np.int32, lengths))
    assert_close(np.asarray(mine), np.asarray(expected), rtol=1e-4)


def test_flow_of_symbolic_tensors() -> None:
    x, flag = ours.Input((3,)), ours.Input((), batch_size=1, dtype="bool")
    choice = ours.ops.cond(flag, lambda: wt.ones((2,)), lambda: wt.zeros((2,)))
    assert choice.shape == (2,)
    with pytest.raises(ValueError, match="cond: true_fn and false_fn must return the same shapes"):
        ours.ops.cond(flag, lambda: wt.ones((2,)), lambda: wt.ones((3,)))
    doubled = ours.ops.vectorized_map(lambda row: row * 2, x)
    looped = ours.ops.while_loop(lambda i: ours.ops.all(i < 9), lambda i: i + 1, doubled)
    model: Any = ours.Model(x, looped)
    assert model.output_shape == (None, 3)
    assert model(wt.tensor([[1.0, 2.0, 4.0]])).tolist() == [[3.0, 5.0, 9.0]]


def test_elastic_transforms_move_pixels() -> None:
    ramp = np.broadcast_to(np.arange(60, dtype="float32")[:, None], (1, 60, 60))[..., None]
    transform = ours.ops.image.elastic_transform
    with pytest.raises(ValueError, match=r"elastic_transform: fill_mode must be .* 'edge'"):
        transform(ramp, fill_mode="edge")
    mine = transform(wt.tensor(ramp), 4.0, 2.0, seed=3, data_format="channels_last")
    moves = (np.asarray(mine) - ramp)[0, 15:-15, 15:-15]
    # Blurred noise with a standard deviation of sigma has one of 1 / (2 √π), about.
    assert 0.7 < moves.std() / (4 / (2 * np.pi**0.5)) < 1.3
    with pytest.raises(ValueError, match="interpolation must be 'bilinear' or 'nearest'"):
        transform(wt.tensor(ramp), interpolation="cubic")


@pytest.mark.parametrize(
    "name, args, options, message",
    [
        ("reshape", [(2, 6), (5, -1)], {}, r"reshape: x of shape \(2, 6\) has no shape \(5, -1\)"),
        ("add", [(2, 3), (2, 4)], {}, r"'add\w*': shapes \(2, 3\) and \(2, 4\) do not broadcast"),
        ("get_item", [(2, 3), (0, 5)], {}, r"index 5 is out of range for an axis of size 3"),
        ("squeeze", [(2, 3)], {"axis": 1}, r"axis 1 of shape \(2, 3\) does not have size 1"),
        ("max_pool", [(2, 5, 5, 3), 0], {}, "pool_size must be a positive integer or 2 of them"),
        ("conv", [(2, 5, 5, 3), (3, 3, 3, 4)], {"padding": "sane"}, "padding must be 'valid' or"),
        ("pad", [(2, 3), 1], {"mode": "wrapped"}, "mode must be one of"),
        ("one_hot", [(2,)], {"num_classes": 3, "sparse": True}, "sparse must be False"),
        ("squeeze", [(None, 3)], {"axis": 0}, r"axis 0 of shape \(None, 3\) does not have size 1"),
        ("get_item", [(2, 3), (..., ...)], {}, "more than one ellipsis"),
        ("swapaxes", [(2, 3), 0, 5], {}, "axis 5"),
        ("softmax", [(2, 3)], {"axis": 2}, "axis 2"),
        ("normalize", [(2, 3)], {"order": 1.5}, "order must be a positive integer"),
        ("cast", [(2, 3), "float3"], {}, "there is no dtype 'float3'"),
        ("depth_to_space", [(2, 4, 4, 4), 1], {}, "block_size must be at least 2"),
        ("rearrange", [(2, 3), "a b -> c"], {}, "must have the same names on both sides"),
        ("unfold", [(1, 1, 3, 3), 10**9], {}, r"no window of kernel_size=1000000000 .*\(3, 3\)"),
        ("array_split", [(2, 3), 10**9], {}, "indices_or_sections must be from 1 to 65536"),
        ("stft", [(2, 9), 4, 0, 4], {}, "sequence_stride must be a positive integer"),
        ("fft", [(2, 9)], {}, "x must be a tuple of two tensors, the real and the imaginary parts"),
        ("batch_normalization", [(2, 3), [0.0], [1.0], -1], {}, "mean must be a vector of"),
    ],
)
def test_wrong_symbolic_arguments(
    name: str, args: Any, options: dict[str, Any], message: str
) -> None:
    shapes = 2 if name in ("add", "conv") else 1
    inputs = [ours.Input(batch_shape=argument) for argument in args[:shapes]]
    with pytest.raises(ValueError, match=message):
        getattr(ours.ops, name)(*inputs, *args[shapes:], **options)


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match="no function 'matmull'; did you mean 'matmul'"):
        ours.ops.matmull  # noqa: B018
    with pytest.raises(ValueError, match="no operation 'System' in the module 'core'"):
        deserialize_keras_object(
            {"module": "keras.src.ops.core", "class_name": "System", "config": {}}
        )


TABLES = [
    ours.ops.core,
    ours.ops.einops,
    ours.ops.image,
    ours.ops.linalg,
    ours.ops.math,
    ours.ops.nn,
    ours.ops.numpy,
]


@pytest.mark.parametrize("module", TABLES, ids=lambda module: module.TABLE.home)
def test_operations_are_those_of_keras(module: Any) -> None:
    table = module.TABLE
    theirs = import_module(table.home)
    for name, row in table.rows.items():
        if row.is_plain:
            continue
        mine = table.operation(name)
        kind = getattr(theirs, mine.__name__)
        taken = set(signature(kind.__init__).parameters) - {"self", "name", "kwargs"}
        assert set(row.config) == taken, name
        called = [
            parameter
            for parameter in signature(kind.call).parameters
            if parameter not in ("self", "kwargs")
        ]
        assert row.operands == called, name


def test_signatures_are_those_of_keras() -> None:
    for name in ours.ops.__all__:
        mine = getattr(ours.ops, name)
        theirs = getattr(keras.ops, name, None)
        if not callable(mine) or theirs is None:
            continue
        accepted = [
            (parameter.name, parameter.default) for parameter in signature(mine).parameters.values()
        ]
        expected = [
            (parameter.name, parameter.default)
            for parameter in signature(theirs).parameters.values()
        ]
        if name not in ("einsum", "layer_normalization", "multi_hot"):  # deprecated ones beside
            assert accepted == expected, name


def test_errors_about_arguments_name_the_function() -> None:
    """Not the function within ``keras.ops`` that makes it."""
    for name in ("sum", "argmax", "cumsum", "max", "zeros", "ones_like", "max_pool", "segment_max"):
        with pytest.raises(TypeError) as raised:
            getattr(ours.ops, name)([1.0], dim=0)
        message = f"{name}() got an unexpected keyword argument 'dim'; its signature is {name}("
        assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    "call",
    [
        lambda k, x: k.ops.expand_dims(x, -1),
        lambda k, x: k.ops.reshape(x, (-1, 1)),
        lambda k, x: k.ops.concatenate([x, x]),
        lambda k, x: k.ops.equal(x, "a"),
        lambda k, x: k.ops.transpose(x),
    ],
)
def test_symbolic_texts_as_in_keras(call: Any) -> None:
    mine, theirs = (call(k, k.Input((2,), dtype="string")) for k in (ours, keras))
    assert (mine.shape, str(mine.dtype)) == (theirs.shape, str(theirs.dtype))


def test_layers_get_texts_by_functions() -> None:
    x = ours.Input((), dtype="string")
    encoded = ours.layers.TextVectorization(vocabulary=["a"])(ours.ops.expand_dims(x, -1))
    assert ours.Model(x, encoded)(wt.tensor(["a b", "c"])).tolist() == [[2, 1], [1, 0]]


def complex_numbers(*shape: int) -> Any:
    parts = np.random.default_rng(1).normal(size=(2, *shape)).astype(np.float32)
    return parts[0] + 1j * parts[1]


SQUARE, COLUMNS, VECTOR = complex_numbers(3, 3), complex_numbers(3, 2), complex_numbers(3)
HERMITIAN = SQUARE @ SQUARE.conj().T + np.eye(3, dtype=np.complex64)
FACTOR = np.linalg.cholesky(HERMITIAN)


@pytest.mark.parametrize(
    "name, arguments, expected",
    [
        ("cholesky", (HERMITIAN,), FACTOR),
        ("cholesky_inverse", (FACTOR,), np.linalg.inv(HERMITIAN)),
        ("det", (SQUARE,), np.linalg.det(SQUARE)),
        ("inv", (SQUARE,), np.linalg.inv(SQUARE)),
        ("lstsq", (COLUMNS, VECTOR), np.linalg.lstsq(COLUMNS, VECTOR)[0]),
        ("matrix_rank", (np.outer(VECTOR, VECTOR),), 1),
        ("norm", (SQUARE,), np.linalg.norm(SQUARE)),
        ("norm", (VECTOR, 1), np.linalg.norm(VECTOR, 1)),
        ("pinv", (COLUMNS,), np.linalg.pinv(COLUMNS)),
        ("solve", (SQUARE, VECTOR.real), np.linalg.solve(SQUARE, VECTOR.real)),
        ("solve_triangular", (SQUARE, COLUMNS), np.linalg.solve(np.triu(SQUARE), COLUMNS)),
        ("svd", (SQUARE, True, False), np.linalg.svd(SQUARE, compute_uv=False)),
    ],
)
def test_matrices_may_be_complex(name: str, arguments: tuple[Any, ...], expected: Any) -> None:
    result = getattr(ours.ops.linalg, name)(*arguments)
    assert_close(result.numpy(), np.asarray(expected), rtol=1e-3)


#: Functions of real numbers, by the number of vectors that they take.
OF_REALS = {
    1: """corrcoef gelu histogram i0 layer_normalization log_softmax median nanmean normalize
        rms_normalization softmax sparsemax squareplus trapezoid""",
    2: """binary_crossentropy correlate geomspace linspace logspace mean_squared_error polar
        quantile""",
}


@pytest.mark.parametrize(
    "name, arguments",
    [
        *((name, (VECTOR,) * count) for count, names in OF_REALS.items() for name in names.split()),
        ("fft", ((VECTOR, VECTOR),)),
        ("max_pool", (SQUARE[None], 2)),
        ("psnr", (VECTOR, VECTOR, 1.0)),
    ],
)
def test_imaginary_parts_are_not_lost(name: str, arguments: tuple[Any, ...]) -> None:
    function = getattr(ours.ops, name, None) or getattr(ours.losses, name)
    with pytest.raises(TypeError, match="must hold real numbers, but it is complex64"):
        function(*arguments)


@pytest.mark.parametrize("name", ["quantile", "nanquantile", "percentile", "nanpercentile"])
def test_quantiles_out_of_range_are_nan(name: str) -> None:
    last = 1.0 if name.endswith("quantile") else 100.0
    numbers = [-0.1, last, 1.1 * last, wt.nan]
    result = getattr(ours.ops, name)([1.0, 2.0, 3.0], numbers, method="lower")
    np.testing.assert_array_equal(result.numpy(), [np.nan, 3.0, np.nan, np.nan])


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nancumsum", "nancumprod", "nan_to_num"])
def test_nan_in_complex_numbers(name: str) -> None:
    x = np.array([2 + 1j, complex(np.nan, 1), complex(1, np.nan), 1 + 3j], np.complex64)
    if name == "nan_to_num":
        x[-1] = complex(-np.inf, np.inf)
    expected = getattr(np, name)(x)
    np.testing.assert_allclose(getattr(ours.ops, name)(x).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "name, x",
    [("vsplit", [1.0, 2.0]), ("dsplit", [[1.0, 2.0]]), ("hsplit", 1.0)],
)
def test_splits_of_too_few_axes_are_refused_as_in_numpy(name: str, x: Any) -> None:
    with pytest.raises(ValueError, match="or more axes"):
        getattr(ours.ops, name)(x, 1)


@pytest.mark.parametrize("name", ["isneginf", "isposinf"])
def test_signed_infinities_of_complex_numbers_are_refused_as_in_numpy(name: str) -> None:
    with pytest.raises(TypeError, match="complex64"):
        getattr(ours.ops, name)([1 + 1j])
