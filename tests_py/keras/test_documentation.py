"""Docstrings: classes describe their arguments, and functions show an example that runs.

``--doctest-modules`` runs the examples of functions that modules define. The functions of
``keras.ops`` are made of tables, so their examples are run here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, DocTestParser, DocTestRunner
from importlib import import_module
from inspect import Parameter, cleandoc, isclass, isroutine, signature
from types import ModuleType
from typing import Any

import pytest

import webtensor as wt
from webtensor import keras

#: The part of arguments, or of functions, that must be documented.
SHARE = 0.98

CLASS_NAMESPACES = (
    "callbacks",
    "constraints",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "optimizers",
    "optimizers.schedules",
    "regularizers",
)
FUNCTION_NAMESPACES = (
    "wt",
    "wt.browser",
    "wt.fft",
    "wt.fused",
    "wt.image",
    "wt.linalg",
    "wt.losses",
    "wt.math",
    "wt.random",
    "wt.signal",
    "wt.sparse",
    "wt.spectral",
    "wt.string",
    "wt.train",
    "wt.wasm",
    "wt.webgl",
)
#: ``keras.ops.linalg``, ``nn`` and ``numpy`` have functions that ``keras.ops`` has, too.
OPS_NAMESPACES = ("keras.ops", "keras.ops.image")

NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
ENTRY = re.compile(r" {4}(\w+(?:, \w+)*):")


def module_at(path: str) -> ModuleType:
    """The module that users reach by a path such as ``wt.linalg`` or ``keras.ops``."""
    first, _, rest = path.partition(".")
    module = {"wt": wt, "keras": keras}[first]
    for name in rest.split(".") if rest else ():
        module = getattr(module, name)
    return module


def public_members(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The public names of a module, or of its table, with what they stand for."""
    table = getattr(module, "TABLE", None)
    for name in sorted(table.rows if table else getattr(module, "__all__", dir(module))):
        if not name.startswith("_"):
            yield name, getattr(module, name)


def public_functions(namespaces: tuple[str, ...]) -> list[tuple[str, Any]]:
    """The functions of several namespaces with their paths."""
    return [
        (f"{namespace}.{name}", member)
        for namespace in namespaces
        for name, member in public_members(module_at(namespace))
        if isroutine(member)
    ]


def described_arguments(cls: type) -> set[str]:
    """The names that have entries in the section ``Args:`` of a class's docstring."""
    _, _, rest = cleandoc(cls.__doc__ or "").partition("Args:\n")
    names: set[str] = set()
    for line in rest.splitlines():
        if line and not line.startswith(" "):  # the next section
            break
        entry = ENTRY.match(line)
        if entry:
            names |= set(entry[1].split(", "))
    return names


def has_example(function: Any) -> bool:
    """Whether the docstring of a function has an example."""
    return ">>> " in (function.__doc__ or "")


def check_share(missing: dict[str, list[str]], count: int) -> None:
    """Fail, and list what is missing by namespace, if more than 2 of 100 are missing."""
    number = sum(map(len, missing.values()))
    lines = [f"{name} ({len(rows)}): {', '.join(rows)}" for name, rows in missing.items() if rows]
    report = "\n".join([f"{count - number} of {count} are documented; missing are", *lines])
    assert count - number >= SHARE * count, report


def test_constructor_arguments_have_entries_in_class_docstrings() -> None:
    missing: dict[str, list[str]] = {}
    count = 0
    for namespace in CLASS_NAMESPACES:
        missing[namespace] = []
        for name, cls in public_members(import_module(f"webtensor.keras.{namespace}")):
            if not isclass(cls):
                continue
            described = described_arguments(cls)
            for parameter in signature(cls).parameters.values():
                if parameter.kind in NAMED:
                    count += 1
                    if parameter.name not in described:
                        missing[namespace].append(f"{name}({parameter.name})")
    check_share(missing, count)


@pytest.mark.parametrize(
    "namespaces", [FUNCTION_NAMESPACES, OPS_NAMESPACES], ids=["wt", "keras.ops"]
)
def test_functions_have_examples(namespaces: tuple[str, ...]) -> None:
    functions = public_functions(namespaces)
    missing: dict[str, list[str]] = {namespace: [] for namespace in namespaces}
    for path, function in functions:
        if not has_example(function):
            namespace, _, name = path.rpartition(".")
            missing[namespace].append(name)
    check_share(missing, len(functions))


@pytest.mark.parametrize(
    "path, function",
    [row for row in public_functions(OPS_NAMESPACES) if has_example(row[1])],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_example_of_keras_op(path: str, function: Any, capsys: pytest.CaptureFixture[str]) -> None:
    names = {"wt": wt, "keras": keras}
    example = DocTestParser().get_doctest(function.__doc__, names, path, None, None)
    runner = DocTestRunner(verbose=False, optionflags=ELLIPSIS | NORMALIZE_WHITESPACE)
    assert not runner.run(example).failed, capsys.readouterr().out
