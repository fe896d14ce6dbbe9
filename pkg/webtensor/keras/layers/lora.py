"""Low-rank adaptation: a frozen kernel, and a trainable product of two thin matrices."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.dtypes import int32
from webtensor.engine import Tensor, Variable as EngineVariable
from webtensor.keras.layers.layer import Layer
from webtensor.keras.types import InitializerLike
from webtensor.keras.variables import Variable

__all__ = ["Adaptable"]


class Adaptable(Layer):
    """A layer that computes with ``kernel + scale * a @ b`` after ``enable_lora``.

    Training then changes ``a`` and ``b``, but not the kernel (Hu et al., 2021). Files have the sum
    as the kernel.

    Args:
        lora_rank: an integer, the rank of the adaptation that building the layer enables (see
            ``enable_lora``); None for none.
        lora_alpha: a number, by which the product of the adaptation is multiplied, divided by its
            rank; ``lora_rank`` by default.
        quantization_config: None, as weights are not quantized.
    """

    _config_omits: ClassVar = {"lora_rank": None, "lora_alpha": None}
    #: The name of the kernel; the attribute with its variable begins with an underscore.
    _adapted: ClassVar[str] = "kernel"
    quantization_config: None = None
    lora_enabled: bool = False
    lora_rank: int | None = None
    lora_alpha: float | None = None

    def _take_lora(self, rank: int | None, alpha: float | None) -> None:
        """Keep the arguments of the adaptation."""
        self.lora_rank = rank
        self.lora_alpha = rank if alpha is None or not rank else alpha

    def _build_lora(self) -> None:
        """Enable the adaptation that the arguments describe."""
        if self.lora_rank:
            self.enable_lora(self.lora_rank, lora_alpha=self.lora_alpha)

    def enable_lora(
        self,
        rank: int,
        lora_alpha: float | None = None,
        a_initializer: InitializerLike = "he_uniform",
        b_initializer: InitializerLike = "zeros",
    ) -> None:
        """Freeze the kernel, and add a trainable product of matrices of this rank to it.

        The product is multiplied by ``lora_alpha / rank``, which is 1 by default.

        Raises:
            ValueError: the layer is not built, or was adapted already, or its kernel has a
                constraint, or the rank is not positive.
        """
        from webtensor.keras.layers import low_rank  # few layers are adapted

        low_rank.adapt(self, rank, lora_alpha, a_initializer, b_initializer)

    def _lora_weights(self) -> tuple[Variable, Variable]:
        """The two matrices of the product."""
        name = f"lora_{self._adapted}"
        return getattr(self, f"{name}_a"), getattr(self, f"{name}_b")

    def _adapted_value(self) -> Tensor:
        """The kernel, with the product added if there is one."""
        variable: Variable = getattr(self, f"_{self._adapted}")
        kernel = variable.value
        if not self.lora_enabled:
            return kernel
        from webtensor.keras.layers import low_rank  # few layers are adapted

        return low_rank.adapted_value(self, kernel)

    def _dequantized(self, kernel: Tensor, scales: Tensor) -> Tensor:
        return wt.divide(kernel, scales)

    def _own_variables(self) -> list[EngineVariable]:
        """This layer's own variables, as files have them: without those of the product."""
        variables = super()._own_variables()
        hidden = set(map(id, self._lora_weights())) if self.lora_enabled else ()
        return [variable for variable in variables if id(variable) not in hidden]

    def save_own_variables(self, store: MutableMapping[str, Any]) -> None:
        """Put the values of this layer's own variables into a mapping, the sum as the kernel."""
        kernel = getattr(self, f"_{self._adapted}", None)
        for index, variable in enumerate(self._own_variables()):
            store[str(index)] = self._adapted_value() if variable is kernel else variable

    def load_own_variables(self, store: Mapping[str, Any]) -> None:
        """Take the values of this layer's own variables from a mapping; the product becomes 0.

        A kernel that Keras quantized to 8 bits is divided by its scales, which are the last value.
        """
        last = str(len(self._own_variables()))
        if len(store) == int(last) + 1 and store["0"].dtype is int32:
            store = {**store, "0": self._dequantized(store["0"], store[last])}
            del store[last]
        super().load_own_variables(store)
        for weight in self._lora_weights() if self.lora_enabled else ():
            weight.assign(wt.zeros(weight.shape))
