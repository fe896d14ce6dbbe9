"""Handlers of folders, memory and functions, and the routers that find them."""

import asyncio
import errno
import io
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.io.example_model import FILES, artifacts, assert_model, changed
from tests_py.io.web_server import Answer, serving
from webtensor import keras
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.io import routers

#: The same files by their names.
BY_NAME = {path.removeprefix("/m/"): data for path, data in FILES.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in BY_NAME.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


@pytest.fixture(autouse=True)
def routers_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routers, "_load_routers", [])
    monkeypatch.setattr(routers, "_save_routers", [])


# -- folders -----------------------------------------------------------------------------------


def test_a_folder_is_read(folder: Path, no_leak: None) -> None:
    fractions: list[float] = []
    for source in (
        folder,
        str(folder),
        folder / "model.json",
        f"file://{folder}",
        [folder / name for name in BY_NAME],
        [str(folder / name) for name in BY_NAME],
        BY_NAME,
        {name: io.BytesIO(data) for name, data in BY_NAME.items()},
    ):
        fractions.clear()
        assert_model(wt.io.load_artifacts(source, on_progress=fractions.append))
        assert fractions[0] == 0.0
        assert fractions[-1] == 1.0
        assert fractions == sorted({*fractions})
    assert_model(asyncio.run(wt.io.load_artifacts_async(folder)))


def test_weights_of_a_folder_are_one_buffer(folder: Path) -> None:
    assert isinstance(wt.io.load_artifacts(folder).weight_data, memoryview)


@pytest.mark.parametrize("name", ["", "other.json"])
def test_a_folder_is_written(tmp_path: Path, name: str) -> None:
    target = tmp_path / "new" / "folder" / name
    handler = wt.io.file_system(target, shard_bytes=500_000, checksum="sha256")
    result = handler.save(artifacts())
    assert result.model_artifacts_info.weight_data_bytes == 1_200_000
    written = sorted(path.name for path in (tmp_path / "new" / "folder").iterdir())
    assert written == [*sorted(BY_NAME)[:3], name or "model.json"]
    assert_model(handler.load())
    group = json.loads((tmp_path / "new/folder" / (name or "model.json")).read_bytes())
    assert group["weightsManifest"][0]["checksums"][0].startswith("sha256:")


def test_files_of_four_mebibytes_are_written(tmp_path: Path) -> None:
    wt.io.save_artifacts(artifacts(2_100_000), tmp_path)
    sizes = {path.name: path.stat().st_size for path in tmp_path.glob("*.bin")}
    assert sizes == {
        "group1-shard1of3.bin": 4 << 20,
        "group1-shard2of3.bin": 4 << 20,
        "group1-shard3of3.bin": 8_400_000 - (8 << 20),
    }


def test_a_folder_keeps_its_model_if_another_cannot_be_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_bytes
    written: list[Path] = []

    def full(path: Path, data: Any) -> int:
        written.append(path)
        if len(written) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        wt.io.file_system(folder, shard_bytes=500_000).save(ModelArtifacts({}, weight_specs=[]))
    assert {path.name for path in folder.iterdir()} == {*BY_NAME}
    assert_model(wt.io.load_artifacts(folder))


@pytest.mark.parametrize(
    "options, message",
    [({"shard_bytes": 0}, "shard_bytes must be positive"), ({"checksum": "md5"}, "'md5'")],
)
def test_options_of_folders(tmp_path: Path, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wt.io.file_system(tmp_path, **options).save(artifacts())
    assert [*tmp_path.iterdir()] == []


def test_what_is_no_folder_of_a_model(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        wt.io.load_artifacts(tmp_path / "missing.json")
    with pytest.raises(
        wt.ModelFormatError, match=r"names the file 'model\.json', which is missing"
    ):
        wt.io.load_artifacts(tmp_path)
    with pytest.raises(ValueError, match="two of the files have the same name"):
        wt.io.load_artifacts(["a/model.json", "b/model.json"])
    with pytest.raises(ValueError, match=r"one of the files must be model\.json"):
        wt.io.load_artifacts({"a.json": b"", "b.json": b""})
    with pytest.raises(ValueError, match=r"one of the files must be model\.json"):
        wt.io.load_artifacts({})


def test_options_of_servers_are_ignored_by_files_and_unknown_ones_refused(folder: Path) -> None:
    for source in (folder, f"file://{folder}", BY_NAME):
        assert_model(wt.io.load_artifacts(source, timeout=1.0, request_init={"method": "GET"}))
        options: Any = {"on_progres": print}
        with pytest.raises(TypeError, match="unexpected keyword argument 'on_progres'"):
            wt.io.load_artifacts(source, **options)


@pytest.mark.parametrize("name", [*BY_NAME])
@pytest.mark.parametrize("count", [0, 1, 9])
def test_files_that_are_cut_off(folder: Path, name: str, count: int) -> None:
    data = BY_NAME[name][:-count] if count else b""
    (folder / name).write_bytes(data)
    for source in (folder, {**BY_NAME, name: data}):
        with pytest.raises(wt.ModelFormatError, match=r"model\.json|files"):
            wt.io.load_artifacts(source)


def test_files_that_are_missing(folder: Path) -> None:
    for name in sorted(BY_NAME)[:3]:
        (folder / name).unlink()
        message = f"names the file '{name}', which is missing"
        with pytest.raises(wt.ModelFormatError, match=message):
            wt.io.load_artifacts(folder)
        files = {other: data for other, data in BY_NAME.items() if other != name}
        with pytest.raises(wt.ModelFormatError, match=message):
            wt.io.load_artifacts(files)
        (folder / name).write_bytes(BY_NAME[name])


def test_integrity_of_files(folder: Path) -> None:
    for source in (wt.io.file_system, lambda _, **options: wt.io.from_files(BY_NAME, **options)):
        handler = source(folder, integrity="crc32:00000000")
        with pytest.raises(wt.ModelFormatError, match=r"model\.json is not what was written"):
            handler.load()


# -- memory and functions ----------------------------------------------------------------------


def test_artifacts_in_memory() -> None:
    model = artifacts()
    assert wt.io.from_memory(model).load() is model
    assert asyncio.run(wt.io.from_memory_sync(model).load_async()) is model


def test_tensorflow_js_forms_of_a_model_in_memory() -> None:
    model = artifacts()
    fields = {
        "modelTopology": model.model_topology,
        "format": "layers-model",
        "generatedBy": "a test",
        "weightSpecs": model.weight_specs,
        "weightData": model.weight_data,
    }
    assert wt.io.from_memory(fields).load() == model
    parts = wt.io.from_memory({"class_name": "S"}, model.weight_specs, model.weight_data, {"a": 1})
    assert parts.load() == ModelArtifacts(
        {"class_name": "S"},
        weight_specs=model.weight_specs,
        weight_data=model.weight_data,
        training_config={"a": 1},
    )
    assert wt.io.from_memory({"class_name": "S"}).load() == ModelArtifacts({"class_name": "S"})


def test_functions_that_save() -> None:
    saved: list[Any] = []

    async def save_async(model: ModelArtifacts) -> wt.io.SaveResult:
        saved.append(model)
        information = wt.io.get_model_artifacts_info_for_json(model)
        return wt.io.SaveResult(information, [wt.io.ServerResponse(201, b"")])

    for handler in (
        wt.io.with_save_handler(saved.append),
        wt.io.with_save_handler_sync(saved.append),
        wt.io.with_save_handler(save_async),
    ):
        assert handler.save(artifacts()).model_artifacts_info.weight_data_bytes == 1_200_000
        asyncio.run(handler.save_async(artifacts()))
    assert saved == [artifacts()] * 6
    with pytest.raises(ValueError, match="there is no method 'load'"):
        handler.load()


class Sync(wt.io.IOHandler):
    label = "a drawer"
    model: Any = None

    def load(self) -> ModelArtifacts:
        return self.model

    def save(self, model: ModelArtifacts) -> wt.io.SaveResult:
        self.model = model
        return wt.io.SaveResult(wt.io.get_model_artifacts_info_for_json(model))


class Async(wt.io.IOHandler):
    label = "a far drawer"
    model: Any = None

    async def load_async(self) -> ModelArtifacts:
        await asyncio.sleep(0)
        return self.model

    async def save_async(self, model: ModelArtifacts) -> wt.io.SaveResult:
        await asyncio.sleep(0)
        self.model = model
        return wt.io.SaveResult(wt.io.get_model_artifacts_info_for_json(model))


@pytest.mark.parametrize("handler", [Sync(), Async()], ids=["sync", "async"])
def test_handlers_of_ones_own(handler: wt.io.IOHandler) -> None:
    handler.save(artifacts())
    assert handler.load() == artifacts()
    asyncio.run(handler.save_async(artifacts(9)))
    assert asyncio.run(handler.load_async()) == artifacts(9)


def test_a_handler_that_must_be_awaited_says_so() -> None:
    async def load() -> None:
        Async().load()

    with pytest.raises(ValueError, match=r"a far drawer: .* loop is running; await load_async"):
        asyncio.run(load())


def test_handlers_that_do_one_thing_only() -> None:
    handler = wt.io.IOHandler()
    for call in (handler.load, lambda: asyncio.run(handler.load_async())):
        with pytest.raises(ValueError, match="models cannot be loaded from here"):
            call()
    for save in (handler.save, lambda model: asyncio.run(handler.save_async(model))):
        with pytest.raises(ValueError, match="models cannot be saved here"):
            save(artifacts())


class Shelf:
    """An object that is no ``IOHandler``."""

    label = "a shelf"

    def __init__(self, model: object) -> None:
        self.model = model

    def load(self) -> Any:
        return self.model


def test_any_object_with_a_method_may_load() -> None:
    async def load() -> ModelArtifacts:
        return artifacts()

    far: Any = Shelf(None)
    far.load = load
    for shelf in (Shelf(artifacts()), Shelf({"modelTopology": {}}), far):
        loaded = wt.io.load_artifacts(shelf)  # type: ignore[arg-type]
        assert loaded.label == "a shelf"
        assert asyncio.run(wt.io.load_artifacts_async(shelf)) == loaded  # type: ignore[arg-type]
        far.load = load
    with pytest.raises(TypeError, match="a shelf: load must return ModelArtifacts"):
        wt.io.load_artifacts(Shelf(7))  # type: ignore[arg-type]


# -- routers -----------------------------------------------------------------------------------


def test_routers_find_handlers() -> None:
    drawers = {"drawer://a": Sync(), "drawer://b": Async()}

    def route(url: str, options: Mapping[str, Any] | None = None) -> Any:
        return drawers.get(url)

    wt.io.register_load_router(route)
    wt.io.register_save_router(route)
    for url in drawers:
        assert wt.io.get_load_handlers(url) == wt.io.get_save_handlers(url) == [drawers[url]]
        wt.io.save_artifacts(artifacts(), url)
        assert wt.io.load_artifacts(url) == artifacts()
        asyncio.run(wt.io.save_artifacts_async(artifacts(9), url))
        assert asyncio.run(wt.io.load_artifacts_async(url)) == artifacts(9)
    assert wt.io.get_load_handlers("drawer://c") == []


def test_routers_may_take_several_addresses() -> None:
    shelf = Shelf(artifacts())

    def route(urls: Any, options: Mapping[str, Any]) -> Any:
        is_pair = isinstance(urls, list) and len(urls) == 2
        return shelf if is_pair and all(url.startswith("pair://") for url in urls) else None

    wt.io.register_load_router(route)
    (handler,) = wt.io.get_load_handlers(["pair://a", "pair://b"])
    assert handler.load() == artifacts()
    for urls in (["pair://a", "https://b"], ["pair://a"], "pair://a"):
        assert wt.io.get_load_handlers(urls) == []


def test_artifacts_are_loaded_as_they_are() -> None:
    assert wt.io.load_artifacts(artifacts()) == artifacts()
    assert asyncio.run(wt.io.load_artifacts_async(artifacts(9))) == artifacts(9)


def test_a_router_gets_the_options() -> None:
    seen = []

    def route(url: str, options: Mapping[str, Any]) -> Any:
        seen.append((url, options))
        return Shelf(artifacts())

    wt.io.register_load_router(route)
    loaded = wt.io.load_artifacts("x://y", cache="models", timeout=3)
    assert loaded == artifacts()
    assert seen == [("x://y", {"cache": "models", "timeout": 3})]


def test_the_last_router_is_the_first_to_be_asked() -> None:
    with serving(FILES) as server:
        url = f"{server.url}/m/model.json"
        wt.io.register_load_router(lambda url, options: Shelf(artifacts(9)))
        assert len(wt.io.get_load_handlers(url)) == 2
        assert wt.io.load_artifacts(url) == artifacts(9)


@pytest.mark.parametrize(
    "url", ["indexeddb://m", "localstorage://m", "downloads://m", "nowhere://m"]
)
def test_addresses_that_mean_nothing_here(url: str) -> None:
    assert wt.io.get_load_handlers(url) == wt.io.get_save_handlers(url) == []
    with pytest.raises(ValueError, match=f"{url}: models cannot be loaded from this address here"):
        wt.io.load_artifacts(url)
    with pytest.raises(ValueError, match=f"{url}: models cannot be saved to this address here"):
        wt.io.save_artifacts(artifacts(), url)


@pytest.mark.parametrize("place", [None, 3, b"{}", object()], ids=["None", "3", "bytes", "object"])
def test_what_is_no_place(place: Any) -> None:
    with pytest.raises(TypeError, match=r"source must be an address, a path, .* or a handler with"):
        wt.io.load_artifacts(place)
    with pytest.raises(TypeError, match="target must be an address, a path, or a handler with"):
        wt.io.save_artifacts(artifacts(), place)


def test_what_only_pages_have() -> None:
    assert wt.io.list_models() == asyncio.run(wt.io.list_models_async()) == {}
    for call, message in (
        (lambda: wt.io.browser_files([]), "use file_system or from_files"),
        (wt.io.browser_downloads, "use file_system"),
        (lambda: wt.io.browser_indexed_db(""), "must not be empty"),
        (lambda: wt.io.browser_local_storage(""), "must not be empty"),
        (lambda: wt.io.remove_model("indexeddb://m"), "remove_model: there is no model"),
        (lambda: wt.io.remove_model("m"), "begins with 'indexeddb://' or 'localstorage://'"),
        (
            lambda: wt.io.copy_model("indexeddb://m", "localstorage://m"),
            "indexeddb://m: models cannot be loaded from this address here",
        ),
        (
            lambda: wt.io.copy_model("file://a/1", "file://a/1"),
            "copy_model: the addresses are the same, 'file://a/1'",
        ),
        (
            lambda: wt.io.copy_model("file://a/1", "a/2"),
            "copy_model: dest_url must be an address such as 'indexeddb://name', but is 'a/2'",
        ),
        (
            lambda: wt.io.move_model("m", "indexeddb://m"),
            "move_model: an address begins with .* but got 'm'",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(OSError, match="no LocalStorage outside of pages"):
        wt.io.browser_local_storage("m").load()


# -- layers-models -----------------------------------------------------------------------------


def model_of_layers() -> Any:
    return keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(40, name="wide"), keras.layers.Dense(2)]
    )


def assert_same(first: Any, second: Any, tolerance: float = 0.0) -> None:
    for weight, other in zip(first.get_weights(), second.get_weights(), strict=True):
        np.testing.assert_allclose(weight, other, rtol=0, atol=tolerance)


def test_layers_models_go_through_handlers(tmp_path: Path) -> None:
    model = model_of_layers()
    handler = Async()
    model.save(handler)
    assert handler.model.format == "layers-model"
    for loaded in (
        keras.saving.load_layers_model(handler),
        keras.saving.load_model(handler),
        asyncio.run(keras.saving.load_layers_model_async(handler)),
    ):
        assert_same(loaded, model)
    keras.saving.save_layers_model(model, f"file://{tmp_path}")
    assert_same(keras.saving.load_layers_model(f"file://{tmp_path}"), model)
    asyncio.run(keras.saving.save_layers_model_async(model, Sync()))
    wt.io.register_save_router(lambda url: handler if url == "far://m" else None)
    wt.io.register_load_router(lambda url, options: handler if url == "far://m" else None)
    model.save("far://m")
    assert_same(keras.saving.load_model("far://m"), model)


def test_layers_models_on_a_server() -> None:
    model = model_of_layers()
    files = {f"/{name}": data for name, data in keras.saving.layers_model_files(model).items()}
    fractions: list[float] = []
    with serving({**files, "/upload": Answer()}) as server:
        url = f"{server.url}/model.json"
        for loaded in (
            keras.saving.load_layers_model(url, on_progress=fractions.append),
            keras.saving.load_model(url),
            asyncio.run(keras.saving.load_layers_model_async(url)),
        ):
            assert_same(loaded, model)
        assert fractions[-1] == 1.0
        model.save(f"{server.url}/upload")
        assert b"model.weights.bin" in server.requests[-1].body


def test_layers_models_take_the_options_of_requests() -> None:
    model = model_of_layers()
    files = keras.saving.layers_model_files(model)
    shards = {f"/w/{name}": data for name, data in files.items() if name != "model.json"}
    with serving({"/model.json": files["model.json"], **shards}) as server:
        options: wt.io.LoadOptions = {
            "weight_path_prefix": f"{server.url}/w",
            "request_init": {"headers": {"X-Key": "1"}},
        }
        url = f"{server.url}/model.json"
        assert_same(keras.saving.load_layers_model(url, **options), model)
        assert_same(asyncio.run(keras.saving.load_layers_model_async(url, **options)), model)
        assert {request.headers["X-Key"] for request in server.requests} == {"1"}


@pytest.mark.parametrize(
    "dtype, size, tolerance", [("float16", 2, 1e-3), ("uint8", 1, 4e-3), ("uint16", 2, 2e-5)]
)
def test_layers_models_with_quantized_weights(
    tmp_path: Path, dtype: str, size: int, tolerance: float
) -> None:
    model = model_of_layers()
    keras.saving.save_layers_model(model, tmp_path, quantization={dtype: "wide/*"})
    weights = sum(path.stat().st_size for path in tmp_path.glob("*.bin"))
    assert weights == 160 * size + 82 * 4
    assert_same(keras.saving.load_layers_model(tmp_path), model, tolerance)


@pytest.mark.parametrize(
    "model, message",
    [
        (ModelArtifacts(weight_specs=[]), "the model in memory describes no layers-model"),
        (ModelArtifacts({}, "graph-model"), "is a 'graph-model', which is no layers-model"),
        (ModelArtifacts({}), "expected a configuration with a class_name"),
    ],
)
def test_what_is_no_layers_model(model: ModelArtifacts, message: str) -> None:
    model.label = "the model in memory"
    with pytest.raises(wt.ModelFormatError, match=message):
        keras.saving.load_layers_model(wt.io.from_memory(model))


def test_other_names_of_the_format_of_layers_models() -> None:
    model = model_of_layers()
    files = keras.saving.layers_model_files(model)
    stored = wt.io.load_artifacts(files)
    assert_same(keras.saving.load_layers_model(replace(stored, format="tfjs-layers")), model)


def test_models_are_copied_between_all_addresses(tmp_path: Path) -> None:
    """From a folder to a router's address and to another folder."""
    model = model_of_layers()
    keras.saving.save_layers_model(model, tmp_path / "a")
    copies: dict[str, Any] = {}

    def route(url: str) -> Any:
        if url.startswith("shelf://"):
            return wt.io.with_save_handler(lambda artifacts: copies.update({url: artifacts}))
        return None

    wt.io.register_save_router(route)
    wt.io.copy_model(f"file://{tmp_path / 'a'}", "shelf://a")
    assert copies["shelf://a"].format == "layers-model"
    information = wt.io.copy_model(f"file://{tmp_path / 'a'}", f"file://{tmp_path / 'b'}")
    assert information.weight_data_bytes == copies["shelf://a"].weight_size
    assert_same(keras.saving.load_layers_model(tmp_path / "b"), model)


def test_only_models_are_saved_by_handlers() -> None:
    space = keras.utils.FeatureSpace({"a": "float"})
    with pytest.raises(ValueError, match="only models are saved to"):
        keras.saving.save_model(space, Sync())


# -- what handlers share -----------------------------------------------------------------------


def test_sizes_are_those_of_compact_json() -> None:
    model = artifacts()
    model.model_topology = {"name": "é"}
    information = wt.io.get_model_artifacts_info_for_json(model)
    assert information.model_topology_bytes == len('{"name":"é"}'.encode())
    assert information.weight_specs_bytes == len(
        json.dumps(model.weight_specs, separators=(",", ":"))
    )
    again = wt.io.ModelArtifactsInfo.from_json(information.to_json())
    assert again.to_json() == information.to_json()
    assert abs((again.date_saved - information.date_saved).total_seconds()) < 0.01


def test_weights_of_a_model_json_by_a_function() -> None:
    model = artifacts()
    model_json = json.loads(FILES["/m/model.json"])

    async def load(manifest: Any) -> Any:
        assert manifest == model_json["weightsManifest"]
        return model.weight_specs, model.weight_data

    loaded = asyncio.run(wt.io.get_model_artifacts_for_json(model_json, load))
    assert_model(loaded)
    assert wt.io.get_weight_specs(model_json["weightsManifest"]) == model.weight_specs
    with pytest.raises(ValueError, match="weight_specs and weight_data must be given"):
        wt.io.get_model_artifacts_for_json_sync(model_json)


def test_paths_with_a_dot_before_them(tmp_path: Path) -> None:
    """TensorFlow.js writes "./model.weights.bin"."""
    data = b"".join(BY_NAME[name] for name in sorted(BY_NAME)[:3])
    files = changed(FILES, paths=["./model.weights.bin"])
    named = {"model.json": files["/m/model.json"], "model.weights.bin": data}
    assert_model(wt.io.load_artifacts(named))
