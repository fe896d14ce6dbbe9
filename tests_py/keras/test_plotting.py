"""Pictures of models: well-formed, complete, and nothing lies over anything else."""

import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from webtensor import keras

SVG = "{http://www.w3.org/2000/svg}"


def branches() -> Any:
    x, other = keras.Input((8,), name="first"), keras.Input((4,))
    left = keras.layers.Dense(4, activation="relu")(x)
    right = keras.layers.Dense(4)(left)
    joined = keras.ops.maximum(left, right) + keras.layers.Dense(4)(other)
    inner = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4)], name="inner")
    last = keras.ops.concatenate([inner(joined), left, right], axis=-1)
    return keras.Model([x, other], [last, keras.layers.Dense(1)(joined)])


def shared() -> Any:
    """Two layers that take each other's outputs."""
    x = keras.Input((4,))
    first, second = keras.layers.Dense(4), keras.layers.Dense(4)
    return keras.Model(x, second(first(second(first(first(x))))) * 2)


def row() -> Any:
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), keras.layers.Dense(2)])


def written() -> Any:
    class Written(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = keras.layers.Dense(2)
            self.other = keras.layers.Dense(2)

    return Written()


def boxes(root: Any) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of each box with a border."""
    rectangles = []

    def visit(element: Any, x: float, y: float) -> None:
        moved = element.get("transform")
        if moved:
            by_x, by_y = moved.removeprefix("translate(").removesuffix(")").split(",")
            x, y = x + float(by_x), y + float(by_y)
        if element.tag == f"{SVG}rect" and element.get("stroke") and element.get("rx") == "4":
            width, height = float(element.get("width")), float(element.get("height"))
            rectangles.append((x, y, x + width, y + height))
        for inner in element:
            visit(inner, x, y)

    visit(root, 0.0, 0.0)
    return rectangles


@pytest.mark.parametrize("rankdir", ["TB", "BT", "LR", "RL"])
@pytest.mark.parametrize("expand_nested", [False, True])
@pytest.mark.parametrize(
    "make, count, arrows", [(branches, 10, 12), (shared, 4, 4), (row, 3, 2), (written, 2, 0)]
)
def test_pictures(make: Any, count: int, arrows: int, rankdir: str, expand_nested: bool) -> None:
    text = keras.utils.model_to_svg(
        make(), show_shapes=True, rankdir=rankdir, expand_nested=expand_nested
    )
    root = ElementTree.fromstring(text)
    rectangles = boxes(root)
    if make is branches and expand_nested:
        count, arrows = count + 1, arrows + 1  # two layers in place of a model
    assert len(rectangles) == count
    assert len(root.findall(f".//{SVG}path")) == arrows
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for number, (left, top, right, bottom) in enumerate(rectangles):
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height
        for other in rectangles[:number]:
            is_apart = (
                left >= other[2] or right <= other[0] or top >= other[3] or bottom <= other[1]
            )
            assert is_apart, "two boxes overlap"


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_what_is_shown() -> None:
    model = branches()
    model.layers[1].trainable = False
    assert "Dense" in texts(keras.utils.model_to_svg(model, show_layer_names=False))
    shown = texts(
        keras.utils.model_to_svg(
            model,
            show_shapes=True,
            show_dtype=True,
            show_layer_activations=True,
            show_trainable=True,
        )
    )
    assert "first (InputLayer)" in shown
    for line in (
        "Input shape: (None, 4), (None, 4)",
        "Output shape: (None, 12)",
        "Output dtype: float32",
        "Activation: relu",
        "Trainable: No",
        "Trainable: Yes",
    ):
        assert line in shown


def test_names_are_escaped() -> None:
    name = "</svg><script>alert('1')&\"\x00\ud800"
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)], name="<b>")
    model.layers[0].name = name
    svg = keras.utils.model_to_svg(model)
    assert "<script" not in svg
    assert "</svg><script>alert('1')&\"\N{REPLACEMENT CHARACTER}" in "".join(texts(svg))


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "model.svg"
    result = keras.utils.plot_model(row(), file)
    assert file.read_text(encoding="utf-8") == result == result._repr_svg_()
    assert keras.utils.plot_model(row(), None).startswith("<svg")
    with pytest.raises(ValueError, match=r"to_file must end with the format .* but is 'model'"):
        keras.utils.plot_model(row(), "model")
    with pytest.raises(ValueError, match=r"rankdir must be one of .* but got 'up'"):
        keras.utils.plot_model(row(), rankdir="up")


def test_without_graphviz_the_svg_is_written_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.warns(UserWarning, match=r"Graphviz, which draws png files.* as '.*a\.svg'"):
        result = keras.utils.plot_model(row(), tmp_path / "a.png", show_shapes=True)
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == result
    assert not (tmp_path / "a.png").exists()


@pytest.fixture
def graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program ``dot`` that returns its argument and the graph it is given."""
    program = tmp_path / "dot"
    program.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        "if sys.argv[1] == '-Tjpgg': sys.exit('Format: \"jpgg\" not recognized')\n"
        "print(sys.argv[1], sys.stdin.read())\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_graphviz_draws_other_formats(graphviz: Path) -> None:
    keras.utils.plot_model(branches(), graphviz / "a.png", True, True, True, "LR", True, 96)
    drawn = (graphviz / "a.png").read_text()
    graph = keras.utils.model_to_dot(branches(), True, True, True, "LR", True, 96)
    assert drawn.startswith("-Tpng digraph {")
    assert drawn.count(" -> ") == graph.count(" -> ") == 13
    assert "rankdir=LR, dpi=96" in drawn
    with pytest.raises(ValueError, match=r"dot cannot draw format 'jpgg': Format: .* not rec"):
        keras.utils.plot_model(row(), graphviz / "a.jpgg")
    graph.write(graphviz / "a.dot")
    assert (graphviz / "a.dot").read_text() == graph.to_string() == graph


@pytest.mark.parametrize(
    "make, count, arrows", [(branches, 10, 12), (shared, 4, 4), (row, 3, 2), (written, 2, 0)]
)
def test_graphs(make: Any, count: int, arrows: int) -> None:
    graph = keras.utils.model_to_dot(make())
    assert graph.count("[label=") == count
    assert graph.count(" -> ") == arrows
    assert keras.utils.model_to_dot(make(), subgraph=True).startswith("subgraph cluster_model {")


def test_names_in_graphs_are_escaped() -> None:
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.layers[0].name = "</b>>];"
    assert "<b>&lt;/b&gt;&gt;]; (Dense)</b>" in keras.utils.model_to_dot(model)
