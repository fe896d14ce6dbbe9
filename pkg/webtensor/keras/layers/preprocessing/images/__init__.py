"""Layers that resize images, or vary them at random during training.

``base`` has what all layers share, ``ranges`` the validation of their arguments. ``sizes`` scales
and crops; ``flips`` and ``warps`` move pixels by transforms (``homography`` computes projective
ones), ``elastic`` moves each pixel by itself. ``tones`` changes the values of channels, ``colors``
those of pixels, ``filters`` uses neighbouring pixels, ``histograms`` all of them. ``mixing``
combines images of a batch, ``policies`` calls several layers, ``boxes`` limits bounding boxes.
"""

from webtensor.keras.layers.preprocessing.images.boxes import (
    MaxNumBoundingBoxes as MaxNumBoundingBoxes,
)
from webtensor.keras.layers.preprocessing.images.colors import (
    RandomColorDegeneration as RandomColorDegeneration,
    RandomColorJitter as RandomColorJitter,
    RandomGrayscale as RandomGrayscale,
    RandomHue as RandomHue,
    RandomSaturation as RandomSaturation,
)
from webtensor.keras.layers.preprocessing.images.elastic import (
    RandomElasticTransform as RandomElasticTransform,
)
from webtensor.keras.layers.preprocessing.images.filters import (
    RandomGaussianBlur as RandomGaussianBlur,
    RandomSharpness as RandomSharpness,
)
from webtensor.keras.layers.preprocessing.images.flips import RandomFlip as RandomFlip
from webtensor.keras.layers.preprocessing.images.histograms import (
    ContrastLimitedAdaptiveHistogramEqualization as ContrastLimitedAdaptiveHistogramEqualization,
    Equalization as Equalization,
)
from webtensor.keras.layers.preprocessing.images.mixing import (
    CutMix as CutMix,
    MixUp as MixUp,
    RandomErasing as RandomErasing,
)
from webtensor.keras.layers.preprocessing.images.policies import (
    AugMix as AugMix,
    RandAugment as RandAugment,
)
from webtensor.keras.layers.preprocessing.images.sizes import (
    CenterCrop as CenterCrop,
    RandomCrop as RandomCrop,
    RandomHeight as RandomHeight,
    RandomWidth as RandomWidth,
    Resizing as Resizing,
)
from webtensor.keras.layers.preprocessing.images.tones import (
    AutoContrast as AutoContrast,
    RandomBrightness as RandomBrightness,
    RandomContrast as RandomContrast,
    RandomInvert as RandomInvert,
    RandomPosterization as RandomPosterization,
    Solarization as Solarization,
)
from webtensor.keras.layers.preprocessing.images.warps import (
    RandomPerspective as RandomPerspective,
    RandomRotation as RandomRotation,
    RandomShear as RandomShear,
    RandomTranslation as RandomTranslation,
    RandomZoom as RandomZoom,
)
