"""``keras.ops``: functions of tensors and, to put functional models together, of symbolic ones.

``numpy`` has the functions that NumPy has, too; ``math``, ``nn``, ``linalg``, ``einops``, ``image``
and ``core`` are Keras's other modules. Each is a table, and ``operations`` turns its rows into
functions and operations; ``documentation`` has the docstrings of rows without a definition of their
own. Two of Keras's functions are missing: ``eig``, since only eigenvalues of symmetric matrices are
computed, and ``view``, since dtypes that are stored as another dtype do not have Keras's bits.
"""

from __future__ import annotations

from typing import Any

from webtensor.keras.names import nearest
from webtensor.keras.nodes import Operation
from webtensor.keras.ops import core, einops, image, linalg, math, nn, numpy
from webtensor.keras.ops.operations import Table

#: The modules whose functions are also attributes of ``keras.ops``; those of ``image`` are not.
_MODULES = (numpy, nn, core, math, linalg, einops)
_NAMESPACES = ("image", "linalg", "nn", "numpy")

__all__ = sorted(  # noqa: PLE0605
    {*_NAMESPACES, "operation_class", *(name for module in _MODULES for name in module.TABLE.rows)}
)


def __getattr__(name: str) -> Any:
    for module in _MODULES:
        if name in module.TABLE:
            return module.TABLE.function(name)
    for table in (*(module.TABLE for module in (*_MODULES, image)), nn.ACTIVATIONS):
        operation = table.class_named(name)
        if operation is not None:  # pickle looks up the classes of operations here
            return operation
    raise AttributeError(f"keras.ops has no function {name!r}{nearest(name, __all__)}")


def __dir__() -> list[str]:
    return __all__


def operation_class(module: str, class_name: str) -> type[Operation]:
    """Return the class of operations that a configuration names.

    Raises:
        ValueError: the module has no such class.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.operation_class("numpy", "Add").__name__
        'Add'
    """
    tables: dict[str, Table] = {
        table_module.__name__.rpartition(".")[2]: table_module.TABLE
        for table_module in (*_MODULES, image)
    }
    tables["activations"] = nn.ACTIVATIONS
    operation = tables[module].class_named(class_name) if module in tables else None
    if operation is None:
        raise ValueError(f"keras.ops has no operation {class_name!r} in the module {module!r}")
    return operation
