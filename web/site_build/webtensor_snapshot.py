"""Prepares Python for a snapshot of its memory, and renews it in the pages that start from that.

Here modules are imported that pages need, so that the snapshot has them; what it lacks can still be
imported, from the wheel. Nothing here may compute, draw random numbers or look at the page: the
result would be the same in all pages. Runs in Pyodide.
"""

import gc
import linecache
import random
import sys
import time
from importlib import import_module, invalidate_caches
from importlib.util import find_spec

#: What pages and first calls import of the standard library and of Pyodide.
STANDARD_MODULES = """
    asyncio base64 contextlib dataclasses encodings.utf_8_sig html io ipaddress json pkgutil
    platform pyodide.code pyodide.console pyodide.ffi.wrappers pyodide.http tempfile textwrap
    traceback urllib.parse zipfile
"""
#: What a network of a few layers needs, to be trained and to predict, and what graph models need.
LIBRARY_MODULES = """
    browser.frames
    keras.callbacks.progress
    keras.layers.activations keras.layers.convolution keras.layers.core keras.layers.dense
    keras.layers.normalization keras.layers.pooling keras.layers.preprocessing.numerical
    keras.layers.preprocessing.pipeline keras.layers.regularization keras.layers.reshaping
    keras.losses.probabilistic keras.losses.regression
    keras.metrics.accuracy
    keras.models.compiled_losses keras.models.compiled_metrics keras.models.inference
    keras.models.sequential keras.models.summary
    keras.optimizers.adam keras.optimizers.sgd
    keras.saving
    keras.utils.progress
    ops.convolution ops.fused.convolutions ops.fused.products ops.image ops.pooling ops.random
    ops.statistics
    javascript
    backends.wasm.backend backends.wasm.chains backends.wasm.host_javascript backends.wasm.padding
    backends.wasm.programs backends.wasm.winograd
    backends.webgl.backend backends.webgl.chains backends.webgl.context backends.webgl.padding
    backends.webgl.prepared_draws backends.webgl.programs backends.webgl.sorting
    graph.loading graph.saving io.fetching
    programs.capture
"""
#: The layers whose methods are inspected here, as a page would at the first call.
LAYERS = """
    Activation AveragePooling2D BatchNormalization Conv2D Dense DepthwiseConv2D Dropout Flatten
    GlobalAveragePooling2D InputLayer MaxPooling2D ReLU Rescaling Reshape Softmax
"""
BACKENDS = ("wasm", "webgl")
KERNEL_MODULES = """
    contraction convolution elementwise indexing movement normalization pooling random reduction
    scatter
"""
#: The variant of the kernels that most browsers run; other browsers read theirs from the wheel.
KERNELS = "relaxed"
HALF_A_YEAR = 183 * 86400


def import_modules(archive: str) -> None:
    """Import the library from the archive, and read the kernels that the snapshot keeps."""
    sys.path.append(archive)
    for name in STANDARD_MODULES.split():
        import_module(name)
    for name in LIBRARY_MODULES.split():
        import_module(f"webtensor.{name}")
    for backend in BACKENDS:
        for name in KERNEL_MODULES.split():
            import_module(f"webtensor.backends.{backend}.{name}")
    inspect_layers()
    host = import_module("webtensor.backends.wasm.host")
    for kind in ("kernels", "rows"):
        host.module_bytes(kind, KERNELS)


def inspect_layers() -> None:
    """Let the library find out which arguments layers and models take, and keep that."""
    arguments = import_module("webtensor.keras.arguments")
    signatures = import_module("webtensor.keras.layers.call_signature")
    functional = import_module("webtensor.keras.models.functional").Functional
    keras = import_module("webtensor.keras")
    layers = [getattr(keras.layers, name) for name in ("Layer", *LAYERS.split())]
    for cls in (keras.Model, keras.Sequential, functional, *layers):
        arguments.accepted_arguments(cls)
        arguments.accepted_arguments(cls, library_only=True)
        signatures.signature_of_call(cls.call, False)
        signatures.shape_parameters(cls.build, False)
        signatures.shape_parameters(cls.compute_output_shape, False)


def tidy() -> None:
    """Forget what a start does anew, read the archives' tables of contents, and freeze the rest."""
    sys.path.remove("")  # Pyodide adds it at each start
    linecache.clearcache()
    invalidate_caches()
    find_spec("webtensor.keras.datasets")
    find_spec("csv")
    gc.collect()
    gc.freeze()  # else each page's first garbage collection would visit all of it, for 18 ms


def renew() -> None:
    """Replace what is of the machine that made the snapshot: random numbers, and the time zone.

    Seeds of hashes cannot change, because dictionaries are ordered by them.
    """
    random.seed()
    now = time.time()
    times = (time.localtime(now), time.localtime(now + HALF_A_YEAR))
    (standard, standard_name), (summer, summer_name) = sorted(
        (moment.tm_gmtoff, moment.tm_zone) for moment in times
    )
    time.timezone, time.altzone = -standard, -summer
    time.daylight = int(standard != summer)
    time.tzname = (standard_name, summer_name)
