"""Graphs with control flow, and what plain Python computes in their place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tests_py.graph.graphs import (
    Array,
    Dtype,
    Function,
    JsonNode,
    Shape,
    constant,
    function,
    node,
    placeholder,
    topology,
)

__all__ = ["FLOWS", "Flow", "frame"]

FLOAT, INT = Dtype("float32"), Dtype("int32")


class Flow(NamedTuple):
    """A graph with control flow.

    Attributes:
        name: what reports call it.
        nodes: its nodes.
        functions: the functions of its library.
        feeds: the inputs.
        expected: the outputs by the names of their tensors.
    """

    name: str
    nodes: list[JsonNode]
    functions: list[dict[str, Any]]
    feeds: dict[str, Array]
    expected: dict[str, Array]

    @property
    def topology(self) -> dict[str, Any]:
        """The graph."""
        return topology(self.nodes, self.functions)


def flow(
    name: str,
    nodes: Iterable[JsonNode],
    expected: Mapping[str, Any],
    functions: Iterable[dict[str, Any]] = (),
    **feeds: Any,
) -> Flow:
    """A graph that is fed with numbers and lists."""
    return Flow(
        name,
        list(nodes),
        list(functions),
        {key: _narrow(value) for key, value in feeds.items()},
        {key: _narrow(value) for key, value in expected.items()},
    )


def _narrow(value: Any) -> Array:
    array = np.asarray(value)
    return array.astype({"float64": "float32", "int64": "int32"}.get(str(array.dtype), array.dtype))


# -- loops of TensorFlow 1 ---------------------------------------------------------------------


def frame(
    name: str,
    carried: Mapping[str, tuple[str, str]],
    invariants: Mapping[str, str],
    predicate: str,
    nodes: Iterable[JsonNode],
) -> list[JsonNode]:
    """The nodes of a loop as TensorFlow 1 writes it.

    Args:
        name: the name of the frame.
        carried: the first and the next value of each variable; a node of the condition takes it as
            "variable", one of the body as "variable_now", and nodes after the loop as
            "variable_end".
        invariants: the tensors from outside that the loop uses, by the names that they have there.
        predicate: the condition.
        nodes: the nodes of the condition and of the body.
    """
    loop: list[JsonNode] = [node(f"{name}_cond", "LoopCond", predicate)]
    for variable, (first, following) in carried.items():
        loop += [
            node(f"{variable}_enter", "Enter", first, frame_name=name, is_constant=False),
            node(variable, "Merge", [f"{variable}_enter", f"{variable}_next"], N=2),
            node(f"{variable}_switch", "Switch", [variable, f"{name}_cond"]),
            node(f"{variable}_now", "Identity", f"{variable}_switch:1"),
            node(f"{variable}_next", "NextIteration", following),
            node(f"{variable}_end", "Exit", f"{variable}_switch"),
        ]
    loop += [
        node(inside, "Enter", outside, frame_name=name, is_constant=True)
        for inside, outside in invariants.items()
    ]
    return [*loop, *nodes]


def squares(limit: str = "n", prefix: str = "", first: str = "zero") -> list[JsonNode]:
    """A loop that adds squares of the numbers below a limit."""
    p = prefix
    return frame(
        f"{p}squares",
        {f"{p}i": ("zero", f"{p}i_more"), f"{p}total": (first, f"{p}total_more")},
        {f"{p}limit": limit, f"{p}step": "one"},
        f"{p}is_less",
        [
            node(f"{p}is_less", "Less", f"{p}i {p}limit", T=INT),
            node(f"{p}i_more", "AddV2", f"{p}i_now {p}step", T=INT),
            node(f"{p}square", "Mul", f"{p}i_now {p}i_now", T=INT),
            node(f"{p}total_more", "AddV2", f"{p}total_now {p}square", T=INT),
        ],
    )


NUMBERS = [constant("zero", 0), constant("one", 1), placeholder("n", "int32")]


def nested_loops(
    start: str, nodes: Iterable[JsonNode] = (), invariants: Mapping[str, str] | None = None
) -> list[JsonNode]:
    """A loop in a loop, which begins with ``start`` and adds products."""
    inner = frame(
        "inner",
        {"j": (start, "j_more"), "sum": ("total_now", "sum_more")},
        {"inner_limit": "i_now", "inner_step": "step"},
        "inner_is_less",
        [
            node("inner_is_less", "Less", "j inner_limit", T=INT),
            node("j_more", "AddV2", "j_now inner_step", T=INT),
            node("product", "Mul", "j_now inner_limit", T=INT),
            node("sum_more", "AddV2", "sum_now product", T=INT),
        ],
    )
    outer = frame(
        "outer",
        {"i": ("zero", "i_more"), "total": ("zero", "sum_end")},
        {"limit": "n", "step": "one", **(invariants or {})},
        "is_less",
        [
            node("is_less", "Less", "i limit", T=INT),
            node("i_more", "AddV2", "i_now step", T=INT),
            *nodes,
            *inner,
        ],
    )
    return [*NUMBERS, *outer]


NESTED = nested_loops("nought", invariants={"nought": "zero"})

#: The constant knows its frame by a NoOp, which waits for a Switch, too.
NESTED_FROM_CONSTANT = nested_loops(
    "start",
    [node("pause", "NoOp", "^i_switch ^i_now"), constant("start", 0, inputs="^pause")],
)


def nested(n: int) -> int:
    """What the nested loops compute."""
    return sum(i * j for i in range(n) for j in range(i))


CONTROLLED = [
    *NUMBERS,
    *frame(
        "doubling",
        {"x": ("one", "x_more")},
        {"limit": "n"},
        "is_less",
        [
            node("is_less", "Less", "x limit", T=INT),
            constant("two", 2, inputs="^x_now"),
            node("x_more", "Mul", "x_now two", T=INT),
        ],
    ),
    constant("ten", 10, inputs="^x_end"),
    node("y", "AddV2", "x_end ten", T=INT),
]

ARRAY_IN_LOOP = [
    *NUMBERS,
    node("array", "TensorArrayV3", "n", dtype=INT, element_shape=Shape(()), dynamic_size=False,
         clear_after_read=True, identical_element_shapes=True, tensor_array_name="squares"),
    *frame(
        "writing",
        {"i": ("zero", "i_more"), "flow": ("array:1", "written")},
        {"limit": "n", "step": "one", "handle": "array"},
        "is_less",
        [
            node("is_less", "Less", "i limit", T=INT),
            node("i_more", "AddV2", "i_now step", T=INT),
            node("square", "Mul", "i_now i_now", T=INT),
            node("written", "TensorArrayWriteV3", "handle i_now square flow_now", T=INT),
        ],
    ),
    node("size", "TensorArraySizeV3", "array flow_end"),
    node("indices", "Range", "zero size one", Tidx=INT),
    node("y", "TensorArrayGatherV3", "array indices flow_end", dtype=INT, element_shape=Shape(())),
]  # fmt: skip

RUNNING_SUM = [
    placeholder("x", "float32"),
    constant("zero", 0), constant("one", 1), constant("three", 3), constant("start", [0.0, 0.0]),
    constant("all", [0, 1, 2]),
    node("inputs", "TensorArrayV3", "three", dtype=FLOAT, element_shape=Shape((2,)),
         dynamic_size=False, clear_after_read=True, identical_element_shapes=True,
         tensor_array_name="inputs"),
    node("filled", "TensorArrayScatterV3", "inputs all x inputs:1", T=FLOAT),
    node("outputs", "TensorArrayV3", "zero", dtype=FLOAT, element_shape=Shape((2,)),
         dynamic_size=True, clear_after_read=True, identical_element_shapes=True,
         tensor_array_name="outputs"),
    *frame(
        "time",
        {"i": ("zero", "i_more"), "state": ("start", "state_more"), "flow": ("outputs:1", "out")},
        {"limit": "three", "step": "one", "in": "inputs", "in_flow": "filled", "to": "outputs"},
        "is_less",
        [
            node("is_less", "Less", "i limit", T=INT),
            node("i_more", "AddV2", "i_now step", T=INT),
            node("row", "TensorArrayReadV3", "in i_now in_flow", dtype=FLOAT),
            node("state_more", "AddV2", "state_now row", T=FLOAT),
            node("out", "TensorArrayWriteV3", "to i_now state_more flow_now", T=FLOAT),
        ],
    ),
    node("y", "TensorArrayGatherV3", "outputs all flow_end", dtype=FLOAT,
         element_shape=Shape((2,))),
]  # fmt: skip

LEFT_OPEN = [
    placeholder("x"),
    node("entered", "Enter", "x", frame_name="open"),
    node("y", "Sqrt", "entered", T=FLOAT),
]

ROWS = [[1.0, 2.0], [3.0, -4.0], [0.5, 6.0]]

LOOPS = [
    *(
        flow(
            f"loop of {n}",
            [*NUMBERS, *squares()],
            {"total_end": sum(i * i for i in range(n)), "i_end": n},
            n=n,
        )
        for n in (0, 1, 5)
    ),
    flow(
        "two loops",
        [*NUMBERS, *squares(), *squares("i_end", "second_", "total_end")],
        {"second_total_end": 2 * (0 + 1 + 4 + 9)},
        n=4,
    ),
    *(flow(f"nested loops of {n}", NESTED, {"total_end": nested(n)}, n=n) for n in (0, 1, 5)),
    *(
        flow(
            f"nested loops of {n} from a constant",
            NESTED_FROM_CONSTANT,
            {"total_end": nested(n)},
            n=n,
        )
        for n in (0, 1, 5)
    ),
    flow("constants in and after a loop", CONTROLLED, {"y": 26}, n=10),
    flow("array written in a loop", ARRAY_IN_LOOP, {"y": [0, 1, 4, 9]}, n=4),
    flow("running sum", RUNNING_SUM, {"y": np.cumsum(ROWS, 0)}, x=ROWS),
    flow("frame that nothing leaves", LEFT_OPEN, {"y": 3.0}, x=9.0),
    flow("frame that nothing leaves, from its Enter", LEFT_OPEN, {"y": 4.0}, entered=16.0),
]

# -- conditionals of TensorFlow 1 --------------------------------------------------------------

CHOICE = [
    placeholder("x", "float32"),
    constant("zero", 0.0), constant("two", 2.0), constant("one", 1.0),
    node("is_positive", "Greater", "x zero", T=FLOAT),
    node("x_switch", "Switch", "x is_positive"),
    node("two_switch", "Switch", "two is_positive"),
    node("one_switch", "Switch", "one is_positive"),
    node("doubled", "Mul", "x_switch:1 two_switch:1", T=FLOAT),
    node("lessened", "Sub", "x_switch one_switch", T=FLOAT),
    node("y", "Merge", "lessened doubled", N=2),
    node("z", "Neg", "y", T=FLOAT),
]  # fmt: skip

#: Constants on branches know them by control inputs, from one branch or from both.
CONSTANT_BRANCHES = [
    placeholder("x", "float32"),
    constant("zero", 0.0),
    node("is_positive", "Greater", "x zero", T=FLOAT),
    node("switch", "Switch", "is_positive is_positive"),
    node("on_true", "Identity", "switch:1"),
    node("on_false", "Identity", "switch"),
    constant("plus", 10.0, inputs="^on_true"),
    constant("minus", -10.0, inputs="^on_false"),
    node("y", "Merge", "minus plus", N=2),
]

#: A Merge takes the input that is there, although what it waits for is on both branches.
WAITING_MERGE = [
    *CONSTANT_BRANCHES[:-1],
    node("both", "NoOp", "^on_true ^on_false"),
    node("y", "Merge", "minus plus ^both"),
]

#: The constant waits for a quotient, which the converter writes as other nodes.
WAITING_FOR_QUOTIENT = [
    *CONSTANT_BRANCHES[:-3],
    node("x_switch", "Switch", "x is_positive"),
    node("quotient", "FloorDiv", "x_switch:1 x_switch:1", T=FLOAT),
    constant("plus", 10.0, inputs="^quotient"),
    *CONSTANT_BRANCHES[-2:],
]

#: As above, but nothing else refers to the branch of the switch that the controls do.
ONE_CONSTANT_BRANCH = [
    placeholder("x", "float32"),
    constant("zero", 0.0),
    node("is_positive", "Greater", "x zero", T=FLOAT),
    node("switch", "Switch", "x is_positive"),
    node("on_true", "Identity", "switch:1"),
    constant("plus", 10.0, inputs="^on_true"),
    node("same", "Neg", "switch", T=FLOAT),
    node("y", "Merge", "plus same", N=2),
]

#: The constant that is handed on belongs to a branch by the control input of the identity.
CONTROLLED_IDENTITY = [
    placeholder("x", "float32"),
    constant("zero", 0.0),
    constant("plus", 10.0),
    constant("minus", -10.0),
    node("is_positive", "Greater", "x zero", T=FLOAT),
    node("switch", "Switch", "is_positive is_positive"),
    node("on_true", "Identity", "switch:1"),
    node("on_false", "Identity", "switch"),
    node("if_true", "Identity", "plus ^on_true"),
    node("if_false", "Identity", "minus ^on_false"),
    node("y", "Merge", "if_false if_true", N=2),
]

#: if x > 0: (if x > 5: x / 2 else: x * 2) else: -x
NESTED_CHOICE = [
    placeholder("x", "float32"),
    constant("zero", 0.0), constant("five", 5.0), constant("two", 2.0),
    node("is_positive", "Greater", "x zero", T=FLOAT),
    node("x_switch", "Switch", "x is_positive"),
    node("five_switch", "Switch", "five is_positive"),
    node("two_switch", "Switch", "two is_positive"),
    node("is_large", "Greater", "x_switch:1 five_switch:1", T=FLOAT),
    node("large_switch", "Switch", "x_switch:1 is_large"),
    node("inner_two", "Switch", "two_switch:1 is_large"),
    node("halved", "RealDiv", "large_switch:1 inner_two:1", T=FLOAT),
    node("doubled", "Mul", "large_switch inner_two", T=FLOAT),
    node("inner", "Merge", "doubled halved", N=2),
    node("negative", "Neg", "x_switch", T=FLOAT),
    node("y", "Merge", "negative inner", N=2),
]  # fmt: skip

#: Steps of the Collatz sequence: a conditional in a loop.
COLLATZ = [
    *NUMBERS,
    constant("two", 2), constant("three", 3),
    *frame(
        "collatz",
        {"k": ("n", "k_more"), "count": ("zero", "count_more")},
        {"unit": "one", "pair": "two", "triple": "three", "nought": "zero"},
        "goes_on",
        [
            node("goes_on", "Greater", "k unit", T=INT),
            node("rest", "FloorMod", "k_now pair", T=INT),
            node("is_odd", "Greater", "rest nought", T=INT),
            node("k_choice", "Switch", "k_now is_odd"),
            node("triple_switch", "Switch", "triple is_odd"),
            node("unit_switch", "Switch", "unit is_odd"),
            node("pair_switch", "Switch", "pair is_odd"),
            node("tripled", "Mul", "k_choice:1 triple_switch:1", T=INT),
            node("odd", "AddV2", "tripled unit_switch:1", T=INT),
            node("even", "FloorDiv", "k_choice pair_switch", T=INT),
            node("k_more", "Merge", "even odd", N=2),
            node("count_more", "AddV2", "count_now unit", T=INT),
        ],
    ),
]  # fmt: skip


def collatz(n: int) -> int:
    """The number of steps until 1."""
    count = 0
    while n > 1:
        n, count = (3 * n + 1 if n % 2 else n // 2), count + 1
    return count


CHOICES = [
    *(
        flow(f"conditional {x}", CHOICE, {"y": y, "z": -y}, x=x)
        for x, y in ((3.0, 6.0), (-3.0, -4.0))
    ),
    *(
        flow(f"{label} {x}", nodes, {"y": 10.0 if x > 0 else low}, x=x)
        for label, nodes, low in (
            ("constants on both branches", CONSTANT_BRANCHES, -10.0),
            ("constants on both branches, and a Merge after both", WAITING_MERGE, -10.0),
            ("constants on both branches, and one after a quotient", WAITING_FOR_QUOTIENT, -10.0),
            ("constant on one branch", ONE_CONSTANT_BRANCH, 2.0),
            ("identities on branches", CONTROLLED_IDENTITY, -10.0),
        )
        for x in (1.0, -2.0)
    ),
    *(
        flow(f"nested conditional {x}", NESTED_CHOICE, {"y": y}, x=x)
        for x, y in ((8.0, 4.0), (3.0, 6.0), (-3.0, 3.0))
    ),
    *(
        flow(f"conditional in a loop {n}", COLLATZ, {"count_end": collatz(n)}, n=n)
        for n in (1, 6, 7)
    ),
]

# -- functions ---------------------------------------------------------------------------------

DOUBLE = function("double", {"a": "float32"}, {"r": ("float32", "twice:z:0")}, [
    constant("two_of_double", 2.0),
    node("twice", "Mul", ["a", "two_of_double:output:0"], T=FLOAT),
])  # fmt: skip
NEGATE = function("negate", {"a": "float32"}, {"r": ("float32", "neg:y:0")}, [
    node("neg", "Neg", "a", T=FLOAT),
])  # fmt: skip
CLAMP = function("clamp", {"a": "float32"}, {"r": ("float32", "choice:output:0")}, [
    constant("ten_of_clamp", 10.0),
    node("is_large", "Greater", ["a", "ten_of_clamp:output:0"], T=FLOAT),
    node("choice", "StatelessIf", ["is_large:z:0", "a"], then_branch=Function("negate"),
         else_branch=Function("double"), Tout=[FLOAT]),
])  # fmt: skip
SWAPPED = function(
    "swapped",
    {"a": "float32", "b": "float32"},
    {"first": ("float32", "b"), "second": ("float32", "again:output:0")},
    [node("again", "Identity", "a", T=FLOAT)],
)


def conditional(op: str) -> list[JsonNode]:
    """A graph that chooses between functions."""
    return [
        placeholder("x", "float32"),
        constant("zero", 0.0),
        node("is_positive", "Greater", "x zero", T=FLOAT),
        node("y", op, "is_positive x", then_branch=Function("clamp"),
             else_branch=Function("negate"), Tout=[FLOAT]),
    ]  # fmt: skip


IS_LESS = function(
    "is_less",
    {"i": "int32", "total": "int32", "n": "int32"},
    {"r": ("bool", "less:z:0")},
    [node("less", "Less", "i n", T=INT)],
)
ADD_SQUARE = function(
    "add_square",
    {"i": "int32", "total": "int32", "n": "int32"},
    {"a": ("int32", "more:z:0"), "b": ("int32", "sum:z:0"), "c": ("int32", "n")},
    [
        constant("one_of_body", 1),
        node("more", "AddV2", "i one_of_body", T=INT),
        node("square", "Mul", "i i", T=INT),
        node("sum", "AddV2", "total square:z:0", T=INT),
    ],
)
#: total += sum of squares below i
ADD_SQUARES = function(
    "add_squares",
    {"i": "int32", "total": "int32", "n": "int32"},
    {"a": ("int32", "more:z:0"), "b": ("int32", "loop:output:1"), "c": ("int32", "n")},
    [
        constant("one_of_outer", 1),
        constant("zero_of_outer", 0),
        node("more", "AddV2", "i one_of_outer", T=INT),
        node("loop", "StatelessWhile", "zero_of_outer total i", cond=Function("is_less"),
             body=Function("add_square"), T=[INT] * 3),
    ],
)  # fmt: skip
STEP = function(
    "step",
    {"k": "int32", "count": "int32"},
    {"a": ("int32", "choice:output:0"), "b": ("int32", "more:z:0")},
    [
        constant("one_of_step", 1),
        constant("two_of_step", 2),
        node("rest", "FloorMod", "k two_of_step", T=INT),
        node("is_odd", "Equal", "rest one_of_step", T=INT),
        node("choice", "If", "is_odd k", then_branch=Function("odd"), else_branch=Function("even"),
             Tout=[INT]),
        node("more", "AddV2", "count one_of_step", T=INT),
    ],
)  # fmt: skip
ODD = function("odd", {"k": "int32"}, {"r": ("int32", "next:z:0")}, [
    constant("three_of_odd", 3), constant("one_of_odd", 1),
    node("tripled", "Mul", "k three_of_odd", T=INT),
    node("next", "AddV2", "tripled one_of_odd", T=INT),
])  # fmt: skip
EVEN = function("even", {"k": "int32"}, {"r": ("int32", "next:z:0")}, [
    constant("two_of_even", 2),
    node("next", "FloorDiv", "k two_of_even", T=INT),
])  # fmt: skip
GOES_ON = function("goes_on", {"k": "int32", "count": "int32"}, {"r": ("bool", "greater:z:0")}, [
    constant("one_of_cond", 1),
    node("greater", "Greater", "k one_of_cond", T=INT),
])  # fmt: skip


def functional_loop(op: str, body: str) -> list[JsonNode]:
    """A graph that repeats a function."""
    return [
        *NUMBERS,
        node("y", op, "zero zero n", cond=Function("is_less"), body=Function(body), T=[INT] * 3),
        node("z", "Neg", "y:1", T=INT),
    ]


FUNCTIONS = [
    *(
        flow(f"{op} {x}", conditional(op), {"y": y}, [DOUBLE, NEGATE, CLAMP], x=x)
        for op in ("If", "StatelessIf")
        for x, y in ((20.0, -20.0), (4.0, 8.0), (-3.0, 3.0))
    ),
    *(
        flow(
            f"{op} of {n}",
            functional_loop(op, "add_square"),
            {"y": n, "z": -sum(i * i for i in range(n))},
            [IS_LESS, ADD_SQUARE],
            n=n,
        )
        for op in ("While", "StatelessWhile")
        for n in (0, 5)
    ),
    flow(
        "nested While",
        functional_loop("While", "add_squares"),
        {"z": -sum(j * j for i in range(5) for j in range(i))},
        [IS_LESS, ADD_SQUARE, ADD_SQUARES],
        n=5,
    ),
    flow(
        "If in While",
        [
            *NUMBERS,
            node("y", "While", "n zero", cond=Function("goes_on"), body=Function("step"),
                 T=[INT] * 2),
            node("count", "Identity", "y:1", T=INT),
        ],
        {"count": collatz(7)},
        [GOES_ON, STEP, ODD, EVEN],
        n=7,
    ),
    *(
        flow(
            op,
            [
                placeholder("x", "float32"),
                placeholder("other", "float32"),
                node("both", op, "x other", f=Function("swapped"), Tout=[FLOAT] * 2),
                node("y", "Sub", "both both:1", T=FLOAT),
            ],
            {"y": 4.0},
            [SWAPPED],
            x=1.0,
            other=5.0,
        )
        for op in ("PartitionedCall", "StatefulPartitionedCall")
    ),
    flow(
        "function as an operation",
        [placeholder("x", "float32"), node("y", "double", "x")],
        {"y": 3.0},
        [DOUBLE],
        x=1.5,
    ),
]  # fmt: skip

WRITING = function(
    "writing",
    {"a": "float32"},
    {"x": ("float32", "a"), "y": ("float32", "stack:tensor:0"), "z": ("int32", "five:output:0")},
    [
        constant("row_shape_of_writing", [2]),
        constant("zero_of_writing", 0),
        constant("one_of_writing", 1),
        constant("five", 5),
        node("empty", "TensorListReserve", "row_shape_of_writing one_of_writing",
             element_dtype=FLOAT),
        node("list", "TensorListSetItem", "empty zero_of_writing a", element_dtype=FLOAT),
        node("stack", "TensorListStack", "list row_shape_of_writing", element_dtype=FLOAT,
             num_elements=-1),
    ],
)  # fmt: skip
NOT_WRITING = function(
    "not_writing",
    {"a": "float32"},
    {
        "x": ("float32", "neg:y:0"),
        "y": ("float32", "rows:output:0"),
        "z": ("int32", "seven:output:0"),
    },
    [
        constant("zero_of_rows", 0),
        constant("seven", 7),
        node("neg", "Neg", "a", T=FLOAT),
        node("rows", "ExpandDims", "a zero_of_rows", T=FLOAT),
    ],
)
BRANCHES = [
    *(
        flow(
            f"branches of which one writes a list, {choice}",
            [
                placeholder("choice", "bool"),
                placeholder("row", "float32"),
                node("x", "If", "choice row", then_branch=Function("writing"),
                     else_branch=Function("not_writing"), Tout=[FLOAT, FLOAT, INT]),
                node("y", "Identity", "x:1", T=FLOAT),
                node("z", "Identity", "x:2", T=INT),
            ],
            {"x": x, "y": [[3.0, 4.0]], "z": z},
            [WRITING, NOT_WRITING],
            choice=choice,
            row=[3.0, 4.0],
        )
        for choice, x, z in ((True, [3.0, 4.0], 5), (False, [-3.0, -4.0], 7))
    ),
]  # fmt: skip

# -- arrays and lists --------------------------------------------------------------------------

X = np.array(ROWS, np.float32)
NUMBERS_OF_LISTS = [
    placeholder("x", "float32"),
    constant("row_shape", [2]), constant("any_rows", [-1, 2]), constant("row", [7.0, 8.0]),
    constant("zero", 0), constant("one", 1), constant("three", 3), constant("five", 5),
    constant("sizes", [1, 2]), constant("picked", [2, 0]), constant("spread", [2, 0, 1]),
    constant("scalar", [], np.int32),
]  # fmt: skip


def list_of(name: str, *nodes: JsonNode, **expected: Any) -> Flow:
    """A graph of operations on a list, which is fed with rows."""
    return flow(name, [*NUMBERS_OF_LISTS, *nodes], expected, x=X)


def listed(name: str, op: str, inputs: str, **attributes: Any) -> JsonNode:
    """An operation on a list of floats."""
    return node(name, op, inputs, element_dtype=FLOAT, **attributes)


FROM_TENSOR = listed("list", "TensorListFromTensor", "x row_shape")

LISTS = [
    list_of(
        "TensorListFromTensor, TensorListStack",
        FROM_TENSOR,
        listed("y", "TensorListStack", "list row_shape", num_elements=3),
        y=X,
    ),
    list_of(
        "TensorListReserve, TensorListSetItem",
        listed("empty", "TensorListReserve", "row_shape one"),
        listed("list", "TensorListSetItem", "empty zero row"),
        listed("y", "TensorListStack", "list row_shape", num_elements=-1),
        y=[[7.0, 8.0]],
    ),
    list_of(
        "TensorListGetItem",
        FROM_TENSOR,
        listed("y", "TensorListGetItem", "list one row_shape"),
        y=X[1],
    ),
    list_of("TensorListLength", FROM_TENSOR, node("y", "TensorListLength", "list"), y=3),
    list_of(
        "TensorListResize",
        FROM_TENSOR,
        node("short", "TensorListResize", "list one"),
        listed("y", "TensorListStack", "short row_shape", num_elements=-1),
        y=X[:1],
    ),
    list_of(
        "TensorListGather",
        FROM_TENSOR,
        listed("y", "TensorListGather", "list picked row_shape"),
        y=X[[2, 0]],
    ),
    list_of(
        "EmptyTensorList, TensorListPushBack",
        listed("empty", "EmptyTensorList", "row_shape five"),
        listed("list", "TensorListPushBack", "empty row"),
        node("y", "TensorListLength", "list"),
        y=1,
    ),
    list_of(
        "TensorListScatter",
        listed("list", "TensorListScatter", "x spread row_shape"),
        listed("y", "TensorListStack", "list row_shape", num_elements=-1),
        y=X[[1, 2, 0]],
    ),
    list_of(
        "TensorListScatterV2",
        listed("list", "TensorListScatterV2", "x spread row_shape three"),
        listed("y", "TensorListStack", "list row_shape", num_elements=-1),
        y=X[[1, 2, 0]],
    ),
    list_of(
        "TensorListConcat",
        FROM_TENSOR,
        listed("y", "TensorListConcat", "list", element_shape=Shape((2,))),
        y=X.ravel(),
    ),
    list_of(
        "TensorListSplit",
        listed("list", "TensorListSplit", "x any_rows sizes"),
        node("y", "TensorListLength", "list"),
        y=2,
    ),
]

#: What TensorFlow.js does otherwise, or not at all; TensorFlow's documentation is the oracle.
OWN_LISTS = [
    list_of(
        "TensorListPopBack",
        FROM_TENSOR,
        listed("popped", "TensorListPopBack", "list row_shape"),
        node("y", "Identity", "popped:1"),
        node("length", "TensorListLength", "popped"),
        node("length_before", "TensorListLength", "list"),
        y=X[2],
        length=2,
        length_before=3,
    ),
    list_of(
        "lists never change",
        FROM_TENSOR,
        listed("changed", "TensorListSetItem", "list one row"),
        listed("more", "TensorListPushBack", "list row"),
        listed("y", "TensorListStack", "list row_shape", num_elements=-1),
        listed("z", "TensorListStack", "changed row_shape", num_elements=-1),
        listed("w", "TensorListStack", "more row_shape", num_elements=-1),
        y=X,
        z=[X[0], [7, 8], X[2]],
        w=[*X, [7, 8]],
    ),
    list_of(
        "elements that were never set",
        listed("empty", "TensorListReserve", "row_shape three"),
        listed("list", "TensorListSetItem", "empty one row"),
        listed("y", "TensorListStack", "list row_shape", num_elements=-1),
        listed("z", "TensorListGetItem", "empty zero row_shape"),
        y=[[0.0, 0.0], [7.0, 8.0], [0.0, 0.0]],
        z=[0.0, 0.0],
    ),
    list_of(
        "TensorListSetItem beyond the end",
        FROM_TENSOR,
        listed("longer", "TensorListSetItem", "list five row", resize_if_index_out_of_bounds=True),
        node("y", "TensorListLength", "longer"),
        y=6,
    ),
    list_of(
        "TensorListResize to more",
        FROM_TENSOR,
        node("long", "TensorListResize", "list five"),
        listed("y", "TensorListStack", "long row_shape", num_elements=-1),
        y=[*X, [0, 0], [0, 0]],
    ),
    list_of(
        "TensorListConcatV2",
        listed("list", "TensorListSplit", "x any_rows sizes"),
        constant("leading", np.zeros(0, np.int32)),
        listed("y", "TensorListConcatV2", "list any_rows leading"),
        node("lengths", "Identity", "y:1"),
        y=X,
        lengths=[1, 2],
    ),
    list_of(
        "TensorListSplit, TensorListGetItem",
        listed("list", "TensorListSplit", "x any_rows sizes"),
        listed("y", "TensorListGetItem", "list one any_rows"),
        y=X[1:],
    ),
    list_of(
        "lists in lists",
        FROM_TENSOR,
        node("lists", "EmptyTensorList", "any_rows five", element_dtype=Dtype("variant")),
        node("more", "TensorListPushBack", "lists list", element_dtype=Dtype("variant")),
        node("rest", "TensorListPopBack", "more any_rows", element_dtype=Dtype("variant")),
        listed("y", "TensorListStack", "rest:1 row_shape", num_elements=-1),
        y=X,
    ),
    list_of(
        "empty lists",
        listed("list", "EmptyTensorList", "row_shape five"),
        listed("y", "TensorListStack", "list row_shape", num_elements=-1),
        y=np.zeros((0, 2)),
    ),
    list_of(
        "TensorListConcatV2 of an empty list",
        listed("list", "EmptyTensorList", "any_rows five"),
        constant("leading", np.zeros(0, np.int32)),
        listed("y", "TensorListConcatV2", "list any_rows leading"),
        node("lengths", "Identity", "y:1"),
        y=np.zeros((0, 2)),
        lengths=np.zeros(0, np.int32),
    ),
    list_of(
        "TensorArrayWriteV3 beyond the end of an array that grows",
        node("array", "TensorArrayV3", "one", dtype=FLOAT, dynamic_size=True),
        node("written", "TensorArrayWriteV3", "array three row array:1", T=FLOAT),
        node("size", "TensorArraySizeV3", "array written"),
        node("y", "TensorArrayReadV3", "array three written", dtype=FLOAT),
        size=4,
        y=[7.0, 8.0],
    ),
]

ARRAY = node("array", "TensorArrayV3", "three", dtype=FLOAT, element_shape=Shape((2,)),
             dynamic_size=False, clear_after_read=True, identical_element_shapes=True,
             tensor_array_name="array")  # fmt: skip
SCATTERED = node("flow", "TensorArrayScatterV3", "array spread x array:1", T=FLOAT)

ARRAYS = [
    list_of(
        "TensorArrayReadV3",
        ARRAY,
        SCATTERED,
        node("y", "TensorArrayReadV3", "array one flow", dtype=FLOAT),
        y=X[2],
    ),
    list_of(
        "TensorArrayConcatV3",
        ARRAY,
        SCATTERED,
        node("y", "TensorArrayConcatV3", "array flow", dtype=FLOAT,
             element_shape_except0=Shape(())),
        y=X[[1, 2, 0]].ravel(),
    ),
    list_of(
        "TensorArraySizeV3", ARRAY, SCATTERED, node("y", "TensorArraySizeV3", "array flow"), y=3
    ),
]  # fmt: skip

OWN_ARRAYS = [
    list_of(
        "TensorArraySplitV3",
        node("array", "TensorArrayV3", "zero", dtype=FLOAT, dynamic_size=True,
             clear_after_read=False),
        node("flow", "TensorArraySplitV3", "array x sizes array:1", T=FLOAT),
        node("y", "TensorArrayReadV3", "array one flow", dtype=FLOAT),
        node("z", "TensorArrayReadV3", "array zero flow", dtype=FLOAT),
        y=X[1:],
        z=X[:1],
    ),
]  # fmt: skip

FLOWS = [*LOOPS, *CHOICES, *FUNCTIONS, *BRANCHES, *LISTS, *OWN_LISTS, *ARRAYS, *OWN_ARRAYS]
