"""The handwritten digits: 8×8 images of grey levels from 0 (paper) to 16 (ink), and labels."""

import zlib
from math import ceil
from random import Random
from typing import NamedTuple

import webtensor as wt

SIDE = 8
INK = 16
CLASSES = 10
TEST_SHARE = 0.2
SPLIT_SEED = 8


class Digits(NamedTuple):
    """Images as tensor of shape (count, 8, 8, 1), and their labels."""

    images: wt.Tensor
    labels: list[int]
    pixels: list[bytes]  # the same images on the host, 64 bytes each, to draw them

    def __len__(self) -> int:
        """Number of digits."""
        return len(self.labels)


def unpack(count: int, content: bytes) -> list[tuple[bytes, int]]:
    """Read `digits.bin` (see export_data.py) as pairs of 64 pixels and a label."""
    data = zlib.decompress(content)
    size = SIDE * SIDE
    if len(data) != count * (size + 1):
        raise ValueError(f"digits.bin: wanted {count} digits, but it holds {len(data)} bytes")
    pixels = (data[start : start + size] for start in range(0, count * size, size))
    return list(zip(pixels, data[count * size :], strict=True))


def split(pairs: list[tuple[bytes, int]]) -> tuple[Digits, Digits]:
    """Shuffle with a fixed seed, and return four fifths for training and one fifth for testing."""
    shuffled = Random(SPLIT_SEED).sample(pairs, len(pairs))
    test_count = ceil(len(pairs) * TEST_SHARE)
    return _digits(shuffled[test_count:]), _digits(shuffled[:test_count])


def as_images(pixels: list[bytes]) -> wt.Tensor:
    """Grey levels as a float tensor of shape (count, 8, 8, 1)."""
    levels = wt.tensor(b"".join(pixels), dtype=wt.float32)
    return wt.reshape(levels, (len(pixels), SIDE, SIDE, 1))


def _digits(pairs: list[tuple[bytes, int]]) -> Digits:
    pixels, labels = zip(*pairs, strict=True)
    return Digits(as_images(list(pixels)), list(labels), list(pixels))
