"""The list of workloads: a module per family. Adding one is adding a row to its family.

It is imported in the page, where the rows run, and outside, where they are listed.
"""

from tests_browser.bench.workloads.captured import CAPTURED
from tests_browser.bench.workloads.convolution import CONVOLUTIONS
from tests_browser.bench.workloads.creation import CREATION
from tests_browser.bench.workloads.data import DATA
from tests_browser.bench.workloads.elementwise import ELEMENTWISE
from tests_browser.bench.workloads.image import IMAGES
from tests_browser.bench.workloads.indexing import INDEXING
from tests_browser.bench.workloads.layer import LAYERS
from tests_browser.bench.workloads.layers_api import LAYERS_API
from tests_browser.bench.workloads.model import PREDICTIONS
from tests_browser.bench.workloads.movement import MOVEMENT
from tests_browser.bench.workloads.numerical import NUMERICAL
from tests_browser.bench.workloads.overhead import OVERHEAD
from tests_browser.bench.workloads.pooling import POOLING
from tests_browser.bench.workloads.poses import POSES
from tests_browser.bench.workloads.product import PRODUCTS
from tests_browser.bench.workloads.random import RANDOM
from tests_browser.bench.workloads.reduction import REDUCTIONS
from tests_browser.bench.workloads.signal import SIGNALS
from tests_browser.bench.workloads.text import TEXT
from tests_browser.bench.workloads.training import TRAINING
from tests_browser.bench.workloads.transfer import TRANSFERS

__all__ = ["FAMILIES", "WORKLOADS"]

#: By titles that people read.
FAMILIES = {
    "Overhead of a call": OVERHEAD,
    "Matrix products": PRODUCTS,
    "Convolutions": CONVOLUTIONS,
    "Pooling": POOLING,
    "Elementwise": ELEMENTWISE,
    "Creation": CREATION,
    "Reductions": REDUCTIONS,
    "Movement": MOVEMENT,
    "Indexing": INDEXING,
    "Images": IMAGES,
    "Signals": SIGNALS,
    "Random numbers": RANDOM,
    "Text": TEXT,
    "Data sets": DATA,
    "Transfers": TRANSFERS,
    "Training": TRAINING,
    "Captured functions": CAPTURED,
    "Numerical programs": NUMERICAL,
    "Convolutions of networks": LAYERS,
    "The Layers API": LAYERS_API,
    "Networks": PREDICTIONS,
    "Poses": POSES,
}

WORKLOADS = [workload for family in FAMILIES.values() for workload in family]
