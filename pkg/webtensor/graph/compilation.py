"""Compiling nodes: from the tensors that are fetched to the block that computes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats.graph_def import FunctionDef, FunctionName, NodeDef
from webtensor.graph.blocks import DEAD, Block, Reads, Step, run
from webtensor.graph.frames import LOOP, Loop, without_frames
from webtensor.graph.nodes import MISSING, Node, Nodes, Reference, nodes_of, reference_of
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
#: Operations that hand a tensor on.
_TRANSPARENT = _ALIASES | {"IdentityN"}
#: Operations that nothing is computed for.
_UNCOMPUTED = (_TRANSPARENT | _NOTHING) - _INPUTS
#: Identities that belong to a branch by their control inputs.
_CONTROLLED = "_ControlledIdentity"
#: Functions may call functions to this depth.
_MAX_CALLS = 50


def unknown_operations(
    nodes: Iterable[Node | NodeDef], functions: Iterable[str], rows: Mapping[str, Row]
) -> list[str]:
    """Return the names of operations that nothing computes."""
    return sorted({node.op for node in nodes}.difference(rows, _STRUCTURE, functions))


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

    def add(
        self,
        node: Node,
        call: _Call,
        slots: Sequence[int],
        controls: tuple[int, ...],
        outputs: int,
    ) -> None:
        """Add the step of a node, whose inputs are in ``slots``; -1 stands for none."""
        self.steps.append(
            Step(
                call.function,
                tuple(slots if call.inputs is None else [slots[index] for index in call.inputs]),
                tuple([self.slot(Reference(node.name, index)) for index in range(outputs)]),
                tuple([slots[index] for index in call.reads]),
                controls,
                call.runs_blocks,
                tuple([slot for slot in slots if slot >= 0]),
                node,
                call.row,
            )
        )


class _NeededNodes:
    """The nodes that a block needs, in order, and how many outputs of each.

    Their inputs are what the nodes behind aliases compute; ``waits`` are such tensors that must be
    computed before, for the nodes that wait for any.
    """

    def __init__(self) -> None:
        self.order: list[Node] = []
        self.outputs: dict[str, int] = {}
        self.waits: dict[str, list[Reference]] = {}

    def use(self, reference: Reference) -> None:
        """Count a tensor among the outputs of its node."""
        if reference != MISSING and self.outputs.get(reference.node, 0) <= reference.output:
            self.outputs[reference.node] = reference.output + 1


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
    ) -> Block:
        """Return the block that computes tensors.

        Args:
            nodes: the nodes of the graph.
            feeds: the tensors that are given, which may be any of the graph.
            fetches: the tensors to compute.

        Raises:
            ModelFormatError: a tensor depends on itself or on something that is missing.
        """
        nodes, renamed = without_frames(_with_controlled_identities(nodes), self._where)
        fetches = [renamed.get(fetch, fetch) for fetch in fetches]
        return self._block(nodes, feeds, fetches)

    def compile_program(
        self,
        nodes: Nodes,
        feeds: Sequence[Reference],
        fetches: Sequence[Reference],
        constants: Mapping[str, Tensor],
    ) -> Block:
        """Return the block that computes tensors by nodes that are in order already.

        Args:
            nodes: nodes of a compiled block without branches, or what takes their place; each comes
                after those that it needs, except that constants may be anywhere.
            feeds: the tensors that are given.
            fetches: the tensors to compute.
            constants: the values of constant nodes.

        Raises:
            ModelFormatError: an attribute of a node is impossible.
        """
        needed = _NeededNodes()
        for fetch in fetches:
            needed.use(fetch)
        for node in reversed(nodes.values()):
            if node.op != "Const" and node.name in needed.outputs:
                needed.order.append(node)
                for reference in node.inputs:
                    needed.use(reference)
        needed.order += [
            node for node in nodes.values() if node.op == "Const" and node.name in needed.outputs
        ]
        needed.order.reverse()
        return self._assembled(needed, feeds, fetches, lambda node: constants[node.name])

    def _block(
        self, nodes: Nodes, feeds: Sequence[Reference], fetches: Sequence[Reference]
    ) -> Block:
        fed = set(feeds)
        sources: dict[Reference, Reference] = {}
        targets = [self._source(nodes, fetch, fed, sources) for fetch in fetches]
        needed = self._needed_nodes(nodes, targets, fed, sources)
        return self._assembled(needed, feeds, targets, self._constant)

    def _assembled(
        self,
        needed: _NeededNodes,
        feeds: Sequence[Reference],
        targets: Sequence[Reference],
        constant: Callable[[Node], Tensor],
    ) -> Block:
        """Return the block of nodes in order."""
        has_branches = any(node.op in _BRANCHES for node in needed.order)
        steps = _Steps()
        feed_slots = tuple(steps.slot(feed) for feed in feeds)
        for node in needed.order:
            waits = needed.waits.get(node.name, ()) if has_branches else ()
            controls = tuple(steps.slots[wait] for wait in waits if wait in steps.slots)
            if node.op == "Const":
                self._add_constant(steps, node, constant(node), controls)
            elif node.op in _INPUTS:
                if Reference(node.name) not in steps.slots:
                    raise ModelFormatError(
                        f"{self._where}: the input {node.name!r:.200} is missing"
                    )
            elif node.op not in _UNCOMPUTED:
                self._add(steps, node, controls, needed.outputs[node.name])
        missing = [str(target) for target in targets if target not in steps.slots]
        if missing:
            raise ModelFormatError(f"{self._where}: nothing computes the tensor {missing[0]!r}")
        fetch_slots = tuple(steps.slots[target] for target in targets)
        return Block(
            tuple(steps.steps),
            _released(steps.steps, {*fetch_slots}),
            steps.initial,
            feed_slots,
            fetch_slots,
            has_branches,
            tuple(steps.slots),
            self._where,
        )

    # -- which nodes ---------------------------------------------------------------------------

    def _source(
        self,
        nodes: Nodes,
        reference: Reference,
        fed: set[Reference],
        sources: dict[Reference, Reference],
    ) -> Reference:
        """Return the tensor that one is, behind operations that only hand it on.

        ``sources`` has what earlier calls found; this one adds all tensors that it passes.
        """
        path: list[Reference] = []
        while reference not in sources:
            path.append(reference)
            node = nodes.get(reference.node)
            if node is None or node.op not in _TRANSPARENT or reference in fed:
                break
            if node.op == "Enter" and not node.inputs:
                break
            index = reference.output if node.op == "IdentityN" else 0
            if index >= len(node.inputs):
                raise ModelFormatError(
                    f"{self._where}: node {node.name!r:.200} has no input {index}"
                )
            if len(path) > len(nodes):
                raise ModelFormatError(f"{self._where}: node {node.name!r:.200} depends on itself")
            reference = node.inputs[index]
        sources |= dict.fromkeys(path, sources.get(reference, reference))
        return sources[reference]

    def _needed_nodes(
        self,
        nodes: Nodes,
        targets: Sequence[Reference],
        fed: set[Reference],
        sources: dict[Reference, Reference],
    ) -> _NeededNodes:
        needed = _NeededNodes()
        is_ordered: dict[str, bool] = {}
        #: Names of nodes, each with the node as soon as its inputs are in order.
        stack: list[tuple[str, Node | None]] = []
        for target in reversed(targets):
            needed.use(target)
            if target not in fed:
                stack.append((target.node, None))
        while stack:
            name, ready = stack.pop()
            if ready is not None:
                is_ordered[name] = True
                needed.order.append(ready)
                continue
            if name in is_ordered:
                if not is_ordered[name]:
                    raise ModelFormatError(f"{self._where}: node {name!r:.200} depends on itself")
                continue
            if name not in nodes:
                raise ModelFormatError(f"{self._where}: there is no node {name!r:.200}")
            needed.outputs.setdefault(name, 0)
            node = nodes[name]
            if node.op == "Assert" or not (node.inputs or node.controls):
                is_ordered[name] = True
                needed.order.append(node)
                continue
            is_ordered[name] = False
            inputs = [self._source(nodes, reference, fed, sources) for reference in node.inputs]
            waits = [self._source(nodes, Reference(other), fed, sources) for other in node.controls]
            if waits:
                needed.waits[name] = waits
            stack.append((name, Node(name, node.op, tuple(inputs), (), node.attributes)))
            for source in (*inputs, *waits):
                needed.use(source)
                if source != MISSING and source not in fed and not is_ordered.get(source.node):
                    stack.append((source.node, None))
        return needed

    # -- steps ---------------------------------------------------------------------------------

    def _add_constant(
        self, steps: _Steps, node: Node, value: Tensor, controls: tuple[int, ...]
    ) -> None:
        """Add a constant, which is a step where it is on a branch."""
        if controls:
            steps.add(node, _Call(lambda: value), (), controls, 1)
        else:
            steps.slot(Reference(node.name), value)

    def _add(self, steps: _Steps, node: Node, controls: tuple[int, ...], outputs: int) -> None:
        """Add what computes a node."""
        slots = [steps.slots.get(reference, -1) for reference in node.inputs]
        constants = {
            index: steps.initial[slot]
            for index, slot in enumerate(slots)
            if slot >= 0 and isinstance(steps.initial[slot], Tensor)
        }
        call = self._call(node, constants)
        for index in range(len(slots)) if call.inputs is None else call.inputs:
            if slots[index] < 0:
                raise ModelFormatError(
                    f"{self._where}: node {node.name!r:.200} needs the tensor "
                    f"{str(node.inputs[index])!r}, which nothing computes"
                )
        if max(call.reads, default=-1) >= len(slots):
            raise ModelFormatError(
                f"{self._where}: node {node.name!r:.200} has {len(slots)} inputs"
            )
        steps.add(node, call, slots, controls, max(outputs, 1))

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
        body = self._block(frame.nodes, frame.feeds, frame.fetches)
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


def _released(steps: list[Step], fetch_slots: set[int]) -> tuple[tuple[int, ...], ...]:
    """Return for each step the slots that no later one needs."""
    needed = set(fetch_slots)
    released = []
    for step in reversed(steps):
        last = {*step.inputs, *step.outputs} - needed
        released.append(tuple(last))
        needed |= last
        needed.update(step.controls)
    released.reverse()
    return tuple(released)


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
