"""``keras.datasets``: what Keras makes of the same files; nothing is fetched here."""

import asyncio
import gzip
import importlib
import io
import pickle
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from webtensor import keras as ours
from webtensor.keras.datasets import safe_pickle

RNG = np.random.default_rng(3)


def texts(count: int) -> Any:
    """Texts as lists of numbers of words, in an array."""
    array = np.empty(count, dtype=object)
    array[:] = [RNG.integers(1, 50, RNG.integers(1, 9)).tolist() for _ in range(count)]
    return array


def pixels(*shape: int) -> Any:
    return RNG.integers(0, 256, shape).astype("uint8")


#: For each file of arrays what is in it.
ARRAYS = {
    "mnist": {
        "x_train": pixels(6, 28, 28),
        "y_train": pixels(6),
        "x_test": pixels(2, 28, 28),
        "y_test": pixels(2),
    },
    "boston_housing": {"x": RNG.normal(size=(20, 13)), "y": RNG.normal(size=20)},
    "california_housing": {"x": RNG.normal(size=(700, 8)), "y": RNG.normal(size=700)},
    "imdb": {
        "x_train": texts(9),
        "y_train": RNG.integers(0, 2, 9),
        "x_test": texts(7),
        "y_test": RNG.integers(0, 2, 7),
    },
    "reuters": {"x": texts(15), "y": RNG.integers(0, 46, 15)},
}


def fashion(folder: Path) -> None:
    for name in ("train", "t10k"):
        for what, head, shape in (("labels-idx1", 8, (5,)), ("images-idx3", 16, (5, 28, 28))):
            with gzip.open(folder / f"{name}-{what}-ubyte.gz", "wb") as file:
                file.write(bytes(head) + pixels(*shape).tobytes())


def cifar(folder: Path, names: list[str], key: bytes) -> None:
    folder.mkdir()
    for name in names:
        content = {b"data": pixels(4, 3072), key: RNG.integers(0, 10, 4).tolist(), b"label": b"any"}
        (folder / name).write_bytes(pickle.dumps(content, protocol=3))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with all files, which neither side then fetches."""
    folder = tmp_path_factory.mktemp("kept")
    for name, arrays in ARRAYS.items():
        np.savez(folder / f"{name}.npz", **arrays)
    fashion(folder)
    batches = [f"data_batch_{number}" for number in range(1, 6)]
    cifar(folder / "cifar-10-batches-py", [*batches, "test_batch"], b"labels")
    cifar(folder / "cifar-100-python", ["train", "test"], b"fine_labels")
    (folder / "imdb_word_index.json").write_text('{"the": 1}')

    def fetched(fname: str, origin: str | None = None, **_: Any) -> str:
        return str(folder if fname.endswith("-target") else folder / fname)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("mnist", "fashion_mnist", "cifar10", "cifar100", "imdb", "reuters"):
            patch.setattr(
                importlib.import_module(f"keras.src.datasets.{name}"), "get_file", fetched
            )
        for name in ("boston_housing", "california_housing"):
            patch.setattr(
                importlib.import_module(f"keras.src.datasets.{name}"), "get_file", fetched
            )
        for name in ("cifar", "fashion_mnist", "sources", "word_indices"):
            module = importlib.import_module(f"webtensor.keras.datasets.{name}")
            patch.setattr(module, "get_file", fetched)
        yield folder


@pytest.mark.parametrize(
    "name, options",
    [
        ("mnist", {}),
        ("fashion_mnist", {}),
        ("cifar100", {}),
        ("boston_housing", {"test_split": 0.3, "seed": 5}),
        ("california_housing", {}),
        ("california_housing", {"version": "small"}),
        ("imdb", {}),
        ("imdb", {"num_words": 30, "skip_top": 3, "maxlen": 6, "oov_char": None}),
        ("imdb", {"start_char": None, "index_from": 0}),
        ("reuters", {}),
        ("reuters", {"num_words": 20, "maxlen": 7, "test_split": 0.5}),
    ],
)
@pytest.mark.usefixtures("kept")
@pytest.mark.filterwarnings("ignore")
def test_same_data(name: str, options: dict[str, Any]) -> None:
    expected = getattr(keras.datasets, name).load_data(**options)
    result = getattr(ours.datasets, name).load_data(**options)
    for theirs, mine in zip((*expected[0], *expected[1]), (*result[0], *result[1]), strict=True):
        assert mine.shape == theirs.shape
        if theirs.dtype == object:
            assert [list(part) for part in mine] == [list(part) for part in theirs]
        else:
            assert mine.dtype == theirs.dtype
            np.testing.assert_array_equal(mine, theirs)


def test_batches_of_photographs(kept: Path) -> None:
    (x_train, y_train), (x_test, y_test) = ours.datasets.cifar10.load_data()
    assert (x_train.shape, y_train.shape, y_train.dtype) == ((20, 32, 32, 3), (20, 1), np.uint8)
    content = pickle.loads((kept / "cifar-10-batches-py" / "test_batch").read_bytes())
    np.testing.assert_array_equal(x_test[3, :, :, 1].ravel(), content[b"data"][3, 1024:2048])
    np.testing.assert_array_equal(y_test.ravel(), content[b"labels"])


@pytest.mark.usefixtures("kept")
def test_words_and_topics() -> None:
    assert ours.datasets.imdb.get_word_index() == {"the": 1}
    assert ours.datasets.reuters.get_label_names() == keras.datasets.reuters.get_label_names()


class Evil:
    """What runs a command when it is unpickled the usual way."""

    def __reduce__(self) -> Any:
        return print, ("executed",)


@pytest.mark.parametrize("stored", [Evil(), [Evil()], {"x": print}, np.datetime64(1, "s")])
def test_code_is_not_executed(stored: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="is code and is not executed"):
        safe_pickle.load(io.BytesIO(pickle.dumps(stored)))
    assert not capsys.readouterr().out


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="label_mode must be 'fine' or 'coarse'"):
        ours.datasets.cifar100.load_data("medium")
    with pytest.raises(ValueError, match="version must be 'large' or 'small'"):
        ours.datasets.california_housing.load_data("tiny")
    with pytest.raises(ValueError, match="test_split must be from 0"):
        ours.datasets.boston_housing.load_data(test_split=1.0)


# -- files of the web --------------------------------------------------------------------------


@pytest.fixture(params=["get_file", "get_file_async"])
def get(request: pytest.FixtureRequest) -> Any:
    """The function that fetches a file, which is waited for."""
    if request.param == "get_file":
        return ours.utils.get_file
    return lambda *args, **kwargs: asyncio.run(ours.utils.get_file_async(*args, **kwargs))


def test_file_is_fetched_once(get: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "source.txt"
    source.write_text("one")
    options: dict[str, Any] = {"origin": source.as_uri(), "cache_dir": tmp_path / "cache"}
    path = Path(get("kept.txt", **options))
    assert path == tmp_path / "cache" / "datasets" / "kept.txt"
    source.write_text("two")
    assert Path(get("kept.txt", **options)).read_text() == "one"
    sum_of_two = "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"
    assert Path(get("kept.txt", file_hash=sum_of_two, **options)).read_text() == "two"
    source.write_text("three")
    assert Path(get("kept.txt", force_download=True, **options)).read_text() == "three"
    with pytest.raises(ValueError, match="not the file that was expected"):
        get("kept.txt", file_hash="0" * 64, **options)
    assert not path.exists()
    assert capsys.readouterr().out.count("Downloading data from file://") == 4


@pytest.mark.parametrize("name", ["a.tar.gz", "a"])
def test_archive_is_unpacked(get: Any, name: str, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        (tmp_path / "inside.txt").write_text("inside")
        archive.add(tmp_path / "inside.txt", "inside.txt")
    origin = (tmp_path / "a.tar.gz").as_uri()
    result = get(name, origin, extract=True, cache_dir=tmp_path)
    assert (Path(result) / "inside.txt").read_text() == "inside"


def test_archive_that_leads_out(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        (tmp_path / "inside.txt").write_text("inside")
        archive.add(tmp_path / "inside.txt", "../outside.txt")
    origin = (tmp_path / "a.tar").as_uri()
    with pytest.raises(ValueError, match="has a member that leads out of it"):
        ours.utils.get_file("a.tar", origin, extract=True, cache_dir=tmp_path / "cache")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("x.txt", None), "origin, the address of the file, must be given"),
        (("../x.txt", "file:///x.txt"), "fname must be the name of a file"),
        ((None, "file:///"), "fname must be the name of a file"),
    ],
)
def test_wrong_arguments_for_files(get: Any, arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        get(*arguments)
