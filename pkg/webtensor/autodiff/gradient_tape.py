"""``GradientTape``: the tape in TensorFlow's manner, for training steps of one's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any
from warnings import warn

from webtensor.arguments import check_choice
from webtensor.autodiff.functions import in_dtype_of
from webtensor.autodiff.results import ones_like, require_real
from webtensor.autodiff.tape import IDENTITY, Tape, recording_tapes, with_zeros, zero_gradient
from webtensor.dtypes import complex64, float32
from webtensor.engine import Tensor, Variable, alias, as_operand
from webtensor.errors import CaptureError
from webtensor.nest import flatten, is_nested, pack

__all__ = ["GradientTape", "is_differentiable"]

_UNCONNECTED = ("none", "zero")


class GradientTape:
    """A recording of operations, from which gradients are computed afterwards.

    Within ``with tape:`` it records operations that depend on what ``watch`` was called with and,
    unless ``watch_accessed_variables`` is False, on trainable variables. ``gradient``, ``jacobian``
    and ``batch_jacobian`` then walk back along the recording. Only one call of them is allowed,
    since it frees activations as it walks, unless the tape is ``persistent``. Tapes nest: an outer
    tape that records an inner one's ``gradient`` gives second derivatives.

    Example:
        >>> import webtensor as wt
        >>> x = wt.tensor(3.0)
        >>> with wt.GradientTape() as outer:
        ...     outer.watch(x)
        ...     with wt.GradientTape() as inner:
        ...         inner.watch(x)
        ...         y = x**3
        ...     first = inner.gradient(y, x)
        >>> first.tolist(), outer.gradient(first, x).tolist()
        (27.0, 18.0)
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._tape: Tape | None = None
        self._watched_variables: tuple[Variable, ...] = ()

    # -- recording ----------------------------------------------------------------------------

    def __enter__(self) -> GradientTape:
        if self._tape is not None and self._tape.is_recording:
            raise ValueError(
                "GradientTape: the tape is still recording; a tape that is active cannot be "
                "entered again"
            )
        if self._tape is None:
            self._tape = Tape(self._watch_accessed_variables)
        self._tape.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self._tape is not None and self._tape.is_recording:
            self._tape.__exit__()

    def watch(self, tensor: Any) -> None:
        """Record operations that depend on a tensor, a variable, or a structure of these.

        Raises:
            RuntimeError: the tape was not entered.
            ValueError: one of them is neither a tensor nor a variable.
        """
        tape = self._tape
        if tape is None:
            raise RuntimeError("watch: the tape is not recording; call watch within 'with tape:'")
        for operand in flatten(tensor):
            if not isinstance(operand, (Tensor, Variable)):
                raise ValueError(
                    f"watch: tensor must be a Tensor or a Variable, but got {operand!r} of type "
                    f"{type(operand).__name__}"
                )
            if not is_differentiable(operand):
                warn(
                    f"watch: gradients are of floating point tensors, not of {operand.dtype}",
                    stacklevel=2,
                )
            elif isinstance(operand, Variable):
                tape.watch_variable(operand)
            else:
                tape.watch(operand)

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Record nothing within this ``with``, such as the computation of a metric.

        Raises:
            RuntimeError: the tape is not recording.
            CaptureError: it is called within ``wt.vmap``, or in a loop of a captured function.
        """
        tape = self._recording("stop_recording")
        if tape not in recording_tapes():
            raise CaptureError(
                "stop_recording: wt.vmap, and loops of captured functions, record all that they "
                "repeat; use keras.ops.stop_gradient there"
            )
        tape.__exit__()
        try:
            yield
        finally:
            tape.__enter__()

    def reset(self) -> None:
        """Clear the recording and the watched tensors, and go on recording.

        Raises:
            RuntimeError: the tape is not recording.
        """
        self._recording("reset").__exit__()
        self._tape = None
        self.__enter__()

    def _recording(self, name: str) -> Tape:
        if self._tape is None or not self._tape.is_recording:
            raise RuntimeError(f"{name}: the tape is not recording")
        return self._tape

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the variables that were watched, in the order in which they were first used."""
        if self._tape is not None:
            self._watched_variables = self._tape.watched_variables()
        return self._watched_variables

    # -- walking back -------------------------------------------------------------------------

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: str = "none",
    ) -> Any:
        """Return the gradient of the sum of ``target``'s elements for each of ``sources``.

        ``target`` and ``sources`` may be structures of tensors and variables; the result has the
        structure of ``sources``. ``output_gradients`` has the structure of ``target`` and are the
        gradients that the walk back starts from, ones by default. A source on which the target does
        not depend gets None, or zeros if ``unconnected_gradients`` is ``"zero"``.

        Raises:
            RuntimeError: the tape is not persistent and was used before.
            TypeError: a target or source is neither a tensor nor a variable.
            ValueError: ``unconnected_gradients`` or the shape of an output gradient is wrong.

        Example:
            >>> import webtensor as wt
            >>> w, b = wt.Variable(2.0), wt.Variable(1.0)
            >>> with wt.GradientTape() as tape:
            ...     loss = (w * 3.0 + b) ** 2
            >>> gradients = tape.gradient(loss, {"w": w, "b": b})
            >>> gradients["w"].tolist(), gradients["b"].tolist()
            (42.0, 14.0)
        """
        check_choice("gradient", "unconnected_gradients", unconnected_gradients, _UNCONNECTED)
        operands = _operands("gradient", "sources", sources)
        targets = _operands("gradient", "target", target)
        starts = _output_gradients(target, targets, output_gradients)
        tape = self._claim("gradient")
        pairs = [
            (_value(tape, output), dy)
            for output, dy in zip(targets, starts, strict=True)
            if is_differentiable(output)
        ]
        outputs, dys = [output for output, _ in pairs], [dy for _, dy in pairs]
        gradients = _gradients(tape, outputs, operands, dys, keep=self._persistent)
        self._release()
        return pack(sources, _completed(gradients, operands, (), unconnected_gradients))

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: str = "none",
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Return the derivatives of each element of ``target``, of shape target's + source's.

        The tape is walked once for each element. The last two arguments are for TensorFlow's
        scripts.

        Raises:
            RuntimeError, ValueError: as ``gradient``.
            TypeError: as ``gradient``, or ``target`` is complex.

        Example:
            >>> import webtensor as wt
            >>> x = wt.tensor([1.0, 2.0])
            >>> with wt.GradientTape() as tape:
            ...     tape.watch(x)
            ...     y = x * x
            >>> tape.jacobian(y, x).tolist()
            [[2.0, 0.0], [0.0, 4.0]]
        """
        check_choice("jacobian", "unconnected_gradients", unconnected_gradients, _UNCONNECTED)
        operands = _operands("jacobian", "sources", sources)
        (target,) = _operands("jacobian", "target", [target])
        require_real("jacobian", target)
        tape = self._claim("jacobian")
        output = _value(tape, target)
        rows = [
            _gradients(tape, [output], operands, [_unit(index, output.shape)], keep=True)
            for index in range(prod(output.shape))
        ]
        self._release()
        columns = [_stacked(column, 0, output.shape) for column in _transposed(rows, operands)]
        unconnected = unconnected_gradients if rows else "zero"  # there is no row to be unconnected
        return pack(sources, _completed(columns, operands, output.shape, unconnected))

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: str = "none",
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor | None:
        """Return the Jacobian of each example: ``(batch, *target's rest, *source's rest)``.

        An example's target must depend on its source alone. The tape is walked once for each
        element of an example's target.

        Raises:
            RuntimeError: as ``gradient``.
            TypeError: as ``gradient``, or ``target`` is complex.
            ValueError: target and source differ in the first axis.

        Example:
            >>> import webtensor as wt
            >>> x = wt.tensor([[1.0, 2.0], [3.0, 4.0]])
            >>> with wt.GradientTape() as tape:
            ...     tape.watch(x)
            ...     y = x * x
            >>> tape.batch_jacobian(y, x).tolist()
            [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
        """
        check_choice("batch_jacobian", "unconnected_gradients", unconnected_gradients, _UNCONNECTED)
        target, operand = _operands("batch_jacobian", "target and source", [target, source])
        require_real("batch_jacobian", target)
        if not target.shape or target.shape[:1] != operand.shape[:1]:
            raise ValueError(
                f"batch_jacobian: the first axes of target, of shape {target.shape}, and source, "
                f"of shape {operand.shape}, must be the same batch"
            )
        tape = self._claim("batch_jacobian")
        output = _value(tape, target)
        row_shape = output.shape[1:]
        columns = [
            _gradients(
                tape,
                [output],
                [operand],
                [_unit(index, row_shape).broadcast_to(output.shape)],
                keep=True,
            )[0]
            for index in range(prod(row_shape))
        ]
        self._release()
        jacobian = _stacked(columns, 1, (output.shape[0], *row_shape))
        if jacobian is None and (unconnected_gradients == "zero" or not columns):
            zeros = zero_gradient(operand, row_shape)
            return zeros.reshape((*output.shape, *operand.shape[1:]))  # type: ignore[no-any-return]
        return jacobian

    def _claim(self, name: str) -> Tape:
        """Return the tape for a walk back; one that is not persistent records no longer."""
        if self._tape is None:
            raise RuntimeError(
                f"{name}: a GradientTape that is not persistent can only compute one set of "
                "gradients, or Jacobians; make it with persistent=True to compute several"
            )
        if not self._persistent:
            self.__exit__()
        return self._tape

    def _release(self) -> None:
        if not self._persistent:
            self.watched_variables()
            self._tape = None


# -- arguments ------------------------------------------------------------------------------------


def is_differentiable(operand: Tensor | Variable) -> bool:
    """Whether an operand's dtype has gradients."""
    return operand.dtype in (float32, complex64)


def _operands(name: str, argument: str, structure: Any) -> list[Any]:
    """Return the tensors and variables in a structure."""
    operands = flatten(structure)
    for operand in operands:
        if not isinstance(operand, (Tensor, Variable)):
            raise TypeError(
                f"{name}: {argument} must hold tensors or variables, but got {operand!r}"
            )
    return operands


def _output_gradients(target: Any, targets: Sequence[Any], output_gradients: Any) -> list[Tensor]:
    """Return the output gradients that the walk back starts from: ones by default."""
    if output_gradients is None:
        parts: list[Any] = [None] * len(targets)
    elif is_nested(target) or _operands_only(output_gradients):
        parts = flatten(output_gradients)
    else:
        parts = [output_gradients]
    if len(parts) != len(targets):
        raise ValueError(
            f"gradient: output_gradients must be one for each of {len(targets)} targets, but there "
            f"are {len(parts)}"
        )
    gradients = []
    for target, part in zip(targets, parts, strict=True):
        if part is None:
            gradients.append(ones_like(target))
            continue
        dy = in_dtype_of(target, as_operand("gradient", part, float32))
        if dy.shape != target.shape:
            raise ValueError(
                f"gradient: output_gradients must have the target's shape, {target.shape}, but got "
                f"{dy.shape}"
            )
        gradients.append(alias(IDENTITY, dy, dy.shape))
    return gradients


def _operands_only(structure: Any) -> bool:
    return all(isinstance(part, (Tensor, Variable)) for part in flatten(structure))


# -- the backward pass ----------------------------------------------------------------------------


def _value(tape: Tape, target: Any) -> Tensor:
    """Return a target as the tensor that the tape knows."""
    if not isinstance(target, Variable):
        return target  # type: ignore[no-any-return]
    values = tape.values_of(target)
    return values[-1] if values else target.value


def _gradients(
    tape: Tape, outputs: list[Tensor], sources: list[Any], dys: list[Tensor], *, keep: bool
) -> list[Tensor | None]:
    """Return the gradients of tensors and variables; a variable's is the sum of all its reads."""
    values = [
        tape.values_of(source) if isinstance(source, Variable) else [source] for source in sources
    ]
    tensors = {id(value): value for group in values for value in group}
    gradients = tape.gradients(outputs, list(tensors.values()), dys, keep=keep, zeros=False)
    by_tensor = dict(zip(tensors, gradients, strict=True))
    return [_own_sum([by_tensor[id(value)] for value in group]) for group in values]


def _own_sum(parts: list[Tensor | None]) -> Tensor | None:
    """Add the gradients that are not None; the result is a new tensor."""
    total: Tensor | None = None
    for part in parts:
        if part is not None:
            total = part if total is None else total + part
    return None if total is None else alias(IDENTITY, total, total.shape)


def _unit(index: int, shape: tuple[int, ...]) -> Tensor:
    """Return a tensor of zeros with a one at a flat index."""
    return as_operand("jacobian", index).one_hot(prod(shape)).reshape(shape)  # type: ignore[no-any-return]


def _transposed(rows: list[list[Tensor | None]], sources: list[Any]) -> list[list[Tensor | None]]:
    return [[row[position] for row in rows] for position in range(len(sources))]


def _stacked(
    gradients: Sequence[Tensor | None], axis: int, shape: tuple[int, ...]
) -> Tensor | None:
    """Stack the gradients of all elements; ``shape`` replaces their axis."""
    some = next((gradient for gradient in gradients if gradient is not None), None)
    if some is None:
        return None
    stack = some.__array_namespace__().stack
    stacked = stack(with_zeros(gradients, [some] * len(gradients)), axis)
    return stacked.reshape((*shape, *some.shape[axis:]))  # type: ignore[no-any-return]


def _completed(
    gradients: Sequence[Tensor | None],
    sources: Sequence[Any],
    shape: tuple[int, ...],
    unconnected: str,
) -> Sequence[Tensor | None]:
    """Return the gradients, with zeros in place of None if that is requested."""
    if unconnected == "none":
        return list(gradients)
    return with_zeros(gradients, sources, shape)
