"""Low-rank adaptation: a kernel that stays, and a product of two thin matrices that is learnt."""

from __future__ import annotations

from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.engine import Tensor
from webtensor.keras.layers.arguments import check_positive
from webtensor.keras.layers.layer import Layer
from webtensor.keras.names import name_scope
from webtensor.keras.types import InitializerLike

__all__ = ["Adaptable"]


class Adaptable(Layer):
    """A layer that ``enable_lora`` lets use ``kernel + scale * a @ b`` (Hu et al., 2021).

    Then ``a`` and ``b`` are learnt, and the kernel is not. What is saved is the sum, as the kernel.
    ``_adapted`` is what the layer calls its kernel; the variable has that name with ``_`` before.
    """

    _config_omits: ClassVar = {"lora_rank": None, "lora_alpha": None}
    _adapted: ClassVar[str] = "kernel"
    #: Keras's argument; weights are not quantized here.
    quantization_config: None = None
    lora_enabled: bool = False
    lora_rank: int | None = None
    lora_alpha: float | None = None

    def _take_lora(self, rank: int | None, alpha: float | None) -> None:
        """Keep the arguments that ask for the adaptation."""
        self.lora_rank = rank
        self.lora_alpha = rank if alpha is None or not rank else alpha

    def _build_lora(self) -> None:
        """Enable the adaptation, where the arguments ask for it."""
        if self.lora_rank:
            self.enable_lora(self.lora_rank, lora_alpha=self.lora_alpha)

    def enable_lora(
        self,
        rank: int,
        lora_alpha: float | None = None,
        a_initializer: InitializerLike = "he_uniform",
        b_initializer: InitializerLike = "zeros",
    ) -> None:
        """Learn a product of two matrices from now on, which have ``rank`` columns and rows.

        The product is multiplied by ``lora_alpha / rank``, which is 1 by default.

        Raises:
            ValueError: the layer is not built, or was adapted already, or its kernel has a
                constraint, or the rank is not positive.
        """
        name, own = type(self).__name__, self._adapted
        check_positive(f"{name}.enable_lora", rank=rank)
        if getattr(self, f"{own}_constraint") is not None:
            raise ValueError(
                f"{name}.enable_lora: {own}_constraint must be None, which a sum has not"
            )
        if not hasattr(self, f"_{own}"):
            raise ValueError(f"{name}.enable_lora: layer {self.name!r} must be built before")
        if self.lora_enabled:
            raise ValueError(f"{name}.enable_lora: layer {self.name!r} is adapted already")
        kernel = getattr(self, f"_{own}")
        shapes = {"a": (*kernel.shape[:-1], rank), "b": (rank, kernel.shape[-1])}
        around = self.path.rpartition("/")[0]
        with name_scope(self.name, self, override_parent=around):
            for side, initializer in (("a", a_initializer), ("b", b_initializer)):
                weight = self.add_weight(
                    name=f"lora_{own}_{side}",
                    shape=shapes[side],
                    initializer=initializer,
                    regularizer=getattr(self, f"{own}_regularizer"),
                )
                setattr(self, f"lora_{own}_{side}", weight)
        kernel.trainable = False
        self.lora_enabled = True
        self.lora_rank = rank
        self.lora_alpha = rank if lora_alpha is None else lora_alpha

    def _lora_weights(self) -> list[Any]:
        return [getattr(self, f"lora_{self._adapted}_{side}") for side in "ab"]

    def _adapted_value(self) -> Tensor:
        """The kernel, with the product added if there is one."""
        kernel = getattr(self, f"_{self._adapted}")
        held: Tensor = kernel.value
        if not self.lora_enabled:
            return held
        first, second = (one.value for one in self._lora_weights())
        rank = second.shape[0]
        product = wt.reshape(wt.matmul(wt.reshape(first, (-1, rank)), second), held.shape)
        return wt.add(held, product * ((self.lora_alpha or rank) / rank))

    def _own_variables(self) -> list[Any]:
        """This layer's own variables, as files have them: without those of the product."""
        product = {id(one) for one in self._lora_weights()} if self.lora_enabled else {}
        return [one for one in super()._own_variables() if id(one) not in product]

    def save_own_variables(self, store: Any) -> None:
        """Put the values of this layer's own variables into a mapping, the sum as the kernel."""
        kernel = getattr(self, f"_{self._adapted}", None)
        for index, one in enumerate(self._own_variables()):
            store[str(index)] = self._adapted_value() if one is kernel else one

    def load_own_variables(self, store: Any) -> None:
        """Take the values of this layer's own variables from a mapping; the product becomes 0."""
        super().load_own_variables(store)
        for one in self._lora_weights() if self.lora_enabled else ():
            one.assign(wt.zeros(one.shape))
