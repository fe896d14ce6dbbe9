"""The models that the page of models ships, against scikit-learn's labels, `onnx` and NumPy."""

from pathlib import Path

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator
from PIL import Image

import webtensor as wt
from web.models import export_data
from webtensor import keras


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the models and pictures."""
    backend = wt.get_backend()
    folder = tmp_path_factory.mktemp("models")
    export_data.export(folder)
    assert wt.get_backend() == backend
    return folder


@pytest.fixture(scope="module")
def photograph(exported: Path) -> np.ndarray:
    """The photograph, of shape (1, height, width, 3), from 0 to 1."""
    with Image.open(exported / "pictures" / "temple.jpg") as image:
        return np.asarray(image, "float32")[None] / 255


@pytest.mark.parametrize("name", ["digits", "digits.keras"])
def test_digits_that_were_not_trained_on_are_read(exported: Path, name: str) -> None:
    model = keras.saving.load_model(exported / "shipped" / name)
    images, labels = export_data.digits()
    images, labels = images[-300:], labels[-300:]
    probabilities = np.asarray(model.predict(images, verbose=0))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    assert (probabilities.argmax(axis=1) == labels).mean() > 0.9


def test_the_picture_of_a_digit_is_the_digit(exported: Path) -> None:
    images, labels = export_data.digits()
    with Image.open(exported / "pictures" / "digit.png") as image:
        levels = 16 * (1 - np.asarray(image, "float32") / 255)
    np.testing.assert_allclose(levels, images[export_data.SHOWN_DIGIT, :, :, 0], atol=0.04)
    assert labels[export_data.SHOWN_DIGIT] == 5


def test_edges_are_those_of_numpy(exported: Path, photograph: np.ndarray) -> None:
    model = wt.load_graph_model(exported / "shipped" / "edges" / "model.json")
    edges = np.asarray(model.predict(photograph))[0, :, :, 0]

    grey = np.pad(photograph[0] @ [0.299, 0.587, 0.114], 3, mode="reflect")
    line = np.exp(-2 * (np.arange(-2, 3) / 2) ** 2)
    line /= line.sum()
    smooth, slope = np.array([1, 2, 1]) / 4, np.array([1, 0, -1]) / 2

    def filtered(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        blurred = _convolved(_convolved(grey, line, 0), line, 1)
        return _convolved(_convolved(blurred, rows, 0), columns, 1)

    expected = np.hypot(filtered(smooth, slope), filtered(slope, smooth))
    np.testing.assert_allclose(edges, expected, atol=2e-6)


def _convolved(image: np.ndarray, line: np.ndarray, axis: int) -> np.ndarray:
    return np.apply_along_axis(np.convolve, axis, image, line, "valid")


def test_corners_are_those_of_onnx(exported: Path, photograph: np.ndarray) -> None:
    path = exported / "shipped" / "corners.onnx"
    image = np.ascontiguousarray(photograph.transpose(0, 3, 1, 2))
    expected = ReferenceEvaluator(str(path)).run(["corners"], {"image": image})
    assert isinstance(expected, list)
    corners = np.asarray(wt.load_onnx(path).predict(image))
    # A root of a difference: where that is about 0, it has half of the digits.
    np.testing.assert_allclose(corners, expected[0], atol=2e-4)


def test_they_are_small(exported: Path) -> None:
    sizes = [file.stat().st_size for file in exported.rglob("*") if file.is_file()]
    assert sum(sizes) < 500_000
