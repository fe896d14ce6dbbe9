"""Writes the C source of the elementwise kernels from the elementwise table.

For each row and each dtype it computes in, a function of vectors made of the row's C expression,
and one line that wraps it in the loops of ``source/elementwise.h``. A kernel's export is named
``<row>_<dtype>``. A second source has the functions of vectors alone. It is compiled to a module of
its own, whose code ``backends/wasm/chain_functions.py`` copies.
"""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webtensor.dtypes import DType
    from webtensor.ops.elementwise import Row

ELEMENTS = {"float32": "float", "int32": "int", "bool": "byte"}
VECTORS = {"float32": "vf", "int32": "vi", "bool": "vi"}

#: Binary rows whose expressions are calls of long functions, of which one copy is enough.
LONG_ROWS = {"atan2", "floor_divide", "hypot", "logaddexp", "nextafter", "pow", "remainder"}

#: As in ``source/cast.c``; bools are masks.
CASTS = {
    ("float32", "int32"): "vtoint(x)",
    ("float32", "bool"): "x != 0",
    ("int32", "float32"): "vtofloat(x)",
    ("int32", "bool"): "x != 0",
    ("bool", "float32"): "vtofloat(-x)",
    ("bool", "int32"): "-x",
}

#: How bools become masks, and the reverse.
_BOOLS = [
    "EXPORT(load_bools) vi load_bools(const byte *x) { return load(x); }",
    "EXPORT(load_bool) vi load_bool(const byte *x) { return load_splat(x); }",
    "EXPORT(store_bools) void store_bools(byte *out, vi x) { store(out, x); }",
]


def _function(row: "Row", dtype: "DType", how: str) -> Iterator[str]:
    """Yield a row as a function of vectors; ``how`` precedes its declaration."""
    expression = row.c_int if dtype == "int32" and row.c_int is not None else row.c
    types = [VECTORS[dtype]] * row.arity
    if row.arity == 3 and row.kernel != "joint":
        types[0] = VECTORS["bool"]
    operands = [f"{vector} {letter}" for vector, letter in zip(types, "xyzw", strict=False)]
    operands += [f"float {parameter}" for parameter in row.parameters]
    result = VECTORS[row.output_dtype(dtype)]
    yield f"{how} {result} {row.name}_{dtype}_lanes({', '.join(operands)}) {{"
    yield f"  return {expression};"
    yield "}"


def kernel(row: "Row", dtype: "DType") -> Iterator[str]:
    """Yield the lines of one row for operands of one dtype."""
    name = f"{row.name}_{dtype}"
    out = row.output_dtype(dtype)
    declared = [f"float {parameter}" for parameter in row.parameters]
    yield from _function(row, dtype, "INLINE")
    if row.kernel == "joint":
        yield from _joint(name, row)
    elif row.arity == 1:
        parameters = "".join(f", {declaration}" for declaration in declared)
        arguments = "".join(f", {parameter}" for parameter in row.parameters)
        # Commas inside a macro's argument need a macro.
        yield f"#define DECLARED {parameters}"
        yield f"#define GIVEN {arguments}"
        yield f"UNARY({name}, {ELEMENTS[dtype]}, {ELEMENTS[out]}, {name}_lanes, DECLARED, GIVEN)"
        yield "#undef DECLARED"
        yield "#undef GIVEN"
    elif row.arity == 2:
        run = "LONG_RUN" if row.name in LONG_ROWS else "RUN"
        yield f"{run}({name}, {ELEMENTS[dtype]}, {ELEMENTS[out]}, {name}_lanes)"
        yield f"BINARY({name}, {ELEMENTS[dtype]}, {ELEMENTS[out]})"
    else:
        yield f"TERNARY({name}, byte, {ELEMENTS[dtype]}, {name}_lanes)"
    yield ""


def _joint(name: str, row: "Row") -> Iterator[str]:
    """Yield the loop of a row whose operands have one shape."""
    letters = "xyzw"[: row.arity]
    addresses = ", ".join(f"const float *{letter}" for letter in letters)
    loads = ", ".join(f"load({letter} + i)" for letter in letters)
    declared = "".join(f", float {parameter}" for parameter in row.parameters)
    arguments = "".join(f", {parameter}" for parameter in row.parameters)
    yield f"EXPORT({name}) void {name}("
    yield f"    {addresses}, float *out, int size{declared}, int part, int parts) {{"
    yield "  int i, end;"
    yield "  find_piece(size, 16, part, parts, &i, &end);"
    yield f"  for (; i < end; i += 4) store(out + i, {name}_lanes({loads}{arguments}));"
    yield "}"


def elementwise_source(rows: Collection["Row"]) -> str:
    """Return the C source of every row's kernels."""
    lines = [
        "/* Generated from the elementwise table by elementwise_source.py. */",
        '#include "elementwise.h"',
        "",
    ]
    for row in rows:
        for dtype in row.input_dtypes:
            lines += kernel(row, dtype)
    return "\n".join(lines)


def rows_source(rows: Collection["Row"]) -> str:
    """Return the C source of every row, and of casts, as functions of vectors."""
    lines = [
        "/* Generated from the elementwise table by elementwise_source.py. */",
        "#include <stdint.h>",
        '__attribute__((import_module("env"), import_name("huge_angle")))',
        "uint64_t huge_angle(float x);",
        '#include "vector_math.h"',
        "",
    ]
    for row in rows:
        if row.kernel != "joint":
            for dtype in row.input_dtypes:
                lines += _function(row, dtype, f"EXPORT({row.name}_{dtype})")
    for (source, target), expression in CASTS.items():
        name = f"cast_{source}_{target}"
        lines += [
            f"EXPORT({name}) {VECTORS[target]} {name}_lanes({VECTORS[source]} x) {{",
            f"  return {expression};",
            "}",
        ]
    return "\n".join([*lines, *_BOOLS])
