"""The Ops API: what users call. One module per family; most compose primitives.

``unary``, ``binary``, ``ternary``, ``activations``, ``trigonometry`` and ``special_functions`` are
the elementwise table, whose machinery is ``elementwise``; ``reduction``, ``movement``,
``broadcasting``, ``casting``, ``contraction``, ``pooling`` and ``nn`` have the other primitives
with their gradients; ``creation``, ``sequences`` and ``random`` make tensors; ``indexing`` and
``methods`` give tensors their subscripts, operators and methods. ``scan``, ``sorting``,
``scatter``, ``dynamic`` (shapes that depend on values), ``rearrangement``, ``statistics``,
``tensor_norms`` and ``ragged`` are families of functions; ``string_elements`` moves the elements of
string tensors. ``blocks`` and ``cells`` are formulas of gates; ``shared_operands`` joins gradients
of products that share an operand. ``fft``, ``fused``, ``image``, ``linalg``, ``losses``, ``math``,
``signal``, ``sparse``, ``spectral`` and ``string`` are namespaces that users see; ``array_api`` is
what the array API standard requires beside operations.
"""

import typing as _typing

from webtensor.lazy_contents import lazy_contents as _lazy_contents
from webtensor.ops.contents import CONTENTS as _CONTENTS, NAMESPACES as _NAMESPACES

if _typing.TYPE_CHECKING:
    from webtensor.ops import (
        fft as fft,
        fused as fused,
        image as image,
        linalg as linalg,
        losses as losses,
        math as math,
        methods as methods,
        signal as signal,
        sparse as sparse,
        spectral as spectral,
        string as string,
    )
    from webtensor.ops.activations import *
    from webtensor.ops.array_api import *
    from webtensor.ops.binary import *
    from webtensor.ops.broadcasting import broadcast_to as broadcast_to
    from webtensor.ops.casting import astype as astype
    from webtensor.ops.complex_numbers import *
    from webtensor.ops.contraction import *
    from webtensor.ops.convolution import (
        conv1d as conv1d,
        conv2d as conv2d,
        conv2d_transpose as conv2d_transpose,
        conv3d as conv3d,
        conv3d_transpose as conv3d_transpose,
        depthwise_conv2d as depthwise_conv2d,
        separable_conv2d as separable_conv2d,
    )
    from webtensor.ops.creation import *
    from webtensor.ops.distributions import *
    from webtensor.ops.dynamic import *
    from webtensor.ops.einsum_paths import *
    from webtensor.ops.indexing import boolean_mask as boolean_mask
    from webtensor.ops.losses import Reduction as Reduction
    from webtensor.ops.morphology import *
    from webtensor.ops.movement import (
        clone as clone,
        concat as concat,
        expand_dims as expand_dims,
        flatten as flatten,
        flip as flip,
        gather as gather,
        pad as pad,
        permute_dims as permute_dims,
        reshape as reshape,
        slice as slice,
        split as split,
        squeeze as squeeze,
        stack as stack,
        take as take,
        transpose as transpose,
    )
    from webtensor.ops.nn import *
    from webtensor.ops.normal_distribution import *
    from webtensor.ops.normalization import *
    from webtensor.ops.pooling import *
    from webtensor.ops.ragged import *
    from webtensor.ops.random import random_uniform as random_uniform
    from webtensor.ops.random_bits import set_random_seed as set_random_seed
    from webtensor.ops.rearrangement import *
    from webtensor.ops.recurrent import *
    from webtensor.ops.reduction import *
    from webtensor.ops.scan import *
    from webtensor.ops.scatter import *
    from webtensor.ops.sequences import *
    from webtensor.ops.signal import (
        cosine_window as cosine_window,
        enclosing_power_of_two as enclosing_power_of_two,
    )
    from webtensor.ops.sorting import *
    from webtensor.ops.special_functions import *
    from webtensor.ops.statistics import *
    from webtensor.ops.tensor_norms import *
    from webtensor.ops.ternary import *
    from webtensor.ops.trigonometry import *
    from webtensor.ops.unary import *
    from webtensor.ops.vector_products import *
else:
    __getattr__, __dir__ = _lazy_contents(__name__, _CONTENTS, *_NAMESPACES)
    __all__ = [  # noqa: PLE0604  (they are strings)
        *_NAMESPACES,
        *(name for names in _CONTENTS.values() for name in names),
    ]

    from webtensor.ops import methods
