"""The matrices of low-rank adaptation (Hu et al., 2021), for the layers that are adapted."""

from __future__ import annotations

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.arguments import check_positive
from webtensor.keras.layers.lora import Adaptable
from webtensor.keras.names import name_scope
from webtensor.keras.types import InitializerLike

__all__ = ["adapt", "adapted_value"]


def adapt(
    layer: Adaptable,
    rank: int,
    lora_alpha: float | None,
    a_initializer: InitializerLike,
    b_initializer: InitializerLike,
) -> None:
    """Freeze the kernel of a layer, and add the matrices: see ``Adaptable.enable_lora``."""
    name, adapted = type(layer).__name__, layer._adapted
    check_positive(f"{name}.enable_lora", rank=rank)
    if getattr(layer, f"{adapted}_constraint") is not None:
        raise ValueError(
            f"{name}.enable_lora: {adapted}_constraint must be None, as a constraint is not "
            "applied to a sum"
        )
    if not hasattr(layer, f"_{adapted}"):
        raise ValueError(f"{name}.enable_lora: layer {layer.name!r} must be built before")
    if layer.lora_enabled:
        raise ValueError(f"{name}.enable_lora: layer {layer.name!r} is adapted already")
    kernel = getattr(layer, f"_{adapted}")
    shapes = {"a": (*kernel.shape[:-1], rank), "b": (rank, kernel.shape[-1])}
    parent_path = layer.path.rpartition("/")[0]
    with name_scope(layer.name, layer, override_parent=parent_path):
        for side, initializer in (("a", a_initializer), ("b", b_initializer)):
            weight = layer.add_weight(
                name=f"lora_{adapted}_{side}",
                shape=shapes[side],
                initializer=initializer,
                regularizer=getattr(layer, f"{adapted}_regularizer"),
            )
            setattr(layer, f"lora_{adapted}_{side}", weight)
    kernel.trainable = False
    layer.lora_enabled = True
    layer.lora_rank = rank
    layer.lora_alpha = rank if lora_alpha is None else lora_alpha


def adapted_value(layer: Adaptable, kernel: Tensor) -> Tensor:
    """Return the kernel with the product of the matrices added."""
    a, b = (weight.value for weight in layer._lora_weights())
    rank = b.shape[0]
    product = wt.reshape(wt.matmul(wt.reshape(a, (-1, rank)), b), kernel.shape)
    return wt.add(kernel, product * ((layer.lora_alpha or rank) / rank))
