r"""Regular expressions in model files, of which those that could take too long are refused.

Most models have expressions of RE2, which takes time in proportion to the text. Python's ``re``
tries one way of matching after another, and ``(a+)+b`` has 2 ** (n - 1) ways to match n letters.
This module computes an upper bound of their number: the product of all choices, between
alternatives and between repeating and going on, except where the next characters leave only one,
as the dots do in ``(\w+\.)+``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

__all__ = ["compile_pattern", "compile_re2"]

#: The most ways to match a text of ``_TEXT_SIZE`` characters. Each ``.*`` that other characters
#: follow multiplies them by 31, so that an expression may have four.
_MAX_WAYS = 1_000_000
_TEXT_SIZE = 30
_MAX_PATTERN_SIZE = 20_000
_MAX_DEPTH = 50
#: The most alternatives of which each is compared with each.
_MAX_COMPARED = 100

#: Characters of ASCII, and ``_OTHER`` for all others.
_Characters: TypeAlias = frozenset[str]
_OTHER = "é"
#: Stands for the end of the expression among the characters that can follow.
_END = frozenset({""})
#: ASCII, and beyond it a letter, a digit, a space, a sign, and what equals ASCII in another case.
_SAMPLE = "".join(map(chr, range(128))) + _OTHER + "٣\u2028…ıİſ\u212a"

_TOKEN = re.compile(
    r"""
      (?P<ignored> \(\?\#[^)]*\) | \(\?[a-zA-Z]+\) )
    | (?P<backreference> \(\?P=[^)]*\) | \\(?!0|[0-7]{3})[0-9]{1,2} )
    | (?P<lookaround> \(\?<?[=!] )
    | (?P<group> \((?:\?(?:P<[^>]*>|>|\([^)]*\)|[a-zA-Z-]*:))? )
    | (?P<end> \) )
    | (?P<bar> \| )
    | (?P<repetition> (?:[*+?]|\{(?!\})(?P<minimum>[0-9]*)(?P<maximum>,[0-9]*)?\})[?+]? )
    | (?P<boundary> \^ | \$ | \\[AbBzZ] )
    | (?P<character> \[\^?\]?(?:\\.|[^\]\\])*\]
                   | \\(?:x..|u.{4}|U.{8}|N\{[^}]*\}|[0-7]{1,3}|.) | . )
    """,
    re.VERBOSE | re.DOTALL,
)
#: The classes of POSIX in RE2, as Python has them.
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
}
_FLAGS = re.compile(r"\(\?([a-zA-Z-]+)[:)]")
_CODE = re.compile(r"\\[xuUN0-7]")
_UNBOUNDED = 1 << 32
_BOUNDS = {"*": (0, _UNBOUNDED), "+": (1, _UNBOUNDED), "?": (0, 1)}


@lru_cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    r"""Compile a regular expression of a file.

    Raises:
        ValueError: it is malformed, or could take too long.

    Example:
        >>> compile_pattern(r"(\w+\.)+com").fullmatch("www.example.com") is not None
        True
        >>> compile_pattern(r"(\w+\.?)+com")
        Traceback (most recent call last):
        ValueError: the pattern '(\\w+\\.?)+com' could take too long: ...
    """
    shown = f"the pattern {pattern!r:.200}"
    if len(pattern) > _MAX_PATTERN_SIZE:
        raise ValueError(f"{shown} has {len(pattern)} characters, more than {_MAX_PATTERN_SIZE:,}")
    tokens = [*_TOKEN.finditer(pattern)]
    if _depth(tokens) > _MAX_DEPTH:
        raise ValueError(f"{shown} is nested more than {_MAX_DEPTH} levels deep")
    try:
        expression = re.compile(pattern)
    except (re.error, OverflowError, ValueError) as error:
        raise ValueError(f"{shown} is malformed: {error}") from None
    names = "".join(match[1] for token in tokens if (match := _FLAGS.fullmatch(token[0])))
    if "x" in names:
        raise ValueError(f"{shown} has the flag x, which is not read")
    flags = (re.IGNORECASE if "i" in names else 0) | (re.DOTALL if "s" in names else 0)
    if _parsed(tokens, flags).ways(_END) > _MAX_WAYS:
        raise ValueError(
            f"{shown} could take too long: there are more than {_MAX_WAYS:,} ways to match it to "
            f"{_TEXT_SIZE} characters"
        )
    return expression


def compile_re2(pattern: str | bytes) -> re.Pattern[str]:
    r"""Compile an expression of RE2, whose ``\d``, ``\s`` and ``\w`` are of ASCII.

    Raises:
        ValueError: it is malformed, or could take too long.

    Example:
        >>> compile_re2("(?i)[[:digit:]_]+").pattern
        '(?ai)[0-9_]+'
    """
    text = pattern.decode("utf-8") if isinstance(pattern, bytes) else pattern
    flags = re.match(r"\(\?([ims]+)\)", text)
    rest = text[flags.end() :] if flags else text
    rest = re.sub(r"\[:(\w+):\]", lambda match: _CLASSES.get(match[1], match[0]), rest)
    return compile_pattern(f"(?a{flags[1] if flags else ''}){rest}")


# -- parts of expressions ----------------------------------------------------------------------


class _Part:
    """A part of an expression: here one of no characters, such as ``^``.

    Args:
        first: the characters that it can begin with.
        is_optional: whether it can match no characters.
    """

    def __init__(self, first: _Characters = frozenset(), is_optional: bool = True) -> None:
        self.first, self.is_optional = first, is_optional

    def starts(self, follow: _Characters) -> _Characters:
        """Return what the part and what follows it can begin with."""
        return self.first | follow if self.is_optional else self.first

    def prefix(self, follow: _Characters) -> Iterator[_Characters]:
        """Yield what can be the first character, the second, and so on, as far as that is easy."""
        yield self.starts(follow)

    def ways(self, follow: _Characters) -> int:
        """Return an upper bound of the number of ways to match, before one that can follow."""
        return 1


class _Character(_Part):
    """One character."""

    def __init__(self, characters: _Characters) -> None:
        super().__init__(characters, is_optional=False)


class _Lookaround(_Part):
    """What must come before or after a position."""

    def __init__(self, part: _Part) -> None:
        super().__init__()
        self._part = part

    def ways(self, follow: _Characters) -> int:
        return self._part.ways(_END)


class _Sequence(_Part):
    """Parts one after the other."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        first: _Characters = frozenset()
        is_optional = True
        for part in parts:
            if is_optional:
                first, is_optional = first | part.first, part.is_optional
        super().__init__(first, is_optional)
        self._parts = parts

    def prefix(self, follow: _Characters) -> Iterator[_Characters]:
        for index, part in enumerate(self._parts):
            if not isinstance(part, _Character):
                yield _Sequence(self._parts[index:]).starts(follow)
                return
            yield part.first
        yield follow

    def ways(self, follow: _Characters) -> int:
        ways = 1
        for part in reversed(self._parts):
            ways = min(ways * part.ways(follow), _MAX_WAYS + 1)
            follow = part.starts(follow)
        return ways


class _Alternatives(_Part):
    """Parts of which one is chosen."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        first: _Characters = frozenset().union(*(part.first for part in parts))
        super().__init__(first, any(part.is_optional for part in parts))
        self._parts = parts

    def ways(self, follow: _Characters) -> int:
        ways = [part.ways(follow) for part in self._parts]
        if len(ways) > _MAX_COMPARED:
            return sum(ways)
        prefixes = [[*part.prefix(follow)] for part in self._parts]
        return max(
            sum(
                count
                for count, other in zip(ways, prefixes, strict=True)
                if not any(map(frozenset.isdisjoint, prefix, other))
            )
            for prefix in prefixes
        )


class _Repetition(_Part):
    """A part that is repeated."""

    def __init__(self, part: _Part, minimum: int, maximum: int) -> None:
        super().__init__(part.first, part.is_optional or minimum == 0)
        self._part, self._minimum, self._maximum = part, minimum, maximum

    def ways(self, follow: _Characters) -> int:
        part, count = self._part, min(self._maximum, _TEXT_SIZE)
        choices = 1
        if part.is_optional:
            choices = max(count, self._minimum) + 1
        elif part.first & follow:
            choices = count - min(count, self._minimum) + 1
        next_characters = follow | part.first if count > 1 else follow
        ways: int = choices * min(part.ways(next_characters), _MAX_WAYS + 1) ** count
        return ways


# -- parsing -----------------------------------------------------------------------------------


@lru_cache
def _characters(source: str, flags: int) -> _Characters:
    """Return what a character, a class or an escape in an expression stands for."""
    characters = {*re.findall(source, _SAMPLE, flags)}
    if not (source.isascii() and "".join(characters).isascii()) or _CODE.search(source):
        characters.add(_OTHER)
    return frozenset(characters)


def _depth(tokens: Iterable[re.Match[str]]) -> int:
    """Return how deeply groups are nested."""
    depths = [0]
    for token in tokens:
        kind = token.lastgroup
        depths.append(depths[-1] + (kind in ("group", "lookaround")) - (kind == "end"))
    return max(depths)


def _parsed(tokens: Iterable[re.Match[str]], flags: int) -> _Part:
    """Return the whole expression, which is well-formed."""
    # The parts so far of each alternative of each open group, which a token has opened.
    groups: list[tuple[str | None, list[list[_Part]]]] = [(None, [[]])]
    for token in tokens:
        kind = token.lastgroup
        alternatives = groups[-1][1]
        parts = alternatives[-1]
        if kind in ("group", "lookaround"):
            groups.append((kind, [[]]))
        elif kind == "end":
            opening, _ = groups.pop()
            group = _alternatives(alternatives)
            groups[-1][1][-1].append(_Lookaround(group) if opening == "lookaround" else group)
        elif kind == "bar":
            alternatives.append([])
        elif kind == "repetition":
            parts.append(_Repetition(parts.pop(), *_bounds(token)))
        elif kind == "boundary":
            parts.append(_Part())
        elif kind == "backreference":
            parts.append(_Repetition(_Character(frozenset(_SAMPLE)), 0, _UNBOUNDED))
        elif kind == "character":
            parts.append(_Character(_characters(token[0], flags)))
    return _alternatives(groups[0][1])


def _alternatives(alternatives: Sequence[Sequence[_Part]]) -> _Part:
    parts = [_Sequence(parts) for parts in alternatives]
    return parts[0] if len(parts) == 1 else _Alternatives(parts)


def _bounds(token: re.Match[str]) -> tuple[int, int]:
    """Return the least and the largest number of times that a part is repeated."""
    bounds = _BOUNDS.get(token[0][0])
    if bounds is not None:
        return bounds
    minimum, maximum = int(token["minimum"] or 0), token["maximum"]
    if maximum is None:
        return minimum, minimum
    return minimum, int(maximum[1:] or _UNBOUNDED)
