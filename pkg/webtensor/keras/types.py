"""Types of what users pass to many classes and functions of the Layers API."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from webtensor.dtypes import DType
    from webtensor.engine import Tensor, TensorLike
    from webtensor.keras.constraints import Constraint
    from webtensor.keras.dtype_policies import DTypePolicy
    from webtensor.keras.initializers import Initializer
    from webtensor.keras.random import SeedGenerator
    from webtensor.keras.regularizers import Regularizer
    from webtensor.keras.symbols import KerasTensor

__all__ = [
    "ActivationLike",
    "Config",
    "ConstraintLike",
    "CustomObjects",
    "DTypeLike",
    "InitializerLike",
    "Operand",
    "RegularizerLike",
    "SeedLike",
    "Shape",
    "Shapes",
    "Structure",
    "SymbolicOrTensor",
]

#: What ``get_config`` returns: arguments by their names, as JSON can hold them.
Config: TypeAlias = dict[str, Any]
#: Classes and functions by the names that configurations have for them.
CustomObjects: TypeAlias = Mapping[str, Callable[..., Any]]
#: A shape; the size of a dimension is None where it is unknown, such as that of a batch.
Shape: TypeAlias = tuple[int | None, ...]

#: The shape of a layer's input or output, or a list, tuple or dictionary of shapes.
Shapes: TypeAlias = "Shape | Sequence[Shapes] | Mapping[str, Shapes]"

#: A tensor, or a list, tuple or dictionary of tensors, which may be symbolic. None is no tensor.
Structure: TypeAlias = (
    "Tensor | KerasTensor | list[Structure] | tuple[Structure, ...] | dict[str, Structure] | None"
)

#: What functions of ``keras.ops`` take: tensors, arrays, numbers, lists, and symbolic tensors.
Operand: TypeAlias = "TensorLike | KerasTensor"
#: What they return: a symbolic tensor where an operand is symbolic.
SymbolicOrTensor: TypeAlias = "Tensor | KerasTensor"

#: A name, a configuration, or the thing itself; None is none.
ActivationLike: TypeAlias = "str | Config | Callable[..., Tensor] | None"
ConstraintLike: TypeAlias = "str | Config | Constraint | Callable[..., Tensor] | None"
InitializerLike: TypeAlias = "str | Config | Initializer | Callable[..., Tensor] | None"
RegularizerLike: TypeAlias = "str | Config | Regularizer | Callable[..., Tensor] | None"

#: A dtype, its name, or a policy or its configuration; None is the default.
DTypeLike: TypeAlias = "str | DType | DTypePolicy | Config | None"
#: A seed, or what counts seeds on; None draws one.
SeedLike: TypeAlias = "int | SeedGenerator | Config | None"
