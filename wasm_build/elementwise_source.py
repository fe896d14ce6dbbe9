"""Writes the C source of the elementwise kernels from the elementwise table.

For each row and each dtype it computes in, a function of vectors made of the row's C expression,
and one line that wraps it in the loops of ``source/elementwise.h``. A kernel's export is named
``<row>_<dtype>``. A table of all functions, with their names, serves chains (``source/chain.c``).
"""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webtensor.dtypes import DType
    from webtensor.ops.elementwise import Row

ELEMENTS = {"float32": "float", "int32": "int", "bool": "byte"}
VECTORS = {"float32": "vf", "int32": "vi", "bool": "vi"}


def kernel(row: "Row", dtype: "DType") -> Iterator[str]:
    """Yield the lines of one row for operands of one dtype."""
    name = f"{row.name}_{dtype}"
    out = row.output_dtype(dtype)
    expression = row.c_int if dtype == "int32" and row.c_int is not None else row.c
    types = [VECTORS[dtype]] * row.arity
    if row.arity == 3 and row.kernel != "joint":
        types[0] = VECTORS["bool"]
    operands = [f"{vector} {letter}" for vector, letter in zip(types, "xyzw", strict=False)]
    declared = [f"float {parameter}" for parameter in row.parameters]
    yield f"INLINE {VECTORS[out]} {name}_lanes({', '.join(operands + declared)}) {{"
    yield f"  return {expression};"
    yield "}"
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
        yield f"BINARY({name}, {ELEMENTS[dtype]}, {ELEMENTS[out]}, {name}_lanes)"
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


def _links(rows: Collection["Row"]) -> Iterator[str]:
    """Yield the table of the functions that chains call, and their names."""
    functions: dict[str, str] = {}
    for row in rows:
        if row.kernel != "joint":
            names = [f"{row.name}_{dtype}" for dtype in row.input_dtypes]
            functions |= {name: name if row.arity == 1 else f"{name}_run" for name in names}
    casts = [f"cast_{a}_{b}" for a in ELEMENTS for b in ELEMENTS if a != b]
    yield from (f"void {name}(const void *x, void *out, int size);" for name in casts)
    functions |= {name: name for name in casts}
    yield "link_function *const link_functions[] = {"
    yield from (f"  (link_function *){function}," for function in functions.values())
    yield "};"
    yield f'static const char link_names[] = "{" ".join(functions)}";'
    yield "EXPORT(find_link_names) const char *find_link_names(void) { return link_names; }"
    yield "EXPORT(link_names_size) int link_names_size(void) { return sizeof(link_names) - 1; }"


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
    lines += _links(rows)
    return "\n".join(lines)
