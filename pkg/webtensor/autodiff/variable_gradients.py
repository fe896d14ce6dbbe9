"""Gradients of a loss for the variables that it depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from webtensor.arguments import check_callable
from webtensor.autodiff.results import ones_like, require_tensor, variable_list, without_aliases
from webtensor.autodiff.tape import Tape, with_zeros
from webtensor.dtypes import float32
from webtensor.engine import Tensor, Variable

__all__ = ["loss_and_gradients", "variable_grads"]


def variable_grads(
    function: Callable[[], Tensor | Variable], variables: Iterable[Variable] | None = None
) -> tuple[Tensor, dict[str, Tensor]]:
    """Compute a scalar loss and its gradients for the trainable variables it read.

    ``variables`` narrows them; by default all trainable variables that ``function`` read.
    Returns ``(loss, {variable name: gradient})``, in the order of ``variables``. The name of a
    layer's variable is its path, such as ``"dense/kernel"``.

    Raises:
        TypeError: ``variables`` has something else than variables.
        ValueError: the loss is not a float scalar, depends on no such variable, or two of the
            variables have the same name.

    Example:
        >>> import webtensor as wt
        >>> w = wt.Variable(3.0, name="w")
        >>> loss, gradients = wt.variable_grads(lambda: w * w)
        >>> loss.tolist(), gradients["w"].tolist()
        (9.0, 6.0)
    """
    loss, gradients = loss_and_gradients("variable_grads", function, variables)
    named: dict[str, Tensor] = {}
    for variable, gradient in gradients:
        variable_name = getattr(variable, "path", variable.name)
        if variable_name in named:
            raise ValueError(f"variable_grads: two variables are named {variable_name!r}")
        named[variable_name] = gradient
    return loss, named


def loss_and_gradients(
    name: str,
    function: Callable[[], Tensor | Variable],
    variables: Iterable[Variable] | None,
    scale: float | None = None,
) -> tuple[Tensor, list[tuple[Variable, Tensor]]]:
    """Compute a scalar loss and its gradient for each trainable variable that it depends on.

    ``name`` is the function that errors will name, ``scale`` the gradient of the loss itself, 1 by
    default. See ``variable_grads``.
    """
    check_callable(name, "function", function)
    tape = Tape()
    with tape:
        loss = require_tensor(name, function())
    if loss.shape != () or loss.dtype is not float32:
        raise ValueError(
            f"{name}: function must return a float32 scalar, but it returned "
            f"{loss.dtype} of shape {loss.shape}"
        )
    read = {id(variable): (variable, value) for variable, value in tape.variables.values()}
    chosen = list(read.values())
    if variables is not None:
        listed = variable_list(name, "variables", variables)
        chosen = [read[id(variable)] for variable in listed if id(variable) in read]
    of_nothing = tape.met_nothing()
    seed = ones_like(loss)
    gradients: Sequence[Tensor | None] = tape.gradients(
        [loss], [value for _, value in chosen], [seed if scale is None else seed * scale]
    )
    if of_nothing:  # a sum over no elements depends on no variable
        gradients = with_zeros(gradients, [value for _, value in chosen])
    reached = [index for index, gradient in enumerate(gradients) if gradient is not None]
    if not reached:
        raise ValueError(f"{name}: the loss depends on none of the trainable variables")
    own_gradients = without_aliases([gradient for gradient in gradients if gradient is not None])
    return loss, [
        (chosen[index][0], gradient) for index, gradient in zip(reached, own_gradients, strict=True)
    ]
