"""The special cases of the array API standard, as `special_cases.txt` lists them.

A table of that file becomes one call of its function, with operands for all of its rows; a row
holds where each of its operands gives a result that the standard allows.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tests_py.cases import Case, run_cases
from tests_py.cases.comparison import decoded

__all__ = ["TABLES", "Table", "failures_on"]

POSITIVE = (0.25, 1.0, 2.0, 3.0, 1000.0)
NEGATIVE = tuple(-x for x in POSITIVE)
ZERO = (0.0, -0.0)
INFINITE = (math.inf, -math.inf)
#: Numbers of each class that a row may name.
CLASSES: dict[str, tuple[float, ...]] = {
    "0": ZERO,
    "inf": INFINITE,
    "positive": POSITIVE,
    "negative": NEGATIVE,
    "nonzero": POSITIVE + NEGATIVE,
    "finite": ZERO + POSITIVE + NEGATIVE,
    "number": ZERO + POSITIVE + NEGATIVE + INFINITE,
    "any": (*ZERO, *POSITIVE, *NEGATIVE, *INFINITE, math.nan),
    ">0": (*POSITIVE, math.inf),
    "<0": (*NEGATIVE, -math.inf),
    ">1": (1.5, 1000.0, math.inf),
    "<1": (0.5, 0.0, -3.0, -math.inf),
    "<-1": (-1.5, -1000.0, -math.inf),
    "small": (0.0, 0.25, -0.5),
    "large": (1.5, -2.0, 1000.0, *INFINITE),
    "+odd": (1.0, 3.0, 1001.0),
    "-odd": (-1.0, -3.0, -1001.0),
    "+even": (2.0, 4.0, 1000.0),
    "-even": (-2.0, -4.0, -1000.0),
    "+fraction": (0.5, 1.5, 2.25),
    "-fraction": (-0.5, -1.5, -2.25),
}
#: Real parts that complex functions are tried with besides.
HUGE = (1e30, -1e30)
MULTIPLE_OF_PI = re.compile(r"([+-]?)(\d*)pi(?:/(\d))?")
OPERAND = re.compile(r"(-?)(abs\()?x([12])\)?")


@dataclass(frozen=True)
class Value:
    """A number that a result may be, or its size where the sign is open."""

    number: float
    sign_is_open: bool = False

    def __neg__(self) -> Value:
        return replace(self, number=-self.number)

    def __truediv__(self, divisor: float) -> Value:
        return replace(self, number=self.number / divisor)

    def allows(self, result: float) -> bool:
        """Whether a result is this; zeros and infinities need its sign, others six digits."""
        if math.isnan(self.number):
            return math.isnan(result)
        if not math.isclose(abs(result), abs(self.number), rel_tol=1e-5):
            return False
        return self.sign_is_open or math.copysign(1, result) == math.copysign(1, self.number)


Operands = tuple[float, ...]
#: For each part of a result, the values that it may have.
Results = tuple[tuple[Value, ...], ...]


@dataclass(frozen=True)
class Trial:
    """Operands of a function, the results that are allowed, and the row that says so."""

    row: str
    operands: Operands
    results: Results

    def negated(self, *, operands: tuple[int, ...], results: tuple[int, ...]) -> Trial:
        """Change the signs of the operands and results of the given numbers."""
        signs = [-1 if index in operands else 1 for index in range(len(self.operands))]
        return replace(
            self,
            operands=tuple(s * x for s, x in zip(signs, self.operands, strict=True)),
            results=tuple(
                tuple(-value for value in values) if index in results else values
                for index, values in enumerate(self.results)
            ),
        )


@dataclass(frozen=True)
class Table:
    """The special cases of a function of real or complex numbers."""

    kind: str
    function: str
    trials: tuple[Trial, ...]

    @property
    def name(self) -> str:
        """The function, and whether its operands are complex."""
        return f"{self.function} of complex numbers" if self.kind == "complex" else self.function

    @property
    def rows(self) -> list[str]:
        """The rows, in order."""
        return list(dict.fromkeys(trial.row for trial in self.trials))

    @cached_property
    def calls(self) -> list[Case]:
        """Calls of the function that give the results of all trials."""
        if self.kind == "reduction":
            return [self._call(np.array(trial.operands, np.float32)) for trial in self.trials]
        operands = np.array([trial.operands for trial in self.trials], np.float32)
        if self.kind == "complex":
            return [self._call(operands.view(np.complex64)[:, 0])]
        return [self._call(*operands.T)]

    def _call(self, *arrays: Any) -> Case:
        return Case(self.function, arrays, oracle=lambda *_: None)

    def failures(self, answers: list[dict[str, Any]]) -> list[str]:
        """Return a line for each trial that the answers to the calls fail."""
        if errors := [answer["error"] for answer in answers if "error" in answer]:
            return [f"{row}: {errors[0]}" for row in self.rows]
        results = np.concatenate([np.atleast_1d(decoded(answer)) for answer in answers])
        if results.dtype.kind == "c":
            parts = results.view(np.float32).reshape(-1, 2)
        else:
            parts = results.astype(np.float32).reshape(-1, 1)
        return [
            f"{trial.row}: {self.function}{trial.operands} is {tuple(got)}"
            for trial, got in zip(self.trials, parts.tolist(), strict=True)
            if not all(
                any(value.allows(part) for value in values)
                for part, values in zip(got, trial.results, strict=True)
            )
        ]


# -- reading the file -----------------------------------------------------------------------------


def number(text: str) -> float:
    """Read a number, which may be a multiple of pi."""
    if match := MULTIPLE_OF_PI.fullmatch(text):
        sign, factor, divisor = match.groups()
        return float(f"{sign}1") * int(factor or 1) * math.pi / int(divisor or 1)
    return -math.nan if text == "-nan" else float(text)


def value(text: str, operands: Operands) -> Value:
    """Read a result of a row, which may depend on the operands."""
    factor, _, function = text.partition("*")
    if function:
        return Value(math.copysign(number(factor), getattr(math, function)(operands[1])))
    if match := OPERAND.fullmatch(text):
        minus, size, position = match.groups()
        operand = operands[int(position) - 1]
        operand = abs(operand) if size else operand
        return Value(-operand if minus else operand)
    return Value(number(text.removeprefix("~")), sign_is_open=text.startswith("~"))


def trials(kind: str, row: str) -> Iterator[Trial]:
    """Read a row: the product of its operands' classes."""
    left, _, right = row.partition("->")
    classes = [CLASSES.get(text) or (number(text),) for text in left.split()]
    if kind == "complex" and len(classes[0]) > len(POSITIVE):
        classes[0] = (*classes[0], *HUGE)
    parts = [part.split() for part in right.split(" | ")]
    for operands in itertools.product(*classes):
        choices = ((value(text, operands) for text in part) for part in parts)
        yield Trial(row, operands, tuple(zip(*choices, strict=True)))


def mirrored(trial: Trial, symmetry: str) -> Iterator[Trial]:
    """Yield the trials that follow for the conjugate, and for the negative of odd and even ones."""
    conjugate = trial.negated(operands=(1,), results=(1,))
    yield from (trial, conjugate)
    if symmetry:
        results = (0, 1) if symmetry == "odd" else ()
        for source in (trial, conjugate):
            yield source.negated(operands=(0, 1), results=results)


def turned(trial: Trial, result_too: bool) -> Trial:
    """Make a trial of ``f(x j)``, or of ``-j f(x j)``, of one of ``f``."""
    a, b = trial.operands
    real, imaginary = trial.results
    if result_too:
        real, imaginary = imaginary, tuple(-value for value in real)
    return replace(trial, operands=(b, -a), results=(real, imaginary))


def derived(trial: Trial, formula: str) -> Trial:
    """Make a trial of a function that is defined by another."""
    if "/ ln(" in formula:
        divisor = math.log(int(formula.partition("ln(")[2].rstrip(")")))
        return replace(
            trial,
            results=tuple(tuple(each / divisor for each in values) for values in trial.results),
        )
    return turned(trial, result_too=formula.startswith("-j"))


def read_tables(text: str) -> Iterable[Table]:
    """Read the file of tables."""
    tables: dict[tuple[str, str], Table] = {}
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for block in "\n".join(lines).strip().split("\n\n"):
        title, *rows = block.strip().splitlines()
        heading, _, formula = title.partition(" = ")
        kind, function, *symmetry = heading.split()
        results = [trial for row in rows for trial in trials(kind, row)]
        if kind == "complex" and function not in REAL_RESULTS:
            results = [each for trial in results for each in mirrored(trial, "".join(symmetry))]
        if formula:
            (source,) = re.findall(r"(\w+)\(x", formula)
            results = [derived(trial, formula) for trial in tables[kind, source].trials]
        tables[kind, function] = Table(kind, function, tuple(results))
    return tables.values()


#: Functions of complex numbers whose results are not.
REAL_RESULTS = ("abs", "isfinite", "isinf", "isnan")

TABLES = tuple(read_tables(Path(__file__).with_suffix(".txt").read_text("utf-8")))


# -- trying it ------------------------------------------------------------------------------------


def failures_on(table: Table, backend: str) -> list[str]:
    """Return a line for each trial of a table that fails on a backend that runs in CPython."""
    answer = asyncio.run(run_cases([call.encoded() for call in table.calls], backend))
    return table.failures(answer["results"])
