"""Files from anywhere: the broken, hostile or unknown is refused, and nothing half loaded."""

import base64
import contextlib
import io
import json
import marshal
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from tests_py.closeness import assert_close
from tests_py.keras.saved_models import MODELS, predicted, randomized
from webtensor import keras as ours
from webtensor.formats.element_types import Elements
from webtensor.formats.files import write_file
from webtensor.keras.saving.hdf5 import Group, pieces, read_hdf5
from webtensor.keras.saving.hdf5.reader import UnsupportedError, read
from webtensor.keras.saving.npz import read_npz


def small() -> Any:
    return ours.Sequential([ours.Input((2,), name="x"), ours.layers.Dense(3, name="d")], name="m")


def members(model: Any = None) -> dict[str, bytes]:
    """The parts of an archive."""
    buffer = io.BytesIO()
    (model or small()).save(buffer)
    with zipfile.ZipFile(buffer) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def configured(change: Callable[[Any], Any]) -> bytes:
    """An archive with another configuration."""
    parts = members()
    config = json.loads(parts["config.json"])
    changed = change(config)
    parts["config.json"] = json.dumps(config if changed is None else changed).encode()
    return zipped(parts)


def dense(config: Any) -> Any:
    return config["config"]["layers"][1]


def without_bytes(value: Any) -> str:
    """A test's name: files hold the time at which they were made."""
    return "file" if isinstance(value, bytes) else str(value)


def refused(data: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ours.saving.load_model(data)


# -- archives ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "neither an archive of Keras 3 nor an HDF5 file"),
        (b"hello", "neither an archive of Keras 3 nor an HDF5 file"),
        (b"PK\3\4 nothing", "no zip archive"),
        (zipped({"config.json": b"{}"}), r"neither 'model\.weights\.h5' nor"),
        (zipped({"a": b""}), r"no 'config\.json'"),
        (zipped({**members(), "config.json": b"{"}), r"config\.json: "),
        (zipped({**members(), "config.json": b"[" * 100_000}), r"config\.json: "),
        (zipped({**members(), "config.json": b"[1]"}), r"config\.json describes no model"),
        (zipped({**members(), "config.json": b"{}"}), r"config\.json: it describes no model"),
        (zipped({**members(), "config.json": b"\xff\xfe\x00"}), r"config\.json: "),
        (zipped({**members(), "../evil": b""}), r"leads out of it: '\.\./evil'"),
        (zipped({**members(), "/evil": b""}), "leads out of it: '/evil'"),
        (zipped({**members(), "a/../../evil": b""}), "leads out of it"),
        (zipped({**members(), "assets\\evil": b""}), "leads out of it"),
        (zipped({**members(), "c:evil": b""}), "leads out of it"),
        (zipped(members(), zipfile.ZIP_BZIP2), "compressed in an unusual way"),
        (zipped({**members(), "model.weights.h5": b"what?"}), r"model\.weights\.h5 is not an HDF5"),
    ],
    ids=without_bytes,
)
def test_broken_archive(data: bytes, message: str):
    refused(data, message)


def test_archive_cut_short():
    whole = zipped(members())
    for length in range(0, len(whole), 97):
        refused(whole[:length], "a bytes|is neither|no zip archive")


def test_archive_with_flipped_bytes():
    """No byte of an archive can make loading do anything but load or raise ValueError."""
    whole = bytearray(zipped(members()))
    rng = np.random.default_rng(0)
    for position in rng.integers(0, len(whole), 150):
        changed = bytearray(whole)
        changed[position] ^= 1 << int(rng.integers(8))
        try:
            ours.saving.load_model(bytes(changed))
        except ValueError:
            continue


def test_zip_bomb():
    bomb = zipped({**members(), "model.weights.h5": bytes(1 << 25)}, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 1 << 17
    refused(bomb, r"'model\.weights\.h5' would become 33554432 bytes")
    spread = {f"assets/{number}": bytes(1 << 20) for number in range(40)}
    refused(zipped({**members(), **spread}, zipfile.ZIP_DEFLATED), "all members would become")


def test_archive_with_too_many_members():
    refused(zipped({str(number): b"" for number in range(10_001)}), "10001 members")


def test_two_members_with_the_same_name():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("config.json", "{}")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("config.json", "[]")
    refused(buffer.getvalue(), "two members with the same name")


def test_member_that_claims_another_size():
    whole = zipped(members())
    size = len(members()["model.weights.h5"])
    lying = whole.replace(struct.pack("<I", size), struct.pack("<I", size - 100))
    assert lying != whole
    refused(lying, "is broken|ends too early|bytes are needed")


# -- configurations ----------------------------------------------------------------------------


def lambda_config(config: Any) -> None:
    code = base64.b64encode(marshal.dumps(compile("print('executed')", "x", "exec"))).decode()
    config["config"]["layers"][1] = {
        "module": "keras.layers",
        "class_name": "Lambda",
        "config": {"name": "l", "function": {"class_name": "__lambda__", "config": {"code": code}}},
    }


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda_config, "holds code"),
        (lambda c: dense(c)["config"].update(units=10**9), "larger than what the file holds"),
        (lambda c: dense(c)["config"].update(units=10**30), "larger than what the file holds"),
        (lambda c: dense(c)["config"].update(units=-1), "units must be a positive integer"),
        (lambda c: dense(c)["config"].update(units="3"), "units must be a positive integer"),
        (lambda c: dense(c)["config"].update(nonsense=1), "nonsense"),
        (lambda c: dense(c)["config"].update(activation="tanhh"), "did you mean 'tanh'"),
        (lambda c: dense(c).update(class_name="Densely"), "did you mean 'Dense'"),
        (lambda c: dense(c).update(class_name=7), "class_name must be a string"),
        (lambda c: dense(c).update(config=[1]), "must be a mapping"),
        (lambda c: c["config"].update(layers=7), "no list of layers"),
        (lambda c: c["config"].update(layers=[7]), "no list of layers"),
        (lambda c: c.update(class_name="system", module="os", registered_name=None), "not known"),
        (lambda c: c.update(class_name="Popen", module="subprocess"), "not known"),
        (lambda c: c.update(class_name="Dense", module="keras.layers", config={}), r"config\.json"),
        (lambda c: dense(c)["config"].update(kernel_initializer={"class_name": "Evil"}), r"json"),
        (
            lambda c: dense(c)["config"].update(
                activation={"class_name": "function", "module": "builtins", "config": "eval"}
            ),
            "'eval'",
        ),
    ],
)
def test_configuration_that_makes_no_sense(change: Any, message: str, capsys: Any):
    refused(configured(change), message)
    assert not capsys.readouterr().out


def test_vocabulary_of_this_computer_is_not_read(tmp_path: Path):
    (tmp_path / "secret").write_text("password")

    def change(config: Any) -> None:
        config["config"]["layers"][1] = {
            "module": "keras.layers",
            "class_name": "StringLookup",
            "config": {"name": "l", "vocabulary": str(tmp_path / "secret")},
        }

    refused(configured(change), "the name of a file, '.*secret', which is not read")


def with_patterns_of_dtypes() -> Any:
    policies = ours.dtype_policies.DTypePolicyMap("float32", {"pattern": ours.DTypePolicy()})
    return ours.Sequential([ours.Input((2,)), ours.layers.Dense(3, name="a" * 40, dtype=policies)])


def with_patterns_of_layers(optimizer: Any) -> Any:
    model = ours.Sequential([ours.Input((2,)), ours.layers.Dense(3, name="a" * 40)])
    model.compile(optimizer, "mse")
    optimizer.build(model.trainable_variables)
    return model


@pytest.mark.parametrize(
    "model",
    [
        with_patterns_of_dtypes,
        lambda: with_patterns_of_layers(ours.optimizers.Muon(exclude_layers=["pattern"])),
        lambda: with_patterns_of_layers(
            ours.optimizers.MultiOptimizer(
                ours.optimizers.OptimizerMap(
                    ours.optimizers.SGD(), {"pattern": ours.optimizers.SGD()}
                )
            )
        ),
    ],
    ids=["dtypes", "Muon", "MultiOptimizer"],
)
def test_pattern_that_would_take_years(model: Callable[[], Any]):
    parts = members(model())
    assert ours.saving.load_model(zipped(parts)).layers[-1].name == "a" * 40
    assert parts["config.json"].count(b'"pattern"') == 1
    parts["config.json"] = parts["config.json"].replace(b'"pattern"', b'"(a+)+b"')
    refused(zipped(parts), r"config\.json: the pattern '\(a\+\)\+b' could take too long")


def test_configuration_nested_too_deeply():
    def deepen(config: Any) -> None:
        inner: Any = dense(config)
        for number in range(400):
            inner = {
                "module": "keras.layers",
                "class_name": "TimeDistributed",
                "config": {"name": f"t{number}", "layer": inner},
            }
        config["config"]["layers"][1] = inner

    refused(configured(deepen), r"config\.json")


#: What a configuration may have in place of anything else.
STRANGE: tuple[Any, ...] = (
    None, -1, 0, 10**9, 10**30, 1e300, -0.5, "x", "", [], {}, [None], True, ["a", 0, 0], [[[]]],
    {"class_name": "Dense", "config": {}}, "__main__",
)  # fmt: skip


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values in a configuration."""
    yield path
    if isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths_in(item, (*path, key))


def with_change(value: Any, path: tuple[Any, ...], change: Any) -> Any:
    if not path:
        return change
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[path[0]] = with_change(copied[path[0]], path[1:], change)
    return copied


@pytest.mark.parametrize("name", ["functional", "nested", "recurrent"])
@pytest.mark.filterwarnings("ignore")
def test_configuration_with_something_strange_anywhere(name: str):
    """It either loads or raises ValueError."""
    model = MODELS[name].make(ours)
    if name == "nested":
        model.compile("adam", "mse", metrics=["mae"])
    parts = members(model)
    config = json.loads(parts["config.json"])
    paths = list(paths_in(config))
    rng = np.random.default_rng(0)
    for position in rng.integers(0, len(paths), 150):
        change = STRANGE[int(rng.integers(len(STRANGE)))]
        changed = json.dumps(with_change(config, paths[int(position)], change)).encode()
        with contextlib.suppress(ValueError):
            ours.saving.load_model(zipped({**parts, "config.json": changed}))


def test_calls_in_a_circle():
    x = ours.Input((2,), name="x")
    model = ours.Model(x, ours.layers.Dense(2, name="b")(ours.layers.Dense(2, name="a")(x)))
    parts = members(model)
    config = parts["config.json"].replace(b'["x", 0, 0]', b'["b", 0, 0]', 1)
    refused(zipped({**parts, "config.json": config}), "wait for each other|no layer's output")


def test_error_names_file_and_part(tmp_path: Path):
    path = tmp_path / "strange.keras"
    path.write_bytes(configured(lambda c: dense(c).update(class_name="Strange")))
    with pytest.raises(ValueError, match=r"strange\.keras: config\.json: .*'Strange'"):
        ours.saving.load_model(path)


# -- weights -----------------------------------------------------------------------------------


def with_weights(change: Callable[[Group], Any]) -> bytes:
    """An archive with other weights."""
    parts = members()
    tree = read_hdf5(parts["model.weights.h5"], "w")
    change(tree)
    return zipped({**parts, "model.weights.h5": b"".join(pieces(tree))})


def vars_of(tree: Group) -> Group:
    return tree.make("layers/dense/vars")


def numbers(*shape: int, dtype: str = "float32") -> Elements:
    return Elements(shape, dtype, np.zeros(shape, dtype).tobytes())


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda t: vars_of(t).members.pop("0"), "2 variables, but the file has 1"),
        (lambda t: t.members.pop("layers"), "2 variables, but the file has 0"),
        (lambda t: vars_of(t).put("2", numbers(1)), "2 variables, but the file has 3"),
        (lambda t: vars_of(t).members.update({"0": numbers(3, 2)}), r"shape \(2, 3\)"),
        (lambda t: vars_of(t).members.update({"0": numbers(2, 3, 1)}), r"shape \(2, 3\)"),
        (lambda t: vars_of(t).members.update({"0": Elements((), "string", (b"a",))}), "string"),
    ],
)
def test_weights_that_do_not_fit(change: Any, message: str):
    refused(with_weights(change), message)


def test_weights_of_other_dtypes_become_float32():
    values = np.linspace(-1, 1, 6).reshape(2, 3)
    for dtype in ("float64", "float16", "int8", "int64"):
        array = values.astype(dtype)

        def change(tree: Group, new_values: Any = array, dtype: str = dtype) -> None:
            if dtype == "float16":
                return
            vars_of(tree).members["0"] = Elements((2, 3), dtype, new_values.tobytes())

        model = ours.saving.load_model(with_weights(change))
        if dtype != "float16":
            assert_close(model.get_weights()[0], array, rtol=1e-6)


def test_failing_load_leaves_all_weights(tmp_path: Path):
    saved = MODELS["functional"]
    model = randomized(saved.make(ours), 3)
    other = randomized(saved.make(ours), 4)
    other.save_weights(tmp_path / "w.weights.h5")
    tree = read_hdf5((tmp_path / "w.weights.h5").read_bytes(), "w")
    tree.make("layers/shared/vars").members.clear()
    last = tree.make("layers/dense_1/vars").members
    last["1"] = numbers(7)
    (tmp_path / "w.weights.h5").write_bytes(b"".join(pieces(tree)))
    before = predicted(model, saved.inputs())
    with pytest.raises(ValueError, match=r"w\.weights\.h5"):
        model.load_weights(tmp_path / "w.weights.h5")
    for first, second in zip(before, predicted(model, saved.inputs()), strict=True):
        np.testing.assert_array_equal(first, second)


# -- HDF5 --------------------------------------------------------------------------------------


def hdf5(**options: Any) -> bytes:
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", **options) as file:
        file["a/b/c"] = np.arange(6, dtype="float32").reshape(2, 3)
        file["a/i"] = np.arange(3)
        file.attrs["text"] = "hé"
        file["a"].attrs["names"] = [b"x", b"yz"]
    return buffer.getvalue()


@pytest.mark.parametrize("options", [{}, {"libver": "latest"}, {"track_order": True}])
def test_hdf5_of_h5py(options: dict[str, Any]):
    tree = read_hdf5(hdf5(**options), "f")
    dataset = tree.find("a/b/c")
    assert isinstance(dataset, Elements)
    assert (dataset.shape, dataset.dtype) == ((2, 3), "float32")
    assert bytes(dataset.data) == np.arange(6, dtype="float32").tobytes()
    assert tree.attributes["text"] == "hé"
    assert tree.make("a").attributes["names"] == ["x", "yz"]


def test_hdf5_written_here_is_read_by_h5py():
    tree = Group()
    tree.put("a/b/c", numbers(2, 3))
    tree.put("a/empty", numbers(0, 3))
    tree.put("a/flags", numbers(3, dtype="bool"))
    tree.put("a/text", Elements((2,), "string", (b"x", "é".encode())))
    for number in range(300):
        tree.put(f"many/{number}", numbers(dtype="int32"))
    tree.attributes |= {"long": "x" * 100_000, "names": ["a", "", "é"], "none": [], "n": 7}
    with h5py.File(io.BytesIO(b"".join(pieces(tree)))) as file:
        assert file["a/b/c"].shape == (2, 3)
        assert file["a/empty"].shape == (0, 3)
        assert file["a/flags"].dtype == bool
        assert file["a/text"][()].tolist() == [b"x", "é".encode()]
        assert len(file["many"]) == 300
        assert len(file.attrs["long"]) == 100_000
        assert file.attrs["names"].tolist() == ["a", "", "é"]
        assert len(file.attrs["none"]) == 0
        assert file.attrs["n"] == 7


@pytest.mark.parametrize("options", [{}, {"libver": "latest"}, {"track_order": True}])
def test_hdf5_with_flipped_bytes(options: dict[str, Any]):
    whole = bytearray(hdf5(**options))
    rng = np.random.default_rng(1)
    for _ in range(1500):
        changed = bytearray(whole)
        for position in rng.integers(0, len(whole), 3):
            changed[position] = int(rng.integers(256))
        try:
            for _, elements in read(bytes(changed), "f").arrays():
                assert elements.size < 1 << 20
        except ValueError:
            continue


def test_hdf5_cut_short():
    whole = hdf5()
    for length in range(0, len(whole), 61):
        with pytest.raises(ValueError, match="f is"):
            read(whole[:length], "f")


def test_compressed_hdf5_is_read_by_h5py_only():
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.create_dataset("a", data=np.arange(1000.0), compression="gzip")
    with pytest.raises(UnsupportedError, match="loadPackage"):
        read(buffer.getvalue(), "f")
    dataset = read_hdf5(buffer.getvalue(), "f").find("a")
    assert isinstance(dataset, Elements)
    assert np.frombuffer(dataset.data).tolist() == list(range(1000))


def array_of(datatype: Any, values: Any) -> Callable[[h5py.File], None]:
    def write(file: h5py.File) -> None:
        dataspace = h5py.h5s.create_simple((len(values),))
        h5py.Dataset(h5py.h5d.create(file.id, b"x", datatype, dataspace))[...] = values

    return write


def precise_integers() -> Any:
    """16-bit integers of which 12 bits count, from the second one on."""
    datatype = h5py.h5t.STD_I16LE.copy()
    datatype.set_precision(12)
    datatype.set_offset(2)
    return datatype


def floats(bias: int, *fields: int) -> Any:
    datatype = h5py.h5t.IEEE_F32LE.copy()
    datatype.set_fields(*fields)
    datatype.set_ebias(bias)
    return datatype


def levels() -> Any:
    """An enumeration of two numbers that are no booleans."""
    datatype = h5py.h5t.enum_create(h5py.h5t.STD_I8LE)
    for name, number in ((b"LOW", 3), (b"HIGH", 7)):
        datatype.enum_insert(name, number)
    return datatype


UNUSUAL_ARRAYS = {
    "integers of 12 bits": array_of(precise_integers(), [1, -2, 2047]),
    "floats of another bias": array_of(floats(100, 31, 23, 8, 0, 23), [1.0, -2.0, 3.0]),
    "floats of a wide exponent": array_of(floats(1023, 31, 20, 11, 0, 20), [1.0, -2.0, 3.0]),
    "an enumeration": array_of(levels(), [3, 7]),
    "big-endian numbers": array_of(h5py.h5t.IEEE_F32BE, [1.0, -2.0, 3.0]),
}


@pytest.mark.parametrize("name", UNUSUAL_ARRAYS)
def test_hdf5_of_unusual_numbers_is_read_by_h5py_only(name: str):
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        UNUSUAL_ARRAYS[name](file)
        expected = file["x"][()].tolist()
    with pytest.raises(UnsupportedError, match=r"unusual numbers of \d bytes"):
        read(buffer.getvalue(), "f")
    dataset = read_hdf5(buffer.getvalue(), "f").find("x")
    assert isinstance(dataset, Elements)
    assert np.frombuffer(dataset.data, dataset.dtype).tolist() == expected


def test_hdf5_texts_padded_with_spaces_are_refused():
    datatype = h5py.h5t.C_S1.copy()
    datatype.set_size(6)
    datatype.set_strpad(h5py.h5t.STR_SPACEPAD)
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        array_of(datatype, np.array([b"ab", b"c"], "S6"))(file)
    with pytest.raises(UnsupportedError, match="datatypes of class 3"):
        read(buffer.getvalue(), "f")


ATTRIBUTES = {
    "a float": 1.5, "floats": np.float32([0.5, -2]), "a byte": np.uint8(200), "an integer": -3,
    "a large integer": np.uint64(2**63 + 1), "a boolean": True, "integers": np.int16([-1, 300]),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_hdf5_attributes_of_numbers(name: str):
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.attrs["x"] = ATTRIBUTES[name]
    assert read(buffer.getvalue(), "f").attributes["x"] == np.asarray(ATTRIBUTES[name]).tolist()


def test_hdf5_attribute_of_several_dimensions_is_read_by_h5py_only():
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.attrs["x"] = [[0, 1], [2, 3]]
    with pytest.raises(UnsupportedError, match="unusual attributes"):
        read(buffer.getvalue(), "f")
    value: Any = read_hdf5(buffer.getvalue(), "f").attributes["x"]
    assert value == [[0, 1], [2, 3]]


def test_hdf5_datatype_among_the_members_of_a_group():
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file["numbers"] = np.dtype("float32")
    with pytest.raises(ValueError, match="f: 'numbers' is neither a group nor an array"):
        read_hdf5(buffer.getvalue(), "f")


def test_hdf5_array_that_claims_to_be_huge():
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.create_dataset("a", shape=(1 << 40,), chunks=(1 << 10,), dtype="float32")
    with pytest.raises(ValueError, match=r"array '/a' would become 4398046511104 bytes"):
        read_hdf5(buffer.getvalue(), "f")
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.create_dataset("a", shape=(1 << 40,), dtype="float32")
    with pytest.raises(ValueError, match="bytes are needed"):
        read_hdf5(buffer.getvalue(), "f")


@pytest.mark.parametrize("link", [h5py.SoftLink("/a"), h5py.ExternalLink("other.h5", "/a")])
@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_hdf5_links_are_not_followed(link: Any, libver: str):
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", libver=libver) as file:
        file["a"] = np.arange(3)
        file["b"] = link
    with pytest.raises(ValueError, match="leads elsewhere"):
        read_hdf5(buffer.getvalue(), "f")


def test_hdf5_array_in_another_file(tmp_path: Path):
    (tmp_path / "secret").write_bytes(bytes(12))
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file.create_dataset("a", (3,), "float32", external=[(str(tmp_path / "secret"), 0, 12)])
    with pytest.raises(ValueError, match="another file"):
        read_hdf5((tmp_path / "f.h5").read_bytes(), "f")


def test_hdf5_group_in_a_circle():
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.create_group("a")["b"] = file["/"]
    with pytest.raises(ValueError, match="linked twice"):
        read(buffer.getvalue(), "f")


# -- npz ---------------------------------------------------------------------------------------


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def test_npz_of_numpy():
    tree = read_npz(npz(a=np.arange(6.0).reshape(2, 3), b=np.float32(2), c=np.zeros((0,))), "f")
    assert {name: (array.shape, array.dtype) for name, array in tree.arrays()} == {
        "a": ((2, 3), "float64"),
        "b": ((), "float32"),
        "c": ((0,), "float64"),
    }


class Evil:
    """An object whose unpickling would execute something."""

    def __reduce__(self) -> Any:
        return print, ("executed",)


@pytest.mark.parametrize(
    "data, message",
    [
        (npz(a=np.array([Evil()], dtype=object)), "Python objects"),
        (npz(a=np.arange(3, dtype=">i4")), "kind that is not read"),
        (npz(a=np.asfortranarray(np.ones((2, 3)))), "Fortran"),
        (zipped({"a.npy": b"nothing"}), "no array"),
        (zipped({"a.npy": b"\x93NUMPY\1\0\xff\xff{'descr'"}), "kind that is not read"),
    ],
    ids=without_bytes,
)
def test_npz_that_is_refused(data: bytes, message: str, capsys: Any):
    with pytest.raises(ValueError, match=message):
        read_npz(data, "f")
    assert not capsys.readouterr().out


def test_npz_whose_header_claims_more():
    with zipfile.ZipFile(io.BytesIO(npz(a=np.zeros(4)))) as archive:
        lying = archive.read("a.npy").replace(b"(4,), }", b"(9999999999,), }")
    with pytest.raises(ValueError, match="bytes"):
        read_npz(zipped({"a.npy": lying}), "f")


# -- writing -----------------------------------------------------------------------------------


def test_file_appears_only_when_it_is_complete(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail(file: Any) -> None:
        file.write(b"half")
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        write_file(path, fail)
    assert path.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_existing_file_is_kept(tmp_path: Path):
    path = tmp_path / "m.keras"
    small().save(path)
    with pytest.raises(FileExistsError, match=r"m\.keras exists"):
        small().save(path, overwrite=False)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda m: m.save("model.txt"), r"must end in '\.keras'"),
        (lambda m: m.save("model"), r"must end in '\.keras'"),
        (lambda m: m.save("m.keras", zipped=False), "zipped"),
        (lambda m: m.save("m.keras", nonsense=1), r"unknown argument\(s\) nonsense"),
        (lambda m: m.save_weights("m.h5"), r"must end in '\.weights\.h5'"),
        (lambda m: m.save_weights("m.weights.json", max_shard_size=1e-9), "max_shard_size"),
        (lambda m: ours.Sequential([ours.layers.Dense(1)]).save_weights("m.weights.h5"), "built"),
    ],
)
def test_wrong_arguments_for_saving(call: Any, message: str):
    with pytest.raises(ValueError, match=message):
        call(small())


def test_missing_file():
    with pytest.raises(ValueError, match=r"there is no file 'nowhere\.keras'"):
        ours.saving.load_model("nowhere.keras")
    for call in (
        lambda: ours.saving.load_model("nowhere.h5"),
        lambda: small().load_weights("nowhere.weights.h5"),
        lambda: small().load_weights("nowhere.weights.json"),
    ):
        with pytest.raises(FileNotFoundError):
            call()
    with pytest.raises(ValueError, match=r"filepath must end in '\.weights\.h5'"):
        small().load_weights("nowhere.pkl")


@pytest.mark.parametrize(
    "index, message",
    [
        ("[]", "has no weight_map"),
        ('{"weight_map": {"/vars": "../m_00000.weights.h5"}}', "is no name of a file beside it"),
        ('{"weight_map": {"/vars": ["/etc/passwd"]}}', "is no name of a file beside it"),
        ('{"weight_map": {"/vars": [1]}}', "is no name of a file beside it"),
        ("{", "m.weights.json"),
    ],
)
def test_shards_that_are_not_there(index: str, message: str, tmp_path: Path):
    (tmp_path / "m.weights.json").write_text(index)
    with pytest.raises(ValueError, match=message):
        small().load_weights(tmp_path / "m.weights.json")


def test_what_is_no_file():
    with pytest.raises(TypeError, match="a path, bytes or a file"):
        ours.saving.load_model(7)
