"""``keras.ops``: functions of tensors and, to put functional models together, of symbolic ones.

``numpy`` has what NumPy has, too; ``math``, ``nn``, ``linalg``, ``einops``, ``image`` and ``core``
are Keras's other modules. Each is a table, whose rows ``operations`` makes functions and operations
of. Of Keras's functions two are not here: ``eig``, as eigenvalues of other than symmetric matrices
are not computed, and ``view``, as the bits of dtypes that are held in others are not to be seen.
"""

from __future__ import annotations

from typing import Any

from webtensor.keras.names import nearest
from webtensor.keras.nodes import Operation
from webtensor.keras.ops import core, einops, image, linalg, math, nn, numpy
from webtensor.keras.ops.operations import Table

#: The modules whose functions are here, too, as are those of ``image`` not.
_MODULES = (numpy, nn, core, math, linalg, einops)
_NAMESPACES = ("image", "linalg", "nn", "numpy")

__all__ = sorted(  # noqa: PLE0605
    {*_NAMESPACES, "operation_class", *(name for one in _MODULES for name in one.TABLE.rows)}
)


def __getattr__(name: str) -> Any:
    for module in _MODULES:
        if name in module.TABLE:
            return module.TABLE.function(name)
    for table in (*(module.TABLE for module in (*_MODULES, image)), nn.ACTIVATIONS):
        operation = table.class_named(name)
        if operation is not None:  # pickles look for the classes of operations here
            return operation
    raise AttributeError(f"keras.ops has no function {name!r}{nearest(name, __all__)}")


def __dir__() -> list[str]:
    return __all__


def operation_class(module: str, kind: str) -> type[Operation]:
    """Return the class of operations that a configuration names.

    Raises:
        ValueError: there is none.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.operation_class("numpy", "Add").__name__
        'Add'
    """
    known: dict[str, Table] = {
        one.__name__.rpartition(".")[2]: one.TABLE for one in (*_MODULES, image)
    }
    known["activations"] = nn.ACTIVATIONS
    found = known[module].class_named(kind) if module in known else None
    if found is None:
        raise ValueError(f"keras.ops has no operation {kind!r} in the module {module!r}")
    return found
