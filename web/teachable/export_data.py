"""Exports crops of three photographs at build time: pictures of three classes to try the page with.

The photographs are scikit-learn's `china.jpg` and `flower.jpg`, by Daniel Nouri and Juan Luis
Gonzalez under CC BY, and scikit-image's portrait of the astronaut Eileen Collins by NASA, which is
in the public domain.
"""

from pathlib import Path
from typing import Any

import numpy as np

SEED = 0
SIDE = 160  # pixels
#: Crops of each class; the last ones are for trying, and no examples.
CROPS = 10
#: The side of a crop, as a part of the photograph's shorter side.
SMALLEST, LARGEST = 0.5, 0.75


def export(output_dir: Path) -> None:
    """Write `temple-0.jpg` and so on into a folder."""
    random = np.random.default_rng(SEED)
    for name, photograph in photographs().items():
        for number in range(CROPS):
            crop = random_square(photograph, random)
            crop.resize((SIDE, SIDE)).save(output_dir / f"{name}-{number}.jpg", quality=85)


def photographs() -> dict[str, Any]:
    """Return Pillow's images of the photographs by the names of their classes."""
    from PIL import Image  # these are slow to import
    from skimage import data
    from sklearn.datasets import load_sample_image

    pixels = {
        "temple": load_sample_image("china.jpg"),
        "flower": load_sample_image("flower.jpg"),
        "astronaut": data.astronaut(),
    }
    return {name: Image.fromarray(values) for name, values in pixels.items()}


def random_square(photograph: Any, random: np.random.Generator) -> Any:
    """Return a square part of a photograph."""
    width, height = photograph.size
    side = int(min(width, height) * random.uniform(SMALLEST, LARGEST))
    left, top = int(random.integers(width - side)), int(random.integers(height - side))
    return photograph.crop((left, top, left + side, top + side))
