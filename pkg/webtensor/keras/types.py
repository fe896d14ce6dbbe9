"""Types of what users pass to many classes and functions of the Layers API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from webtensor.dtypes import DType
    from webtensor.engine import Tensor, TensorLike
    from webtensor.keras.constraints import Constraint
    from webtensor.keras.dtype_policies import DTypePolicy
    from webtensor.keras.initializers import Initializer
    from webtensor.keras.regularizers import Regularizer
    from webtensor.keras.symbols import KerasTensor

__all__ = [
    "ActivationLike",
    "Axis",
    "Config",
    "ConstraintLike",
    "CustomObjects",
    "DTypeLike",
    "InitializerLike",
    "Nested",
    "Operand",
    "PathLike",
    "RegularizerLike",
    "Shape",
    "Shapes",
    "SymbolicOrTensor",
    "Tensors",
]

_Leaf = TypeVar("_Leaf")

#: What ``get_config`` returns: values that JSON can represent, by the names of arguments.
Config: TypeAlias = dict[str, Any]
#: Classes and functions by the names that configurations have for them.
CustomObjects: TypeAlias = Mapping[str, Callable[..., Any]]
#: The path of a file or folder.
PathLike: TypeAlias = "str | os.PathLike[str]"
#: A shape; the size of a dimension is None where it is unknown, such as that of a batch.
Shape: TypeAlias = tuple[int | None, ...]
#: One axis, several, or None for all.
Axis: TypeAlias = "int | Sequence[int] | None"

#: Something, or a structure of it: lists, tuples and dictionaries of structures.
Nested: TypeAlias = (
    "_Leaf | list[Nested[_Leaf]] | tuple[Nested[_Leaf], ...] | dict[str, Nested[_Leaf]]"
)

#: The shape of a layer's input or output, or a structure of shapes.
Shapes: TypeAlias = "Nested[Shape]"

#: A tensor, which may be symbolic, or a structure of tensors. None is no tensor.
Tensors: TypeAlias = "Nested[Tensor | KerasTensor | None]"

#: What functions of ``keras.ops`` take: tensors, arrays, numbers, lists, and symbolic tensors.
Operand: TypeAlias = "TensorLike | KerasTensor"
#: What they return: a symbolic tensor where an operand is symbolic.
SymbolicOrTensor: TypeAlias = "Tensor | KerasTensor"

#: An object, its name or its configuration, or a function; None stands for none.
ActivationLike: TypeAlias = "str | Config | Callable[..., Tensor] | None"
ConstraintLike: TypeAlias = "str | Config | Constraint | Callable[..., Tensor] | None"
InitializerLike: TypeAlias = "str | Config | Initializer | Callable[..., Tensor] | None"
RegularizerLike: TypeAlias = "str | Config | Regularizer | Callable[..., Tensor] | None"

#: A dtype or its name, or a policy or its configuration; None is the default.
DTypeLike: TypeAlias = "str | DType | DTypePolicy | Config | None"
