"""``wt.nn``: the functions of neural networks, which TensorFlow, JAX and PyTorch have there.

They are functions of ``wt``, and some of ``keras.ops``. Layers are in ``wt.layers``.

Example:
    >>> import webtensor as wt
    >>> wt.nn.sigmoid(0.0).tolist()
    0.5
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtensor.lazy_contents import lazy_aliases

if TYPE_CHECKING:
    from webtensor.keras.ops import (
        gelu as gelu,
        silu as silu,
        softsign as softsign,
    )
    from webtensor.ops import (
        avg_pool as avg_pool,
        avg_pool3d as avg_pool3d,
        batch_norm as batch_norm,
        conv1d as conv1d,
        conv2d as conv2d,
        conv2d_transpose as conv2d_transpose,
        conv3d as conv3d,
        conv3d_transpose as conv3d_transpose,
        depthwise_conv2d as depthwise_conv2d,
        dropout as dropout,
        elu as elu,
        leaky_relu as leaky_relu,
        local_response_normalization as local_response_normalization,
        log_sigmoid as log_sigmoid,
        log_softmax as log_softmax,
        max_pool as max_pool,
        max_pool3d as max_pool3d,
        moments as moments,
        one_hot as one_hot,
        pool as pool,
        prelu as prelu,
        relu as relu,
        relu6 as relu6,
        selu as selu,
        separable_conv2d as separable_conv2d,
        sigmoid as sigmoid,
        softmax as softmax,
        softmax_cross_entropy as softmax_cross_entropy,
        softplus as softplus,
        tanh as tanh,
    )
else:
    _NAMES = {
        name: name
        for name in [
            "avg_pool",
            "avg_pool3d",
            "batch_norm",
            "conv1d",
            "conv2d",
            "conv2d_transpose",
            "conv3d",
            "conv3d_transpose",
            "depthwise_conv2d",
            "dropout",
            "elu",
            "leaky_relu",
            "local_response_normalization",
            "log_sigmoid",
            "log_softmax",
            "max_pool",
            "max_pool3d",
            "moments",
            "one_hot",
            "pool",
            "prelu",
            "relu",
            "relu6",
            "selu",
            "separable_conv2d",
            "sigmoid",
            "softmax",
            "softmax_cross_entropy",
            "softplus",
            "tanh",
        ]
    }
    _NAMES |= {name: f"keras.ops.{name}" for name in ("gelu", "silu", "softsign")}
    __all__ = [*_NAMES]  # noqa: PLE0604  (they are strings)
    __getattr__, __dir__ = lazy_aliases(__name__, "webtensor", _NAMES)
