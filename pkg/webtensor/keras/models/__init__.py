"""Models: functional, sequential, and subclasses of ``Model``.

``function`` has the graph of operations that a functional model runs, and ``inference`` optimizes
it for ``predict``. ``training`` has ``compile``, ``fit`` and the like: ``compiled_losses`` and
``compiled_metrics`` make what ``compile`` accepts, with ``output_parts`` for both; ``capturing``
replays steps, ``batches`` reads data, ``train_steps`` and ``awaitables`` are parts of their loops.
``graph_configs`` writes and reads the configurations of connected layers, ``cloning`` copies
models, and ``summary``, ``dot`` and ``svg`` describe them.
"""

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

_CONTENTS = contents(
    """
    models.cloning: clone_model
    models.function: Function
    models.functional: Functional
    models.model: Model
    models.sequential: Sequential
    saving: load_model save_model
    saving.models: model_from_json
    """
)

#: Modules that the others use, which are imported then.
_MODULES = (
    "compiled_losses",
    "compiled_metrics",
    "function",
    "functional",
    "graph_configs",
    "inference",
    "state_tree",
    "summary",
)

if TYPE_CHECKING:
    from webtensor.keras.models import (
        compiled_losses as compiled_losses,
        compiled_metrics as compiled_metrics,
        function as function,
        functional as functional,
        graph_configs as graph_configs,
        inference as inference,
        state_tree as state_tree,
        summary as summary,
    )
    from webtensor.keras.models.cloning import clone_model as clone_model
    from webtensor.keras.models.function import Function as Function
    from webtensor.keras.models.functional import Functional as Functional
    from webtensor.keras.models.model import Model as Model
    from webtensor.keras.models.sequential import Sequential as Sequential
    from webtensor.keras.saving import load_model as load_model, save_model as save_model
    from webtensor.keras.saving.models import model_from_json as model_from_json
else:
    __all__ = [name for names in _CONTENTS.values() for name in names]

    __getattr__, __dir__ = lazy_contents(__name__, _CONTENTS, *_MODULES, base="webtensor.keras")
