"""Translates GLSL ES 3.00, which kernels are written in, to the GLSL ES 1.00 of WebGL 1.

GLSL ES 1.00 has neither remainders nor bitwise operators of integers, loops of a constant number of
iterations only, no ``mix`` by booleans, and ``min`` and the like for floats alone. So operators
become calls, loops count to a constant and break at their end, and ``webgl1_functions`` has the
missing functions. Code that cannot be translated, as it needs the bits of floats or unsigned
integers, raises ``UntranslatableError``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["UntranslatableError", "translated"]


class UntranslatableError(Exception):
    """A shader cannot be expressed in WebGL 1; the message names the construct."""


_TOKEN = re.compile(
    r"//[^\n]*|#[^\n]*|[A-Za-z_]\w*|0[xX][0-9a-fA-F]+[uU]?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[uU]?"
    r"|<<=|>>=|\+\+|--|&&|\|\||\^\^|<<|>>|[<>=!+\-*/%&|^]=|[-+*/%<>=!~&|^?:;,.(){}\[\]]"
)
_FORBIDDEN = re.compile(r"\b(?:uint|uvec[234]|\w+Bits\w*|\w+BitsTo\w+|0[xX][0-9a-fA-F]+u|\d+u)\b")

#: Functions that GLSL ES 1.00 lacks, or has for floats alone, and their names here.
_RENAMED = {name: f"{name}_" for name in ("mix", "min", "max", "abs", "sign", "clamp")}

#: Binary operators by precedence.
_BINARY = {
    operator: level
    for level, operators in enumerate(
        ("||", "^^", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %")
    )
    for operator in operators.split()
}
_ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
_QUALIFIERS = {"uniform", "varying", "attribute", "precision", "struct", "layout"}
#: More iterations than any loop has; exact as a float.
_MAX_TURNS = 1 << 24
#: Loops up to this constant may start late: their index is then constant in each iteration.
_FEW_TURNS = 8


class _Loop(NamedTuple):
    """The step of a loop, and its index where that may index vectors."""

    step: str
    counter: str | None


def translated(source: str) -> str:
    """Translate declarations and functions of GLSL ES 3.00.

    Raises:
        UntranslatableError: it cannot be written in GLSL ES 1.00.
    """
    forbidden = _FORBIDDEN.search(source)
    if forbidden:
        raise UntranslatableError(f"{forbidden[0]} is not in GLSL ES 1.00")
    return _Translator(source).whole()


def _power_of_two(text: str) -> int | None:
    """The exponent of a literal, where it is a power of two."""
    if not text.isdecimal():
        return None
    number = int(text)
    return number.bit_length() - 1 if number and number & (number - 1) == 0 else None


def _operation(operator: str, left: str, right: str) -> str:
    """Return an operation on integers for which GLSL ES 1.00 has no operator."""
    if operator == "%":
        return f"rest_of({left}, {right})"
    if operator in ("<<", ">>"):
        if right.isdecimal():
            by = str(1 << int(right))
            return f"(({left}) * {by})" if operator == "<<" else f"floor_part({left}, {by})"
        return f"{'left' if operator == '<<' else 'right'}_shifted({left}, {right})"
    if operator == "&" and right.isdecimal():
        if _power_of_two(str(int(right) + 1)) is not None:
            return f"floor_rest({left}, {int(right) + 1})"
        if _power_of_two(right) is not None:
            return f"bit_of({left}, {right})"
    raise UntranslatableError(f"there is no operator {operator} in GLSL ES 1.00")


class _Translator:
    """A parser that writes what it reads."""

    def __init__(self, source: str) -> None:
        self.tokens: list[str] = _TOKEN.findall(source)
        self.tokens.append("")
        self.at = 0
        self.loops: list[_Loop] = []
        self.names = 0

    # -- tokens ---------------------------------------------------------------------------------

    @property
    def next(self) -> str:
        return self.tokens[self.at]

    def take(self, expected: str | None = None) -> str:
        token = self.tokens[self.at]
        if expected is not None and token != expected:
            near = " ".join(self.tokens[max(0, self.at - 8) : self.at + 8])
            raise UntranslatableError(f"{expected!r} was expected near {near!r}")
        self.at += 1
        return token

    def raw_until(self, end: str) -> str:
        start = self.at
        while self.take() != end:
            if not self.next:
                raise UntranslatableError(f"{end!r} is missing")
        text = " ".join(self.tokens[start : self.at])
        return re.sub(r" (?=[(),;.\[\]])|(?<=[(.\[]) ", "", text)

    def new_name(self, kind: str) -> str:
        self.names += 1
        return f"{kind}_{self.names}"

    def is_name(self, offset: int = 0) -> bool:
        token = self.tokens[min(self.at + offset, len(self.tokens) - 1)]
        return token.isidentifier()

    # -- declarations and functions ---------------------------------------------------------------

    def whole(self) -> str:
        parts = []
        while self.next:
            parts.append(self.outermost())
        return "\n".join(parts)

    def outermost(self) -> str:
        token = self.next
        if token[0] == "#":
            return self.directive()
        if token.startswith("//"):
            return self.take()
        if token == "struct":
            return f"{self.raw_until('}')}{self.take(';')}"
        if token in _QUALIFIERS:
            return self.raw_until(";")
        if self.tokens[self.at + 2] != "(":
            return self.statement("")
        head = self.raw_until(")")
        return f"{head} {self.statement('')}"

    def directive(self) -> str:
        """Translate a directive: a macro with parameters stands for an expression."""
        line = self.take()
        macro = re.match(r"(#define \w+\([^)]*\)\s*)(.*)", line)
        if macro is None:
            return line
        inner = _Translator(macro[2])
        return macro[1] + inner.expression()

    # -- statements -------------------------------------------------------------------------------

    def statement(self, indent: str) -> str:
        token = self.next
        inner = f"{indent}  "
        if token == "{":
            self.take()
            lines = []
            while self.next != "}":
                lines.append(self.statement(inner))
            self.take()
            return "\n".join([f"{indent}{{", *lines, f"{indent}}}"])
        if token.startswith(("//", "#")):
            return f"{indent}{self.directive()}"
        if token == ";":
            return indent + self.take()
        if token == "if":
            return self.branch(indent)
        if token == "for":
            return self.counted(indent)
        if token == "while":
            return self.repeated(indent)
        if token == "continue":
            self.take()
            self.take(";")
            step = self.loops[-1].step
            return f"{indent}{{ {step}; continue; }}" if step else f"{indent}continue;"
        if token == "return" and self.tokens[self.at + 1] != ";":
            self.take()
            return f"{indent}return {self.expression()}{self.take(';')}"
        if token in ("return", "break", "discard"):
            return f"{indent}{self.take()}{self.take(';')}"
        return f"{indent}{self.simple()}{self.take(';')}"

    def simple(self) -> str:
        """Translate a declaration or an expression."""
        if self.next == "const" or (self.is_name() and self.is_name(1)):
            return self.declaration()
        return self.expression()

    def declaration(self) -> str:
        kind = f"{self.take()} " if self.next == "const" else ""
        kind += self.take()
        parts = []
        while True:
            name = self.take()
            if self.next == "=":
                self.take()
                name += f" = {self.assignment()}"
            parts.append(name)
            if self.next != ",":
                return f"{kind} {', '.join(parts)}"
            self.take()

    def block(self, indent: str) -> str:
        """Translate a statement in braces, with a scope for its declarations."""
        text = self.statement(indent)
        return text if text.lstrip().startswith("{") else f"{indent}{{\n{text}\n{indent}}}"

    def branch(self, indent: str) -> str:
        self.take()
        self.take("(")
        text = f"{indent}if ({self.expression()})"
        self.take(")")
        text += f"\n{self.block(indent)}"
        if self.next == "else":
            self.take()
            text += f" else\n{self.block(indent)}"
        return text

    def repeated(self, indent: str) -> str:
        self.take()
        self.take("(")
        condition = self.expression()
        self.take(")")
        return self.turns(indent, "", condition, "")

    def counted(self, indent: str) -> str:
        self.take()
        self.take("(")
        start = self.at
        first = self.simple()
        self.take(";")
        middle = self.at
        condition = self.expression()
        self.take(";")
        end = self.at
        step = self.expression()
        self.take(")")
        index = self.tokens[start + 1]
        limit = self.tokens[end - 2]
        begins = self.tokens[start + 3 : middle - 1]
        is_plain = (
            self.tokens[start] == "int"
            and self.tokens[middle : end - 1] == [index, "<", limit]
            and limit.isdecimal()
            and step == f"{index}++"
        )
        if is_plain and len(begins) == 1 and begins[0].isdecimal():
            return f"{indent}for ({first}; {condition}; {step})\n{self.inside('', index, indent)}"
        if is_plain and int(limit) <= _FEW_TURNS:
            late = self.new_name("first")
            begin = first.partition("=")[2].strip()
            body = self.inside("", index, f"{indent}  ")
            return (
                f"{indent}int {late} = {begin};\n"
                f"{indent}for (int {index} = 0; {condition}; {step}) {{\n"
                f"{indent}  if ({index} < {late}) continue;\n{body}\n{indent}}}"
            )
        return self.turns(indent, first, condition, step)

    def turns(self, indent: str, first: str, condition: str, step: str) -> str:
        """Translate a loop, with a constant as the maximum number of iterations."""
        turn = self.new_name("turn")
        inner = f"{indent}    "
        lines = [
            f"{indent}{{",
            *([f"{indent}  {first};"] if first else []),
            f"{indent}  for (int {turn} = 0; {turn} < {_MAX_TURNS}; {turn}++) {{",
            f"{inner}if (!({condition})) break;",
            self.inside(step, None, inner),
            *([f"{inner}{step};"] if step else []),
            f"{indent}  }}",
            f"{indent}}}",
        ]
        return "\n".join(lines)

    def inside(self, step: str, index: str | None, indent: str) -> str:
        self.loops.append(_Loop(step, index))
        try:
            return self.block(indent)
        finally:
            self.loops.pop()

    # -- expressions ------------------------------------------------------------------------------

    def expression(self) -> str:
        parts = [self.assignment()]
        while self.next == ",":
            self.take()
            parts.append(self.assignment())
        return ", ".join(parts)

    def assignment(self) -> str:
        left = self.choice()
        if self.next not in _ASSIGNMENTS:
            return left
        operator = self.take()
        right = self.assignment()
        if operator[:-1] in ("", "+", "-", "*", "/"):
            return f"{left} {operator} {right}"
        return f"{left} = {_operation(operator[:-1], left, right)}"

    def choice(self) -> str:
        condition = self.binary(0)
        if self.next != "?":
            return condition
        self.take()
        yes = self.assignment()
        self.take(":")
        return f"{condition} ? {yes} : {self.assignment()}"

    def binary(self, level: int) -> str:
        left = self.unary()
        while _BINARY.get(self.next, -1) >= level:
            operator = self.take()
            right = self.binary(_BINARY[operator] + 1)
            if operator in ("%", "<<", ">>", "&", "|", "^"):
                left = _operation(operator, left, right)
            else:
                left = f"{left} {operator} {right}"
        return left

    def unary(self) -> str:
        if self.next in ("+", "-", "!", "++", "--"):
            operator = self.take()
            return operator + self.unary()
        if self.next == "~":
            self.take()
            return f"(-1 - {self.unary()})"
        return self.postfix()

    def postfix(self) -> str:
        text = self.primary()
        while True:
            if self.next == "(":
                text = self.call(text)
            elif self.next == "[":
                text = self.indexed(text)
            elif self.next == ".":
                self.take()
                text += f".{self.take()}"
            elif self.next in ("++", "--"):
                text += self.take()
            else:
                return text

    def primary(self) -> str:
        if self.next == "(":
            self.take()
            text = f"({self.expression()})"
            self.take(")")
            return text
        token = self.take()
        if not (token[:1].isalnum() or token[:1] in ("_", ".")):
            raise UntranslatableError(f"{token!r} was not expected")
        return token

    def call(self, name: str) -> str:
        self.take("(")
        arguments: Sequence[str] = []
        while self.next != ")":
            arguments = [*arguments, self.assignment()]
            if self.next == ",":
                self.take()
        self.take(")")
        if name == "texelFetch":
            return _fetched(arguments[0], arguments[1])
        return f"{_RENAMED.get(name, name)}({', '.join(arguments)})"

    def indexed(self, name: str) -> str:
        self.take("[")
        index = self.expression()
        self.take("]")
        if index.isdecimal() or any(index == loop.counter for loop in self.loops):
            return f"{name}[{index}]"
        return f"lane_of({name}, {index})"


def _fetched(sampler: str, coordinates: str) -> str:
    """Return code for a texel at its coordinates; see ``describeSource`` in ``device.js``."""
    sizes = f"{sampler}Place"
    scale = f"vec2({sizes}.x, {sizes}.y / {sizes}.x)"
    return f"texture2D({sampler}, vec2({coordinates}) * {scale} + {sizes}.zw)"
