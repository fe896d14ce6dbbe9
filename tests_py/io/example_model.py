"""A model of 1.2 MB as files, for tests of loading and saving."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

import webtensor as wt
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.formats.model_json import model_files

SIZE = 300_000
#: Files of weights of this size are smaller than the converter's.
SHARD_BYTES = 500_000


def artifacts(count: int = SIZE) -> ModelArtifacts:
    values = np.arange(count, dtype="float32")
    return ModelArtifacts(
        {"class_name": "Sequential"},
        format="layers-model",
        generated_by="a test",
        weight_specs=[
            {"name": "a", "shape": [count - 5], "dtype": "float32"},
            {"name": "b", "shape": [5], "dtype": "float32"},
        ],
        weight_data=values.tobytes(),
    )


def files_of(model: ModelArtifacts, **options: Any) -> dict[str, bytes]:
    return {f"/m/{name}": bytes(data) for name, data in model_files(model, **options)}


FILES = files_of(artifacts(), shard_bytes=SHARD_BYTES)
SHARDS = sorted(path for path in FILES if path.endswith(".bin"))


def changed(files: Mapping[str, bytes], **group: Any) -> dict[str, bytes]:
    """Files whose model.json has other entries in its group of weights, and no checksums."""
    model_json = json.loads(files["/m/model.json"])
    del model_json["weightsManifest"][0]["checksums"]
    model_json["weightsManifest"][0].update(group)
    return {**files, "/m/model.json": json.dumps(model_json).encode()}


def assert_model(loaded: ModelArtifacts, count: int = SIZE) -> None:
    assert loaded == ModelArtifacts(**{**vars(artifacts(count)), "weight_data": loaded.weight_data})
    weights = wt.io.decode_weights(loaded.weight_data or b"", loaded.weight_specs or [])
    values = np.concatenate([weights["a"].numpy(), weights["b"].numpy()])
    np.testing.assert_array_equal(values, np.arange(count))
