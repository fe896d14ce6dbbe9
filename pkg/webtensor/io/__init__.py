"""Saving models to and loading them from anywhere: handlers, under TensorFlow.js's names.

A handler's ``load`` and ``load_async`` return ``ModelArtifacts``, which ``save`` and ``save_async``
take. What an address stands for is found by ``routers``. The handlers are in ``web_models`` (a
server, by ``fetching`` in pages and ``threaded_requests`` elsewhere), ``folders``, ``memory``,
``visitor_files`` (drops and downloads), ``indexed_db`` and ``local_storage``, whose models
``management`` lists, copies, moves and removes. ``shard_buffers`` is where the bytes of weights
arrive, ``progress`` how many did. ``weights`` turns tensors into bytes and back, ``weight_loading``
loads them without a model, and ``stored_tensors`` has the tensors of arrays in any file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

_CONTENTS = contents(
    """
    formats.composite_buffers: CompositeArrayBuffer concatenate_array_buffers
    formats.model_artifacts: ModelArtifacts ModelArtifactsInfo get_model_artifacts_info_for_json
    io.folders: file_system from_files
    io.handlers: IOHandler LoadOptions SaveResult ServerResponse
    io.indexed_db: browser_indexed_db
    io.local_storage: browser_local_storage
    io.management: copy_model copy_model_async list_models list_models_async move_model
        move_model_async remove_model remove_model_async
    io.memory: from_memory from_memory_sync with_save_handler with_save_handler_sync
    io.routers: get_load_handlers get_save_handlers load_artifacts load_artifacts_async
        register_load_router register_save_router save_artifacts save_artifacts_async
    io.visitor_files: browser_downloads browser_files
    io.web_models: browser_http_request http is_http_scheme
    io.weight_loading: get_model_artifacts_for_json get_model_artifacts_for_json_sync
        get_weight_specs load_weights load_weights_async weights_loader_factory
    io.weights: EncodedWeights decode_weights decode_weights_stream encode_weights
        encode_weights_async
    """
)
__all__ = sorted(name for names in _CONTENTS.values() for name in names)  # noqa: PLE0605

if TYPE_CHECKING:
    from webtensor.formats.composite_buffers import (
        CompositeArrayBuffer as CompositeArrayBuffer,
        concatenate_array_buffers as concatenate_array_buffers,
    )
    from webtensor.formats.model_artifacts import (
        ModelArtifacts as ModelArtifacts,
        ModelArtifactsInfo as ModelArtifactsInfo,
        get_model_artifacts_info_for_json as get_model_artifacts_info_for_json,
    )
    from webtensor.io.folders import file_system as file_system, from_files as from_files
    from webtensor.io.handlers import (
        IOHandler as IOHandler,
        LoadOptions as LoadOptions,
        SaveResult as SaveResult,
        ServerResponse as ServerResponse,
    )
    from webtensor.io.indexed_db import browser_indexed_db as browser_indexed_db
    from webtensor.io.local_storage import browser_local_storage as browser_local_storage
    from webtensor.io.management import (
        copy_model as copy_model,
        copy_model_async as copy_model_async,
        list_models as list_models,
        list_models_async as list_models_async,
        move_model as move_model,
        move_model_async as move_model_async,
        remove_model as remove_model,
        remove_model_async as remove_model_async,
    )
    from webtensor.io.memory import (
        from_memory as from_memory,
        from_memory_sync as from_memory_sync,
        with_save_handler as with_save_handler,
        with_save_handler_sync as with_save_handler_sync,
    )
    from webtensor.io.routers import (
        get_load_handlers as get_load_handlers,
        get_save_handlers as get_save_handlers,
        load_artifacts as load_artifacts,
        load_artifacts_async as load_artifacts_async,
        register_load_router as register_load_router,
        register_save_router as register_save_router,
        save_artifacts as save_artifacts,
        save_artifacts_async as save_artifacts_async,
    )
    from webtensor.io.visitor_files import (
        browser_downloads as browser_downloads,
        browser_files as browser_files,
    )
    from webtensor.io.web_models import (
        browser_http_request as browser_http_request,
        http as http,
        is_http_scheme as is_http_scheme,
    )
    from webtensor.io.weight_loading import (
        get_model_artifacts_for_json as get_model_artifacts_for_json,
        get_model_artifacts_for_json_sync as get_model_artifacts_for_json_sync,
        get_weight_specs as get_weight_specs,
        load_weights as load_weights,
        load_weights_async as load_weights_async,
        weights_loader_factory as weights_loader_factory,
    )
    from webtensor.io.weights import (
        EncodedWeights as EncodedWeights,
        decode_weights as decode_weights,
        decode_weights_stream as decode_weights_stream,
        encode_weights as encode_weights,
        encode_weights_async as encode_weights_async,
    )
else:
    __getattr__, __dir__ = lazy_contents(__name__, _CONTENTS, base="webtensor")
