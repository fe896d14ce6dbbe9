"""Inception V3, a network of modules with several branches (Szegedy et al., 2015)."""

from __future__ import annotations

from dataclasses import dataclass

from webtensor.keras.applications.blocks import Images, channel_axis
from webtensor.keras.applications.imagenet_utils import (
    decode_predictions,
    preprocess_for_tf as preprocess_input,
)
from webtensor.keras.applications.inception import STEM, branches, chain
from webtensor.keras.applications.networks import StandardNetwork, constructor
from webtensor.keras.layers import concatenate

__all__ = ["InceptionV3", "decode_predictions", "preprocess_input"]

_SMALL = "64@1x1, 48@1x1 64@5x5, 64@1x1 96@3x3 96@3x3, avg {}@1x1"
_LARGE = "192@1x1, {0}@1x1 {0}@1x7 192@7x1, {0}@1x1 {0}@7x1 {0}@1x7 {0}@7x1 192@1x7, avg 192@1x1"
#: The modules but for the last two.
_MODULES = (
    _SMALL.format(32),
    _SMALL.format(64),
    _SMALL.format(64),
    "384@3x3/2, 64@1x1 96@3x3 96@3x3/2, max",
    _LARGE.format(128),
    _LARGE.format(160),
    _LARGE.format(160),
    _LARGE.format(192),
    "192@1x1 320@3x3/2, 192@1x1 192@1x7 192@7x1 192@3x3/2, max",
)


@dataclass
class _InceptionNetwork(StandardNetwork[None]):
    """Inception V3, a network of modules with several branches (Szegedy et al., 2015).

    Images are those that ``preprocess_input`` returns.
    """

    size = 299
    minimum_size = 75

    def features(self, x: Images) -> Images:
        x = chain(x, STEM)
        for number, module in enumerate(_MODULES):
            x = _joined(branches(x, module), f"mixed{number}")
        for number in range(2):
            x = _last_module(x, number)
        return x


def _last_module(x: Images, number: int) -> Images:
    outputs = [chain(x, "320@1x1")]
    for stem, name in (("384@1x1", f"mixed9_{number}"), ("448@1x1 384@3x3", None)):
        outputs.append(_joined(branches(chain(x, stem), "384@1x3, 384@3x1"), name))
    outputs.append(chain(x, "avg 192@1x1"))
    return _joined(outputs, f"mixed{9 + number}")


def _joined(outputs: list[Images], name: str | None) -> Images:
    return concatenate(outputs, axis=channel_axis(3), name=name)


InceptionV3 = constructor(
    _InceptionNetwork,
    "InceptionV3",
    "inception_v3",
    None,
    ("9a0d58056eeedaa3f26cb7ebd46da564", "bcbd6486424b2319ff4ef7d526e38f63"),
)
