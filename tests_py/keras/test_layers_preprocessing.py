"""Preprocessing of numbers and images, beside Keras's. ``test_layers_text`` has that of texts."""

import json
from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.closeness import assert_close
from tests_py.keras.layer_cases import Case, check, plain
from webtensor import keras as ours

RNG = np.random.default_rng(0)
IMAGES = RNG.uniform(0, 255, (2, 6, 8, 3)).astype("float32")
WHOLE = RNG.integers(0, 256, (2, 5, 7, 3)).astype("int32")
NUMBERS = np.array([[0, 2], [3, 3], [1, 4]], "int32")
COLUMN = np.array([[1], [0], [2]], "int32")
CUBE = RNG.integers(0, 5, (2, 3, 4)).astype("int32")
SCALED = RNG.normal(0, 1, (4, 3)).astype("float32")

RESIZING: list[dict[str, Any]] = [
    *(
        {"interpolation": interpolation}
        for interpolation in ("bilinear", "nearest", "bicubic", "lanczos3")
    ),
    {"interpolation": "lanczos5", "antialias": True},
    {"antialias": True},
    {"interpolation": "bicubic", "antialias": True, "data_format": "channels_first"},
    {"crop_to_aspect_ratio": True},
    {"pad_to_aspect_ratio": True, "fill_value": 3.0, "name": "padded"},
]
SIZES = [(4, 4), (9, 5), (3, 12)]
CROPS = [(4, 5), (6, 8), (10, 4), (9, 12), (3, 11)]
AUGMENTATION: list[tuple[str, dict[str, Any]]] = [
    ("RandomFlip", {}),
    ("RandomFlip", {"mode": "horizontal", "data_format": "channels_first"}),
    ("RandomRotation", {"factor": 0.25}),
    ("RandomRotation", {"factor": [-0.1, 0.2], "fill_mode": "constant", "fill_value": 2.0}),
    ("RandomZoom", {"height_factor": 0.25, "interpolation": "nearest"}),
    ("RandomZoom", {"height_factor": (-0.2, 0.2), "width_factor": 0.5, "fill_mode": "wrap"}),
    ("RandomTranslation", {"height_factor": 0.25, "width_factor": (0.1, 0.2)}),
    ("RandomContrast", {"factor": 0.25}),
    ("RandomContrast", {"factor": (0.25, 0.5), "value_range": (0, 1)}),
    ("RandomBrightness", {"factor": 0.25, "value_range": [1, 0]}),
]

CASES = [
    Case("Rescaling", {"scale": 0.5}, (2, 3)),
    Case("Rescaling", {"scale": 2, "offset": -1.0}, WHOLE),
    Case("Rescaling", {"scale": [0.5, 1, 2], "offset": [1.0, 0.0, -1.0], "name": "s"}, (2, 4, 3)),
    Case("Normalization", {}, SCALED),
    Case("Normalization", {"axis": None}, SCALED),
    Case("Normalization", {"mean": 1.0, "variance": 4.0}, SCALED),
    Case("Normalization", {"mean": [1.0, 2, 3], "variance": [4.0, 0, 1], "invert": True}, SCALED),
    Case("Normalization", {"axis": (1, 2), "mean": [1.0, 2], "variance": [1.0, 4]}, (2, 3, 2)),
    Case("Normalization", {"axis": 1, "mean": [1.0, 2, 3], "variance": [1.0, 4, 2]}, (2, 3, 2)),
    *(
        Case("CategoryEncoding", {"num_tokens": 4, "output_mode": mode}, numbers)
        for mode in ("one_hot", "multi_hot", "count")
        for numbers in (NUMBERS, COLUMN)
    ),
    Case(
        "CategoryEncoding",
        {"num_tokens": 5, "output_mode": "count"},
        NUMBERS,
        {"count_weights": np.array([[0.5, 1], [2, 3], [1, 0]], "float32")},
    ),
    *(
        Case("Discretization", {"bin_boundaries": [-0.5, 1.0, 2.0], "output_mode": mode}, numbers)
        for mode, numbers in (
            ("int", (2, 3)),
            ("int", (2, 3, 2)),
            ("one_hot", NUMBERS),
            ("one_hot", COLUMN),
            ("multi_hot", NUMBERS),
            ("count", NUMBERS),
            ("count", CUBE),
        )
    ),
    *(
        Case("Resizing", {"height": height, "width": width, **config}, IMAGES)
        for config in RESIZING
        for height, width in SIZES
        if not config.get("antialias") or height == 4
    ),
    *(
        Case("Resizing", {"height": 3, "width": 9, **config}, WHOLE)
        for config in ({}, {"interpolation": "nearest"}, {"crop_to_aspect_ratio": True})
    ),
    *(Case("CenterCrop", {"height": height, "width": two}, IMAGES) for height, two in CROPS),
    Case("CenterCrop", {"height": 3, "width": 2, "data_format": "channels_first"}, IMAGES),
    *(
        Case(name, {**config, "seed": 5}, IMAGES, {"training": False})
        for name, config in AUGMENTATION
    ),
]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_as_in_keras(case: Case) -> None:
    check(case, rtol=1e-4, atol=1e-3 if case.inputs is IMAGES else 2e-5)


# -- numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["one_hot", "multi_hot", "count"])
def test_encoding_leaves_out_what_is_out_of_range(mode: str, backend: str) -> None:
    for numbers in (np.array([3, 9, -1], "int32"), np.array([[3, 9, -1]], "int32"), CUBE, 2):
        results = [
            np.asarray(module.layers.CategoryEncoding(4, mode)(numbers)) for module in (keras, ours)
        ]
        np.testing.assert_array_equal(results[1], results[0])


@pytest.mark.parametrize(
    "axis, shape",
    [(-1, (5, 3)), (None, (5, 3)), ((1, 2), (4, 3, 2)), (1, (4, 3, 2)), ((0, 1), (2, 3))],
)
def test_normalization_adapts_as_in_keras(axis: Any, shape: Any, backend: str) -> None:
    data = np.random.default_rng(1).normal(3, 2, shape).astype("float32")
    results = [module.layers.Normalization(axis) for module in (keras, ours)]
    theirs, layer = results
    theirs.build(shape)
    theirs.adapt_mean.assign(data.mean(theirs._reduce_axis))
    theirs.adapt_variance.assign(data.var(theirs._reduce_axis))
    theirs.finalize_state()
    layer.adapt(data)
    assert_close(np.asarray(layer.mean), np.asarray(theirs.mean), rtol=1e-5)
    assert_close(np.asarray(layer.variance), np.asarray(theirs.variance), rtol=1e-4)
    expected = np.asarray(theirs(data))
    np.testing.assert_allclose(np.asarray(layer(data)), expected, rtol=1e-3, atol=1e-5)
    batches = ours.layers.Normalization(axis)
    if axis is None or 0 not in np.atleast_1d(axis):
        batches.adapt(iter([data[:1], (data[1:3], None), data[3:]]))
        np.testing.assert_allclose(np.asarray(batches(data)), expected, rtol=1e-3, atol=1e-4)


def test_normalization_can_be_adapted_again_and_loaded(backend: str) -> None:
    layer = ours.layers.Normalization()
    x = wt.tensor([[1.0, 10.0], [3.0, 30.0]])
    layer.adapt(x * 5)
    layer.adapt(x)
    assert layer(x).tolist() == [[-1.0, -1.0], [1.0, 1.0]]
    store: dict[str, Any] = {}
    layer.save_own_variables(store)
    other = ours.layers.Normalization()
    other.build((None, 2))
    other.load_own_variables(store)
    assert other(x).tolist() == [[-1.0, -1.0], [1.0, 1.0]]
    inverse = ours.layers.Normalization(invert=True)
    inverse.adapt(x)
    assert inverse(layer(x)).tolist() == x.tolist()


@pytest.mark.parametrize(
    "shape, bins, epsilon",
    [((7,), 3, 0.01), ((400,), 5, 0.01), ((30, 9), 10, 0.05), ((2000,), 4, 0.1)],
)
def test_discretization_finds_the_boundaries_of_keras(
    shape: Any, bins: int, epsilon: float, backend: str
) -> None:
    data = np.random.default_rng(2).normal(0, 3, shape).astype("float32")
    theirs, layer = (
        module.layers.Discretization(num_bins=bins, epsilon=epsilon, name="bins")
        for module in (keras, ours)
    )
    for part in (data, data * 2):
        theirs.update_state(part)
        layer.update_state(part)
    theirs.finalize_state()
    layer.finalize_state()
    np.testing.assert_allclose(layer.bin_boundaries, theirs.bin_boundaries, rtol=1e-5, atol=1e-6)
    layer.bin_boundaries = theirs.bin_boundaries
    np.testing.assert_array_equal(np.asarray(layer(data)), np.asarray(theirs(data)))
    assert plain(layer.get_config()) == plain(theirs.get_config())
    again = ours.layers.Discretization.from_config(layer.get_config())
    assert again.bin_boundaries == layer.bin_boundaries


def test_discretization_adapts_to_batches(backend: str) -> None:
    first, second = (ours.layers.Discretization(num_bins=4) for _ in range(2))
    data = np.array([[-1.5, 1.0, 3.4, 0.5], [0.0, 3.0, 1.3, 0.0]], "float32")
    first.adapt(data)
    assert_close(first.bin_boundaries, [0.0, 0.5, 1.3], rtol=1e-6)
    second.adapt(iter([data, data * 100]), steps=1)
    assert second.bin_boundaries == first.bin_boundaries


# -- images: see ``test_layers_images``, too ---------------------------------------------------


@pytest.mark.parametrize("size, at", [((4, 5), (1, 2)), ((8, 3), (0, 2)), ((4, 8), (1, 0))])
def test_crops_as_in_keras(size: Any, at: Any, backend: str) -> None:
    theirs, layer = (module.layers.RandomCrop(*size, seed=1) for module in (keras, ours))
    expected = theirs.transform_images(keras.ops.convert_to_tensor(IMAGES), at)
    images = layer.transform_images(wt.tensor(IMAGES), at)
    assert_close(np.asarray(images), np.asarray(expected), rtol=1e-5)
    assert plain({**layer.get_config(), "name": ""}) == plain({**theirs.get_config(), "name": ""})
    assert layer.compute_output_shape((None, 9, 9, 1)) == (None, *size, 1)
    middle = [module.layers.RandomCrop(20, 9) for module in (keras, ours)]
    assert middle[0].get_random_transformation(IMAGES) == middle[1].get_random_transformation(
        IMAGES
    )


# -- images: what is drawn ---------------------------------------------------------------------


def test_half_of_the_images_are_mirrored(backend: str) -> None:
    x = np.tile(np.array([0.0, 1.0], "float32").reshape((1, 1, 2, 1)), (400, 1, 1, 1))
    y = np.asarray(ours.layers.RandomFlip("horizontal", seed=1)(x))
    assert 0.4 < (y[:, 0, 0, 0] == 1).mean() < 0.6
    assert (y.sum((1, 2, 3)) == 1).all()
    assert (np.asarray(ours.layers.RandomFlip("vertical", seed=1)(x)) == x).all()


RANGES: list[tuple[str, dict[str, Any], str, float, float]] = [
    ("RandomRotation", {"factor": 0.25}, "angle", -90, 90),
    ("RandomRotation", {"factor": (0.1, 0.2)}, "angle", 36, 72),
    ("RandomZoom", {"height_factor": (-0.5, 0.25)}, "height_zoom", 0.5, 1.25),
    ("RandomZoom", {"height_factor": 0.2, "width_factor": (0.1, 0.3)}, "width_zoom", 1.1, 1.3),
    ("RandomContrast", {"factor": (0.4, 0.8)}, "contrast_factor", 0.6, 1.8),
    ("RandomBrightness", {"factor": 0.1}, "rgb_delta", -25.5, 25.5),
]


@pytest.mark.parametrize("name, config, key, low, high", RANGES)
def test_numbers_are_drawn_from_their_ranges(
    name: str, config: dict[str, Any], key: str, low: float, high: float
) -> None:
    layer = getattr(ours.layers, name)(**config, seed=3)
    drawn = np.asarray(layer.get_random_transformation(wt.zeros((500, 4, 4, 1)))[key]).flatten()
    assert len(set(drawn.tolist())) > 490
    assert low <= drawn.min() < low + 0.05 * (high - low)
    assert high >= drawn.max() > high - 0.05 * (high - low)


def test_crops_are_drawn_from_all_places() -> None:
    layer = ours.layers.RandomCrop(3, 2, seed=1)
    x = wt.reshape(wt.arange(20.0), (1, 5, 4, 1))
    begins = {int(layer(x).flatten().tolist()[0]) for _ in range(200)}
    assert begins == {4 * row + column for row in range(3) for column in range(3)}


@pytest.mark.parametrize("name, config", [*AUGMENTATION, ("RandomCrop", {"height": 3, "width": 4})])
def test_each_call_draws_others_and_seeds_repeat(
    name: str, config: dict[str, Any], backend: str
) -> None:
    x = IMAGES / 255 if "value_range" in config else IMAGES
    first, second = (getattr(ours.layers, name)(**config, seed=11) for _ in range(2))
    drawn = [np.asarray(first(x)) for _ in range(6)]
    assert len({image.tobytes() for image in drawn}) > 1
    for image in drawn:
        np.testing.assert_array_equal(np.asarray(second(x)), image)
    transformations = [first.get_random_transformation(wt.tensor(x), seed=4) for _ in range(2)]
    assert repr(transformations[0]) == repr(transformations[1])


@pytest.mark.parametrize("name, config", [*AUGMENTATION, ("RandomCrop", {"height": 3, "width": 4})])
def test_one_image_is_as_a_batch_of_one(name: str, config: dict[str, Any], backend: str) -> None:
    first, second = (getattr(ours.layers, name)(**config, seed=2) for _ in range(2))
    single = np.asarray(first(IMAGES[0]))
    np.testing.assert_array_equal(np.asarray(second(IMAGES[:1]))[0], single)
    assert first.compute_output_shape((6, 8, 3)) == single.shape


def test_dictionaries_of_images_and_masks(backend: str) -> None:
    masks = np.arange(2 * 6 * 8, dtype="int32").reshape((2, 6, 8, 1)) % 3
    data = {"images": IMAGES, "segmentation_masks": masks, "labels": np.array([1, 2])}
    layer = ours.layers.RandomRotation((0.5, 0.5), seed=1)
    result = layer(data)
    np.testing.assert_allclose(np.asarray(result["images"]), IMAGES[:, ::-1, ::-1], atol=1e-2)
    np.testing.assert_array_equal(np.asarray(result["segmentation_masks"]), masks[:, ::-1, ::-1])
    assert np.asarray(result["labels"]).tolist() == [1, 2]
    dimmed = ours.layers.RandomBrightness((-0.1, -0.1))(data)
    np.testing.assert_array_equal(np.asarray(dimmed["segmentation_masks"]), masks)
    small = ours.layers.Resizing(3, 4)(data)
    assert small["segmentation_masks"].tolist() == masks[:, 1::2, 1::2].tolist()
    with pytest.raises(ValueError, match="bounding"):
        layer({**data, "bounding_boxes": {}})


def test_images_are_differentiated_through_warps(backend: str) -> None:
    layer = ours.layers.RandomTranslation((1.0, 1.0), 0.0, fill_mode="nearest")
    x = wt.reshape(wt.arange(4.0), (1, 4, 1, 1))
    assert wt.grad(lambda z: wt.sum(layer(z)))(x).flatten().tolist() == [4.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("name, axis", [("RandomHeight", 1), ("RandomWidth", 2)])
def test_random_lengths(name: str, axis: int, backend: str) -> None:
    layer = getattr(ours.layers, name)((-0.5, 0.5), seed=1)
    sizes = {layer(IMAGES).shape[axis] for _ in range(100)}
    length = IMAGES.shape[axis]
    assert sizes == set(range(length // 2, length + length // 2))
    assert layer(IMAGES, training=False).shape == IMAGES.shape
    shape = [None, 6, 8, 3]
    shape[axis] = None
    assert layer.compute_output_shape((None, 6, 8, 3)) == tuple(shape)
    again = type(layer).from_config(layer.get_config())
    assert again.get_config() == layer.get_config()


def test_pipelines_as_in_keras() -> None:
    def normalized_by(module: Any) -> Any:
        layers = [module.layers.Rescaling(0.5), module.layers.CenterCrop(2, 2)]
        return module.layers.Pipeline(layers, name="pipeline")

    keras.utils.clear_session(free_memory=False)
    theirs, layer = normalized_by(keras), normalized_by(ours)
    np.testing.assert_array_equal(np.asarray(layer(IMAGES)), np.asarray(theirs(IMAGES)))
    assert len(layer.layers) == 2
    again = ours.layers.Pipeline.from_config(plain(theirs.get_config()))
    assert plain(again.get_config()) == plain(theirs.get_config())
    back = keras.layers.Pipeline.from_config(plain(layer.get_config()))
    np.testing.assert_array_equal(np.asarray(back(IMAGES)), np.asarray(theirs(IMAGES)))
    quiet = ours.layers.Pipeline([ours.layers.RandomBrightness((0.1, 0.1))])
    assert (np.asarray(quiet(IMAGES, training=False)) == IMAGES).all()


def test_parts_of_a_pipeline_are_built_for_any_batch_as_in_keras() -> None:
    def file(module: Any) -> Any:
        layers = [module.layers.Rescaling(2.0), module.layers.Dense(3, name="dense")]
        x = module.Input((4,))
        model = module.Model(x, module.layers.Pipeline(layers)(x))
        pipeline = json.loads(model.to_json())["config"]["layers"][1]
        return [layer["build_config"] for layer in pipeline["config"]["layers"]]

    assert file(ours) == file(keras) == 2 * [{"input_shape": [None, 4]}]


@pytest.mark.filterwarnings("ignore:Layer 'pipeline.*:UserWarning")  # Keras's
def test_a_pipeline_hands_its_mask_on() -> None:
    x, mask = np.ones((1, 3), "float32"), np.array([[True, False, True]])
    result, expected = (
        module.layers.Pipeline([module.layers.Softmax(), module.layers.Rescaling(2.0)])(
            x, mask=mask
        )
        for module in (ours, keras)
    )
    np.testing.assert_allclose(np.asarray(result), np.asarray(expected))


@pytest.mark.parametrize("module", [ours, keras])
def test_a_layer_that_makes_a_mask_hands_it_on(module: Any) -> None:
    class Positive(module.layers.Layer):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            return x * 1.0

        def compute_mask(self, x: Any, mask: Any = None) -> Any:
            return x > 0

    layer = Positive()
    assert layer.supports_masking
    result = module.layers.Pipeline([layer, module.layers.Softmax()])(np.array([[1.0, -1.0, 1.0]]))
    np.testing.assert_allclose(np.asarray(result), [[0.5, 0.0, 0.5]])


# -- wrong arguments ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, error, match",
    [
        (lambda k: k.CategoryEncoding(), ValueError, "num_tokens"),
        (lambda k: k.CategoryEncoding(0), ValueError, "num_tokens"),
        (lambda k: k.CategoryEncoding(3, "hot"), ValueError, "output_mode"),
        (
            lambda k: k.CategoryEncoding(3)(NUMBERS, count_weights=np.ones((3, 2))),
            ValueError,
            "count_weights",
        ),
        (lambda k: k.Discretization(), ValueError, "num_bins"),
        (lambda k: k.Discretization([1.0], 3), ValueError, "num_bins"),
        (lambda k: k.Discretization(num_bins=-1), ValueError, "num_bins"),
        (lambda k: k.Discretization([1.0]).adapt(SCALED), ValueError, "bin_boundaries"),
        (lambda k: k.Discretization([1.0], output_mode="hot"), ValueError, "output_mode"),
        (lambda k: k.Discretization(num_bins=3)(SCALED), ValueError, "bin_boundaries"),
        (lambda k: k.Normalization(mean=1.0), ValueError, "variance"),
        (lambda k: k.Normalization(mean=[1.0], variance=1.0), ValueError, "shape"),
        (lambda k: k.Normalization(axis=3)(SCALED), ValueError, "axis"),
        (lambda k: k.Resizing(2, 2, "cubic")(IMAGES), ValueError, "interpolation"),
        (
            lambda k: k.Resizing(2, 2, crop_to_aspect_ratio=True, pad_to_aspect_ratio=True)(IMAGES),
            ValueError,
            "aspect_ratio",
        ),
        (lambda k: k.Resizing(2, 2, fill_mode="wrap")(IMAGES), ValueError, "fill_mode"),
        (lambda k: k.Resizing(2, 2, data_format="last"), ValueError, "data_format"),
        (lambda k: k.RandomRotation(2), ValueError, "factor"),
        (lambda k: k.RandomRotation((2, 3)), ValueError, "factor"),
        (lambda k: k.RandomRotation(0.1, fill_mode="edge"), NotImplementedError, "fill_mode"),
        (lambda k: k.RandomZoom(-1), ValueError, "factor"),
        (lambda k: k.RandomZoom(0.1, (0.1, 0.2, 0.3)), ValueError, "width_factor"),
        (
            lambda k: k.RandomTranslation(0.1, 0.1, interpolation="cubic"),
            NotImplementedError,
            "interpolation",
        ),
        (lambda k: k.RandomTranslation(2, 0.1), ValueError, "factor"),
        (lambda k: k.RandomContrast(-0.5), ValueError, "factor"),
        (lambda k: k.RandomBrightness(0.5, value_range=3), ValueError, "value_range"),
        (lambda k: k.RandomBrightness(0.5)(np.ones((3, 3))), ValueError, "rank"),
        (lambda k: k.Pipeline.from_config({"name": "a"}), ValueError, "layers"),
    ],
)
def test_errors_as_in_keras(make: Any, error: type[Exception], match: str) -> None:
    for module in (keras, ours):
        with pytest.raises(error, match=match):
            make(module.layers)


@pytest.mark.parametrize(
    "make, error, match",
    [
        (lambda k: k.Normalization().adapt(iter([])), ValueError, "data"),
        (lambda k: k.Normalization().adapt([1.0]), TypeError, "batches"),
        (lambda k: k.Normalization().adapt(3), TypeError, "data"),
        (lambda k: k.RandomFlip("diagonal"), ValueError, "mode"),
        (lambda k: k.RandomCrop(0, 3), ValueError, "height"),
        (lambda k: k.CenterCrop(3, 2.5), ValueError, "width"),
        (lambda k: k.RandomHeight(-2), ValueError, "factor"),
        (lambda k: k.RandomWidth(0.2, "cubic"), ValueError, "interpolation"),
        (lambda k: k.CategoryEncoding(3, sparse=True), ValueError, "sparse"),
    ],
)
def test_other_errors(make: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        make(ours.layers)
