"""Weights without a model: tensors of the files that a manifest names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import isawaitable
from pathlib import Path
from typing import Any, TypeAlias

from webtensor.engine import Tensor
from webtensor.environment import IN_BROWSER
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.composite_buffers import CompositeArrayBuffer
from webtensor.formats.element_types import Buffer
from webtensor.formats.model_artifacts import ModelArtifacts, WeightData
from webtensor.formats.model_json import weight_groups
from webtensor.formats.weights_manifest import WeightSpec, check_size, parse_specs
from webtensor.io.handlers import without_awaiting
from webtensor.io.web_models import fetch_files, is_http_scheme
from webtensor.io.weights import decoded

__all__ = [
    "get_model_artifacts_for_json",
    "get_model_artifacts_for_json_sync",
    "get_weight_specs",
    "load_weights",
    "load_weights_async",
    "weights_loader_factory",
]

_Manifest: TypeAlias = Sequence[Mapping[str, Any]]
_LABEL = "the weights manifest"


def get_weight_specs(weights_manifest: _Manifest) -> list[dict[str, Any]]:
    """Return the names, shapes and dtypes of all weights of a manifest, in one list.

    Example:
        >>> import webtensor as wt
        >>> weight = {"name": "w", "shape": [1], "dtype": "float32"}
        >>> wt.io.get_weight_specs([{"paths": ["a.bin"], "weights": [weight]}])
        [{'name': 'w', 'shape': [1], 'dtype': 'float32'}]
    """
    return [spec for group in weights_manifest for spec in group["weights"]]


def get_model_artifacts_for_json_sync(
    model_json: Mapping[str, Any],
    weight_specs: list[dict[str, Any]] | None = None,
    weight_data: WeightData | None = None,
) -> ModelArtifacts:
    """Return the model of a ``model.json`` and its weights.

    Args:
        model_json: the contents of the file.
        weight_specs: the list of its weights.
        weight_data: their bytes.

    Raises:
        ValueError: the file names weights, but they are not given.

    Example:
        >>> import webtensor as wt
        >>> wt.io.get_model_artifacts_for_json_sync({"format": "graph-model"}).format
        'graph-model'
    """
    if model_json.get("weightsManifest") is not None and None in (weight_specs, weight_data):
        raise ValueError(
            "get_model_artifacts_for_json_sync: model_json has a weightsManifest, so weight_specs "
            "and weight_data must be given"
        )
    return ModelArtifacts.from_json(model_json, weight_specs, weight_data)


async def get_model_artifacts_for_json(
    model_json: Mapping[str, Any], load_weights: Callable[[Any], Any]
) -> ModelArtifacts:
    """Return the model of a ``model.json``, whose weights a function loads.

    Args:
        model_json: the contents of the file.
        load_weights: called with the weights manifest; returns the list of weights and their bytes,
            or an awaitable of both.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> model_json = {"modelTopology": {}, "weightsManifest": []}
        >>> artifacts = wt.io.get_model_artifacts_for_json(model_json, lambda manifest: ([], b""))
        >>> asyncio.run(artifacts).weight_data
        b''
    """
    weights: Any = (None, None)
    if model_json.get("weightsManifest") is not None:
        weights = load_weights(model_json["weightsManifest"])
        weights = await weights if isawaitable(weights) else weights
    return get_model_artifacts_for_json_sync(model_json, *weights)


def weights_loader_factory(
    fetch_weights_function: Callable[[list[str]], Sequence[Buffer] | Awaitable[Sequence[Buffer]]],
) -> Callable[..., Awaitable[dict[str, Tensor]]]:
    """Return a coroutine function that loads the weights of a manifest.

    It has the arguments of ``load_weights``, without ``request_init``.

    Args:
        fetch_weights_function: called with the addresses of files; returns their bytes, or an
            awaitable of them.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> load_weights = wt.io.weights_loader_factory(lambda paths: [bytes([1, 0])])
        >>> weight = {"name": "w", "shape": [2], "dtype": "bool"}
        >>> asyncio.run(load_weights([{"paths": ["a.bin"], "weights": [weight]}]))["w"].tolist()
        [True, False]
    """

    async def load(
        manifest: _Manifest, file_path_prefix: str = "", weight_names: Sequence[str] | None = None
    ) -> dict[str, Tensor]:
        budget = Budget(_LABEL)
        selected = None if weight_names is None else {*weight_names}
        groups = _selected_groups(manifest, selected, budget)
        prefix = f"{file_path_prefix.removesuffix('/')}/" if file_path_prefix else ""
        fetched = fetch_weights_function(
            [f"{prefix}{path}" for paths, _ in groups for path in paths]
        )
        buffers = iter(await fetched if isawaitable(fetched) else fetched)
        weights: dict[str, Tensor] = {}
        for paths, specs in groups:
            data = CompositeArrayBuffer([next(buffers) for _ in paths])
            budget.add_file(data.byte_length)
            check_size(specs, data.byte_length, _LABEL)
            for weight in decoded(specs, data.view(), _LABEL, budget):
                if selected is None or weight.name in selected:
                    weights[weight.name] = weight.value
        return weights

    return load


def _selected_groups(
    manifest: _Manifest, selected: set[str] | None, budget: Budget
) -> list[tuple[list[str], list[WeightSpec]]]:
    """Return the paths and the weights of the groups that have some of the weights.

    Raises:
        ValueError: there is no weight of a name.
    """
    groups = [
        (group.paths, parse_specs(group.specs, _LABEL, budget))
        for group in weight_groups([*manifest], _LABEL)
    ]
    names = {spec.name for _, specs in groups for spec in specs}
    selected = names if selected is None else selected
    if selected - names:
        raise ValueError(
            f"load_weights: there is no weight {min(selected - names)!r}; there are "
            f"{sorted(names)[:20]}"
        )
    return [
        (paths, specs) for paths, specs in groups if any(spec.name in selected for spec in specs)
    ]


async def load_weights_async(
    manifest: _Manifest,
    file_path_prefix: str = "",
    weight_names: Sequence[str] | None = None,
    request_init: Mapping[str, Any] | None = None,
) -> dict[str, Tensor]:
    """Return the tensors of the weights of a manifest, by their names.

    Args:
        manifest: the value of ``weightsManifest`` in ``model.json``.
        file_path_prefix: the address of the folder of the files; outside of pages it may be a path.
        weight_names: the names of the weights to load, by default all. Files that have none of them
            are not downloaded.
        request_init: options of requests, as of ``http``.

    Raises:
        ModelFormatError: the manifest is malformed, or a file has too few or too many bytes.
        OSError: a server cannot be reached, or has no such file.
        ValueError: there is no weight of a name.

    Example:
        In a page::

            manifest = [{"paths": ["weights.bin"], "weights": specs}]
            weights = await wt.io.load_weights_async(manifest, "https://example.org/model")
    """

    async def fetch(addresses: list[str]) -> list[Buffer]:
        if IN_BROWSER or is_http_scheme(file_path_prefix):
            return await fetch_files(addresses, request_init)
        return [Path(address).read_bytes() for address in addresses]

    with reading(_LABEL):
        return await weights_loader_factory(fetch)(manifest, file_path_prefix, weight_names)


def load_weights(
    manifest: _Manifest,
    file_path_prefix: str = "",
    weight_names: Sequence[str] | None = None,
    request_init: Mapping[str, Any] | None = None,
) -> dict[str, Tensor]:
    """Return what ``load_weights_async`` does; in a page the browser must suspend Python (JSPI).

    Raises:
        ModelFormatError: as of ``load_weights_async``.
        OSError: as of ``load_weights_async``.
        ValueError: as of ``load_weights_async``, or Python cannot wait here.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import webtensor as wt
        >>> folder = tempfile.mkdtemp()
        >>> written = Path(folder, "a.bin").write_bytes(bytes([1, 0]))
        >>> weight = {"name": "w", "shape": [2], "dtype": "bool"}
        >>> wt.io.load_weights([{"paths": ["a.bin"], "weights": [weight]}], folder)["w"].tolist()
        [True, False]
    """
    return without_awaiting(
        lambda: load_weights_async(manifest, file_path_prefix, weight_names, request_init),
        "load_weights",
        "load_weights_async",
    )
