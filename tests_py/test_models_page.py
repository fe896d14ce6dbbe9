"""What the page of models decides without a browser: shapes of inputs, and views of outputs."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

MODULES = Path(__file__).resolve().parent.parent / "web" / "models"


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The page's modules can be imported; they are forgotten after the test."""
    monkeypatch.syspath_prepend(MODULES)
    monkeypatch.setitem(sys.modules, "js", ModuleType("js"))
    yield
    for name in ("filling", "specifications", "views"):
        sys.modules.pop(name, None)


@pytest.fixture
def filling(modules: None) -> Any:
    """The module that fills inputs."""
    return import_module("filling")


@pytest.fixture
def views(modules: None) -> Any:
    """The module that shows outputs."""
    return import_module("views")


@pytest.mark.parametrize(
    "shape, usual",
    [
        ((None, 224, 224, 3), (1, 224, 224, 3)),
        ((None, None, None, 3), (1, 256, 256, 3)),
        ((None, 3, None, None), (1, 3, 256, 256)),
        ((None, None, 1), (256, 256, 1)),
        ((None, 128), (1, 128)),
        ((None, None), (1, 16)),
        ((None, None, 64), (1, 16, 64)),
        ((), ()),
        (None, ()),
    ],
)
def test_unknown_sizes_are_those_of_one_example(filling: Any, shape: Any, usual: Any) -> None:
    assert filling.usual_shape(shape) == usual


def test_pictures_of_the_site_have_their_sizes(filling: Any) -> None:
    assert filling.usual_shape((None, None, None, 3), (213, 320)) == (1, 213, 320, 3)
    assert filling.usual_shape((None, 3, None, None), (213, 320)) == (1, 3, 213, 320)


@pytest.mark.parametrize(
    "shape, layout",
    [
        ((1, 8, 9, 3), (8, 9, 3, (0, 1, 2))),
        ((2, 3, 8, 9), (8, 9, 3, (2, 0, 1))),
        ((8, 9, 1), (8, 9, 1, (0, 1, 2))),
        ((4, 8, 9), (8, 9, 4, (2, 0, 1))),
        ((1, 8, 9, 5), None),
        ((8, 9), None),
        ((), None),
    ],
)
def test_pictures_are_told_by_their_channels(filling: Any, shape: Any, layout: Any) -> None:
    assert filling.picture_layout(shape) == layout


@pytest.mark.parametrize(
    "shape, dtype, ways",
    [
        ((None, 8, 8, 1), "float32", ["picture", "noise", "constant"]),
        ((None, 5), "float32", ["noise", "constant"]),
        ((), "float32", ["constant", "noise"]),
        (None, "float32", ["constant", "noise", "picture"]),
        ((None,), "string", ["text"]),
    ],
)
def test_inputs_are_filled_by_what_suits_them(
    filling: Any, shape: Any, dtype: str, ways: list[str]
) -> None:
    assert filling.ways_of(filling.Specification("x", shape, dtype)) == ways


@pytest.mark.parametrize("text", ["1, 8, 3", "1,8,3", "1 × 8 × 3", "1x8x3", " 1 8 3 "])
def test_shapes_may_be_written_in_several_ways(filling: Any, text: str) -> None:
    assert filling.shape_of(text, filling.Specification("x", (None, 8, None), "float32")) == (
        1,
        8,
        3,
    )


@pytest.mark.parametrize(
    "text, message",
    [
        ("1, 9, 3", "x: the shape must be ? × 8 × ?"),
        ("1, 8", "x: the shape must be ? × 8 × ?"),
        ("", "x: the shape must be ? × 8 × ?"),
        ("1, -8, 3", "x: a shape is sizes with commas between, but got '1, -8, 3'"),
        ("1e3, 8, 3", "but got '1e3, 8, 3'"),
        ("99999, 8, 9999", "this page fills inputs of at most 67,108,864"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(filling: Any, text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        filling.shape_of(text, filling.Specification("x", (None, 8, None), "float32"))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "dtype, expected", [("", "float32"), ("uint8", "int32"), ("int64", "int32"), ("bool", "bool")]
)
def test_dtypes_are_those_of_tensors(filling: Any, dtype: str, expected: str) -> None:
    spec = filling.Specification("x", (2, 3), dtype)
    assert spec.tensor_dtype == expected
    for way in ("noise", "constant"):
        tensor = filling.filled(spec, filling.Filling((2, 3), way, 0.0, 1.0), None)
        assert (tensor.shape, str(tensor.dtype)) == ((2, 3), expected)


@pytest.mark.parametrize(
    "shape, names, count",
    [
        ((1, 10), ["largest", "numbers"], 1),
        ((1, 1), ["numbers"], 1),
        ((), ["numbers"], 1),
        ((1, 24, 32, 5), ["map", "largest", "numbers"], 5),
        ((1, 5, 24, 32), ["map", "largest", "numbers"], 5),
        ((24, 32), ["map", "largest", "numbers"], 1),
        ((1, 24, 32), ["map", "largest", "numbers"], 1),
        ((1, 6, 56), ["largest", "numbers", "map"], 1),
        ((1, 2254, 13), ["largest", "numbers", "map"], 1),
        ((2, 3, 4, 5), ["largest", "numbers"], 1),
    ],
)
def test_views_suit_the_shape(
    views: Any, shape: tuple[int, ...], names: list[str], count: int
) -> None:
    size = 1
    for length in shape:
        size *= length
    output = views.Output("y", shape, "float32", [0.0] * size)
    assert views.views_of(output) == names
    assert views.plane_count(output) == count


def test_numbers_are_written_briefly(views: Any) -> None:
    output = views.Output("y", (200,), "float32", [0.5] * 200)
    text = views.plain_numbers(output)
    assert text.startswith("0.5  0.5  ")
    assert text.endswith("  … and 80 more")
    texts = views.Output("y", (2,), "string", (b"a", b"\xff"))
    assert views.plain_numbers(texts) == "'a'  '\N{REPLACEMENT CHARACTER}'"
    assert views.views_of(texts) == ["numbers"]
