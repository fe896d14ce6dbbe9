"""Compiling nodes: from what is wanted of a graph to the block that computes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats.graph_def import FunctionDef, FunctionName, NodeDef
from webtensor.graph.blocks import DEAD, Block, Reads, Step, run
from webtensor.graph.frames import LOOP, Loop, without_frames
from webtensor.graph.nodes import Node, Nodes, Reference, nodes_of, reference_of
from webtensor.graph.operations import Row
from webtensor.ops import tensor

__all__ = ["Compiler", "unknown_operations"]

#: Operations whose results are their inputs.
_ALIASES = frozenset(
    {
        "CheckNumerics",
        "Enter",
        "Exit",
        "Identity",
        "LoopCond",
        "NextIteration",
        "PlaceholderWithDefault",
        "PreventGradient",
        "Print",
        "Snapshot",
        "StopGradient",
    }
)
_INPUTS = frozenset({"Placeholder", "PlaceholderWithDefault"})
_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_CONDITIONALS = frozenset({"If", "StatelessIf"})
_LOOPS = frozenset({"StatelessWhile", "While"})
_NOTHING = frozenset({"Assert", "NoOp"})
_BRANCHES = frozenset({"Merge", "Switch"})
_STRUCTURE = (
    _ALIASES
    | _INPUTS
    | _CALLS
    | _CONDITIONALS
    | _LOOPS
    | _NOTHING
    | _BRANCHES
    | {"Const", "IdentityN", LOOP}
)
#: Identities that belong to a branch by their control inputs.
_CONTROLLED = "_ControlledIdentity"
#: Functions may call functions to this depth.
_MAX_CALLS = 50


def unknown_operations(
    nodes: Iterable[Node | NodeDef], functions: Iterable[str], rows: Mapping[str, Row]
) -> list[str]:
    """Return the names of operations that nothing computes."""
    known = {*rows, *_STRUCTURE, *functions}
    return sorted({node.op for node in nodes} - known)


class _Steps:
    """The steps of a block that is being compiled, and the slots of its tensors."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.initial: list[Any] = []
        self.slots: dict[Reference, int] = {}

    def slot(self, reference: Reference, value: Any = None) -> int:
        if reference not in self.slots:
            self.slots[reference] = len(self.initial)
            self.initial.append(value)
        return self.slots[reference]


class _Wanted(NamedTuple):
    """The nodes that a block needs, in order, and how many outputs of each."""

    order: list[Node]
    outputs: dict[str, int]


class Compiler:
    """Compiles blocks of one model.

    Args:
        constants: returns the value of a constant node.
        functions: the functions of the graph's library.
        rows: the table of operations.
        where: what errors call the model.
    """

    def __init__(
        self,
        constants: Callable[[Node], Tensor],
        functions: Mapping[str, FunctionDef],
        rows: Mapping[str, Row],
        where: str,
    ) -> None:
        self._constant = constants
        self._functions = functions
        self._rows = rows
        self._where = where
        self._compiled: dict[str, Block] = {}
        self._calls: list[str] = []

    def compile(
        self,
        nodes: Nodes,
        feeds: Sequence[Reference],
        fetches: Sequence[Reference],
        constants: Mapping[str, Tensor] | None = None,
    ) -> Block:
        """Return the block that computes tensors.

        Args:
            nodes: the nodes of the graph.
            feeds: the tensors that are given, which may be any of the graph.
            fetches: the tensors that are wanted.
            constants: the values of constant nodes, where they are not those of the model.

        Raises:
            ModelFormatError: a tensor depends on itself or on something that is missing.
        """
        nodes, renamed = without_frames(_with_controlled_identities(nodes), self._where)
        fetches = [renamed.get(fetch, fetch) for fetch in fetches]
        constant = self._constant if constants is None else lambda node: constants[node.name]
        return self._block(nodes, feeds, fetches, constant)

    def _block(
        self,
        nodes: Nodes,
        feeds: Sequence[Reference],
        fetches: Sequence[Reference],
        constant: Callable[[Node], Tensor],
    ) -> Block:
        fed = set(feeds)
        targets = [self._source(nodes, fetch, fed) for fetch in fetches]
        wanted = self._wanted(nodes, targets, fed)
        has_branches = any(node.op in _BRANCHES for node in wanted.order)
        steps = _Steps()
        feed_slots = tuple(steps.slot(feed) for feed in feeds)
        for node in wanted.order:
            value = constant(node) if node.op == "Const" else None
            self._add(steps, nodes, node, value, wanted.outputs[node.name], fed, has_branches)
        missing = [str(target) for target in targets if target not in steps.slots]
        if missing:
            raise ModelFormatError(f"{self._where}: nothing computes the tensor {missing[0]!r}")
        fetch_slots = tuple(steps.slots[target] for target in targets)
        return Block(
            _released(steps.steps, {*fetch_slots}),
            steps.initial,
            feed_slots,
            fetch_slots,
            has_branches,
            tuple(steps.slots),
            self._where,
        )

    # -- which nodes ---------------------------------------------------------------------------

    def _source(self, nodes: Nodes, reference: Reference, fed: set[Reference]) -> Reference:
        """Return the tensor that one is, behind operations that only hand it on."""
        for _ in range(len(nodes) + 1):
            node = nodes.get(reference.node)
            if node is None or reference in fed:
                return reference
            if node.op == "IdentityN":
                index = reference.output
            elif node.op in _ALIASES and not (node.op == "Enter" and not node.inputs):
                index = 0
            else:
                return reference
            if index >= len(node.inputs):
                raise ModelFormatError(
                    f"{self._where}: node {node.name!r:.200} has no input {index}"
                )
            reference = node.inputs[index]
        raise ModelFormatError(f"{self._where}: node {reference.node!r:.200} depends on itself")

    def _sources(
        self, nodes: Nodes, node: Node, fed: set[Reference]
    ) -> tuple[list[Reference], list[Reference]]:
        """Return the tensors that a node computes with, and those that it waits for."""
        if node.op == "Assert":
            return [], []
        inputs = [self._source(nodes, reference, fed) for reference in node.inputs]
        controls = [self._source(nodes, Reference(name), fed) for name in node.controls]
        return inputs, controls

    def _wanted(self, nodes: Nodes, targets: Sequence[Reference], fed: set[Reference]) -> _Wanted:
        order: list[Node] = []
        outputs: dict[str, int] = {}
        states: dict[str, bool] = {}  # whether a node's inputs are all in order
        stack = [(reference.node, False) for reference in reversed(targets) if reference not in fed]
        for reference in targets:
            outputs[reference.node] = max(outputs.get(reference.node, 0), reference.output + 1)
        while stack:
            name, is_ready = stack.pop()
            if is_ready:
                states[name] = True
                order.append(nodes[name])
                continue
            if name in states:
                if not states[name]:
                    raise ModelFormatError(f"{self._where}: node {name!r:.200} depends on itself")
                continue
            if name not in nodes:
                raise ModelFormatError(f"{self._where}: there is no node {name!r:.200}")
            states[name] = False
            stack.append((name, True))
            inputs, controls = self._sources(nodes, nodes[name], fed)
            outputs.setdefault(name, 0)
            for reference in (*inputs, *controls):
                outputs[reference.node] = max(outputs.get(reference.node, 0), reference.output + 1)
            stack += [
                (reference.node, False)
                for reference in (*inputs, *controls)
                if reference not in fed and not states.get(reference.node, False)
            ]
        return _Wanted(order, outputs)

    # -- steps ---------------------------------------------------------------------------------

    def _add(
        self,
        steps: _Steps,
        nodes: Nodes,
        node: Node,
        value: Tensor | None,
        outputs: int,
        fed: set[Reference],
        has_branches: bool,
    ) -> None:
        """Add what computes a node, which has a value if it is constant."""
        references, waits = self._sources(nodes, node, fed)
        if node.op in _NOTHING or node.op in _ALIASES - _INPUTS or node.op == "IdentityN":
            return
        if node.op in _INPUTS:
            if Reference(node.name) not in fed:
                raise ModelFormatError(f"{self._where}: the input {node.name!r:.200} is missing")
            return
        controls = tuple(
            steps.slots[wait] for wait in waits if has_branches and wait in steps.slots
        )
        if node.op == "Const":
            if not controls:
                steps.slot(Reference(node.name), value)
                return
            call = _Call(lambda: value)
        else:
            constants = {
                index: steps.initial[steps.slots[reference]]
                for index, reference in enumerate(references)
                if reference in steps.slots
                and isinstance(steps.initial[steps.slots[reference]], Tensor)
            }
            call = self._call(node, constants)
        inputs = tuple(range(len(references))) if call.inputs is None else call.inputs
        for index in inputs:
            if references[index] not in steps.slots:
                raise ModelFormatError(
                    f"{self._where}: node {node.name!r:.200} needs the tensor "
                    f"{str(references[index])!r}, which nothing computes"
                )
        if max(call.reads, default=-1) >= len(references):
            raise ModelFormatError(
                f"{self._where}: node {node.name!r:.200} has {len(references)} inputs"
            )
        slots = [steps.slots.get(reference, -1) for reference in references]
        steps.steps.append(
            Step(
                call.function,
                tuple(slots[index] for index in inputs),
                tuple(steps.slot(Reference(node.name, index)) for index in range(max(outputs, 1))),
                tuple(slots[index] for index in call.reads),
                controls,
                (),
                call.runs_blocks,
                tuple(slots),
                node._replace(inputs=tuple(references), controls=()),
                call.row,
            )
        )

    def _call(self, node: Node, constants: Mapping[int, Tensor]) -> _Call:
        op = node.op
        if op == "Switch":
            return _Call(switch, reads=(1,))
        if op == "Merge":
            return _Call(merge)
        if op == _CONTROLLED:
            return _Call(lambda value: value)
        if op == LOOP:
            return self._frame(node)
        if op in _CONDITIONALS:
            branches = [self._function(node, name) for name in ("then_branch", "else_branch")]
            return _Call(conditional(*branches), reads=(0,), runs_blocks=True)
        if op in _LOOPS:
            condition, body = (self._function(node, name) for name in ("cond", "body"))
            return _Call(loop(condition, body), runs_blocks=True)
        if op in _CALLS or op in self._functions:
            block = self._named(op) if op in self._functions else self._function(node, "f")
            return _Call(call(block), runs_blocks=True)
        if op not in self._rows:
            raise ModelFormatError(f"{self._where}: operation {op!r:.200} is unknown")
        row = self._rows[op]
        bound = row.bind(node, constants, self._where)
        return _Call(bound.function, bound.inputs, bound.reads, bound.runs_blocks, row)

    def _function(self, node: Node, attribute: str) -> Block:
        """Return the block of the function that an attribute names."""
        function = node.attributes.get(attribute)
        if not isinstance(function, FunctionName):
            raise ModelFormatError(
                f"{self._where}: node {node.name!r:.200} has no function {attribute!r}"
            )
        return self._named(function.name)

    def _named(self, name: str) -> Block:
        if name in self._compiled:
            return self._compiled[name]
        if name not in self._functions:
            raise ModelFormatError(f"{self._where}: there is no function {name!r:.200}")
        if name in self._calls or len(self._calls) >= _MAX_CALLS:
            raise ModelFormatError(
                f"{self._where}: function {name!r:.200} calls itself, or too many others"
            )
        function = self._functions[name]
        label = f"{self._where}: function {name!r:.200}"
        definitions = {definition.name: definition for definition in function.nodes}
        nodes = nodes_of(function.nodes, label)
        feeds = [Reference(argument.name) for argument in function.inputs]
        fetches = [
            reference_of(function.returns[output.name], label, definitions)
            for output in function.outputs
            if output.name in function.returns
        ]
        if len(fetches) != len(function.outputs):
            raise ModelFormatError(f"{label} does not say what it returns")
        self._calls.append(name)
        try:
            block = self.compile(nodes, feeds, fetches)
        finally:
            self._calls.pop()
        self._compiled[name] = block
        return block

    def _frame(self, node: Node) -> _Call:
        frame: Any = node.attributes["loop"]
        body = self._block(frame.nodes, frame.feeds, frame.fetches, self._constant)
        return _Call(frame_loop(frame, body), runs_blocks=True)


def _with_controlled_identities(nodes: Nodes) -> Nodes:
    """Return nodes in which no identity with control inputs is an alias, if there are branches."""
    if not any(node.op == "Switch" for node in nodes.values()):
        return nodes
    return {
        name: node._replace(op=_CONTROLLED) if node.op == "Identity" and node.controls else node
        for name, node in nodes.items()
    }


class _Call(NamedTuple):
    """What computes a node; ``inputs`` None are all of the node."""

    function: Callable[..., Any]
    inputs: tuple[int, ...] | None = None
    reads: tuple[int, ...] = ()
    runs_blocks: bool = False
    row: Row | None = None


def _released(steps: list[Step], kept: set[int]) -> tuple[Step, ...]:
    """Say for each step what no later one needs."""
    needed = set(kept)
    released: list[Step] = []
    for step in reversed(steps):
        slots = {*step.inputs, *step.outputs}
        released.append(step._replace(releases=tuple(slots - needed)))
        needed |= {*step.inputs, *step.controls}
    return tuple(reversed(released))


# -- control flow ------------------------------------------------------------------------------


def is_true(value: Tensor) -> bool:
    """Whether a condition holds: other numbers than zero, strings that are not empty."""
    if str(value.dtype) == "string":
        return any(value.bytes_sync())
    return bool(value.item())


def switch(value: Any, condition: Tensor) -> tuple[Any, Any]:
    """Return the value on one of two branches."""
    return (DEAD, value) if is_true(condition) else (value, DEAD)


def merge(*values: Any) -> tuple[Any, Tensor]:
    """Return the value of the branch that was taken, and its index."""
    index = next(index for index, value in enumerate(values) if value is not DEAD)
    return values[index], tensor(index, dtype="int32")


def call(block: Block) -> Callable[..., Reads]:
    """Return what calls a function."""
    return lambda *arguments: run(block, arguments)


def conditional(then: Block, otherwise: Block) -> Callable[..., Reads]:
    """Return what calls one of two functions."""

    def choose(condition: Tensor, *arguments: Any) -> Reads:
        return run(then if is_true(condition) else otherwise, arguments)

    return choose


def _truth(value: Tensor) -> Reads:
    if value.storage.host is None:
        yield value
    return is_true(value)


def loop(condition: Block, body: Block) -> Callable[..., Reads]:
    """Return what calls a function as long as another one's result is true."""

    def repeat(*arguments: Any) -> Reads:
        values: Sequence[Any] = arguments
        while True:
            (goes_on,) = yield from run(condition, values)
            if not (yield from _truth(goes_on)):
                return values
            values = yield from run(body, values)

    return repeat


def frame_loop(frame: Loop, body: Block) -> Callable[..., Reads]:
    """Return what repeats the nodes of a frame until its condition is false."""
    carried = frame.carried

    def repeat(*arguments: Any) -> Reads:
        values, invariants = arguments[:carried], arguments[carried:]
        while True:
            results = yield from run(body, (*values, *invariants))
            values, exits = results[:carried], results[carried:]
            has_left = any(value is not DEAD for value in exits)
            if has_left or all(value is DEAD for value in values):
                return exits

    return repeat
