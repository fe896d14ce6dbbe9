"""The Layers API: the classes and functions of Keras 3, under the same names.

A script of Keras needs another import only: ``from webtensor import keras`` in place of
``import keras``. Each namespace of Keras is a module here, which is imported on first use:

- ``layers``, ``models`` (with ``Sequential``, ``Model``, ``Input``), ``saving``;
- ``activations``, ``initializers``, ``regularizers``, ``constraints``;
- ``losses``, ``metrics``, ``optimizers``, ``callbacks``;
- ``ops``, ``random``, ``utils``, ``config``;
- ``applications``, ``datasets``, ``preprocessing``, ``legacy``.

Other modules are shared by these. Layers have ``variables`` and ``names``; called with symbolic
tensors (``symbols``), they make ``nodes`` of functional models, whose shapes come from
``shape_inference``. ``arguments`` and ``class_documentation`` derive configurations and docstrings
from the signatures of classes; ``registry`` turns objects into configurations and back;
``allocations`` and ``model_budgets`` limit what a model may allocate while it is made of a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

#: The namespaces, and the modules with the names of Keras's front page.
_NAMESPACES = (
    "activations",
    "applications",
    "backend",
    "callbacks",
    "config",
    "constraints",
    "datasets",
    "dtype_policies",
    "initializers",
    "layers",
    "legacy",
    "losses",
    "metrics",
    "mixed_precision",
    "models",
    "ops",
    "optimizers",
    "preprocessing",
    "random",
    "regularizers",
    "saving",
    "tree",
    "utils",
)
_CONTENTS = contents(
    """
    dtype_policies: DTypePolicy FloatDTypePolicy
    initializers: Initializer
    layers: Input InputSpec Layer
    losses: Loss
    metrics: Metric
    models: Function Model Sequential
    names: name_scope
    nodes: Operation
    optimizers: Optimizer
    regularizers: Regularizer
    stateless_scopes: StatelessScope
    symbols: KerasTensor
    variables: Variable
    """
)

#: The version of Keras whose names, defaults and formulas these are.
__version__ = "3.15.1"

__all__ = [  # noqa: PLE0604  (they are strings)
    "__version__",
    "version",
    *_NAMESPACES,
    *(name for names in _CONTENTS.values() for name in names),
]


def version() -> str:
    """Return the version of Keras whose names, defaults and formulas these are."""
    return __version__


if TYPE_CHECKING:
    from webtensor.keras import (
        activations as activations,
        applications as applications,
        backend as backend,
        callbacks as callbacks,
        config as config,
        constraints as constraints,
        datasets as datasets,
        dtype_policies as dtype_policies,
        initializers as initializers,
        layers as layers,
        legacy as legacy,
        losses as losses,
        metrics as metrics,
        mixed_precision as mixed_precision,
        models as models,
        ops as ops,
        optimizers as optimizers,
        preprocessing as preprocessing,
        random as random,
        regularizers as regularizers,
        saving as saving,
        tree as tree,
        utils as utils,
    )
    from webtensor.keras.dtype_policies import (
        DTypePolicy as DTypePolicy,
        FloatDTypePolicy as FloatDTypePolicy,
    )
    from webtensor.keras.initializers import (
        Initializer as Initializer,
    )
    from webtensor.keras.layers import (
        Input as Input,
        InputSpec as InputSpec,
        Layer as Layer,
    )
    from webtensor.keras.losses import (
        Loss as Loss,
    )
    from webtensor.keras.metrics import (
        Metric as Metric,
    )
    from webtensor.keras.models import (
        Function as Function,
        Model as Model,
        Sequential as Sequential,
    )
    from webtensor.keras.names import (
        name_scope as name_scope,
    )
    from webtensor.keras.nodes import Operation as Operation
    from webtensor.keras.optimizers import (
        Optimizer as Optimizer,
    )
    from webtensor.keras.regularizers import (
        Regularizer as Regularizer,
    )
    from webtensor.keras.stateless_scopes import (
        StatelessScope as StatelessScope,
    )
    from webtensor.keras.symbols import KerasTensor as KerasTensor
    from webtensor.keras.variables import (
        Variable as Variable,
    )
else:
    __getattr__, __dir__ = lazy_contents(__name__, _CONTENTS, *_NAMESPACES)
