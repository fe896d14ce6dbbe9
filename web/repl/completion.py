"""Completions and signatures at the cursor, from the session's objects and the source before it.

None of the visitor's code runs: to list the members of `model.layers`, attributes are read, except
for the visitor's own properties. What these and calls return is taken from their annotations.
Modules are only imported if they are webtensor's.
"""

import ast
import builtins
import importlib
import inspect
import io
import keyword
import pkgutil
import re
import sys
import tokenize
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, get_origin

import webtensor as wt

from .session import is_of_library

MAX_OPTIONS = 2000
LONGEST_EXPRESSION = 400  # characters before the dot of a member

Option = dict[str, str]

_PATH = re.compile(r"(?:[^\W\d]\w*\.)*\w*$")
_MODULE = re.compile(r"^\s*(?:from|import)\s+(?:[\w.]+(?:\s+as\s+\w+)?\s*,\s*)*([\w.]*)$")
_MEMBER = re.compile(r"^\s*from\s+([\w.]+)\s+import\s+\(?(?:[\w\s,]*,)?\s*(\w*)$")
_IMPORT = re.compile(r"^\s*(?:from|import)\s.+$", re.MULTILINE)
_DEFINED = re.compile(
    r"^\s*(?:async\s+def|def|class)\s+(\w+)|^\s*(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE
)
_TOKEN = re.compile(r"\w+|\S")
_MISSING = object()

#: Kinds of expressions that may stand before a dot, and values with the same members.
_DISPLAYS: dict[type[ast.expr], Any] = {
    ast.Dict: {},
    ast.DictComp: {},
    ast.JoinedStr: "",
    ast.List: [],
    ast.ListComp: [],
    ast.Set: set(),
    ast.SetComp: set(),
}
_PRIMARIES = (ast.Attribute, ast.Call, ast.Constant, ast.Name, ast.Subscript, *_DISPLAYS)


def complete(before: str, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Return what may follow the source before the cursor.

    `options` are completions of the last characters of `before`, which are `prefix`.
    """
    line = before.rpartition("\n")[2]
    if member := _MEMBER.match(line):
        module, prefix = _module(member[1]), member[2]
        options = [] if module is None else [*_members(module), *_submodules(module)]
    elif module_path := _MODULE.match(line):
        parent, _, prefix = module_path[1].rpartition(".")
        options = list(_submodules(_module(parent)) if parent else _top_level_modules())
    else:
        prefix = _last_path(line).rpartition(".")[2]
        rest = line.removesuffix(prefix)
        if rest.endswith("."):
            value = _value(_last_expression(rest[:-1]), before, namespace)
            options = [] if value is _MISSING else list(_members(value))
        elif prefix.isdigit():
            options = []
        else:
            options = [*_keyword_arguments(before, namespace), *_names(before, namespace)]
    is_private = prefix.startswith("_")
    shown = {
        option["label"]: option
        for option in reversed(options)
        if option["label"].startswith("_") == is_private
    }
    return {"prefix": prefix, "options": list(reversed(shown.values()))[:MAX_OPTIONS]}


def signature(before: str, namespace: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the signature of the call whose arguments the cursor is in."""
    call = _innermost_call(before)
    if call is None:
        return None
    function = _look_up(call.path, before, namespace)
    parameters = _parameters(function)
    if parameters is None:
        return None
    summary = (inspect.getdoc(function) or "").partition("\n\n")[0]
    return {
        "name": call.path.rpartition(".")[2],
        "parameters": [_short(parameter) for parameter in parameters],
        "active": _active(call, parameters),
        "summary": summary.replace("\n", " ").replace("`", ""),
    }


# -- names -----------------------------------------------------------------------------------------


def _last_path(line: str) -> str:
    match = _PATH.search(line)
    assert match is not None  # the pattern matches empty text
    return match[0]


def _last_expression(line: str) -> ast.expr | None:
    """Return the expression at the end of a line whose member a dot would name."""
    line = line[-LONGEST_EXPRESSION:]
    with warnings.catch_warnings(action="ignore"):  # what Python thinks of the source
        for match in _TOKEN.finditer(line):
            try:
                expression = ast.parse(line[match.start() :], mode="eval").body
            except (SyntaxError, ValueError, RecursionError):
                continue
            if isinstance(expression, _PRIMARIES):
                return expression
    return None


def _value(expression: ast.expr | None, before: str, namespace: Mapping[str, Any]) -> Any:
    """Return the value of an expression, or one with the same members, or `_MISSING`.

    That calls nothing: a call has the members of the class that it returns, where that is written.
    """
    match expression:
        case None:
            return _MISSING
        case ast.Name(name):
            return _look_up(name, before, namespace)
        case ast.Attribute(parent, name):
            return _member(_value(parent, before, namespace), name)
        case ast.Call(function):
            return _returned(_value(function, before, namespace))
        case ast.Subscript(container, index):
            return _item(_value(container, before, namespace), index)
        case ast.Constant(int() | float()) if str(expression.value).isdigit():
            return _MISSING  # the dot belongs to the number
        case ast.Constant(value):
            return value
        case _:
            return _DISPLAYS.get(type(expression), _MISSING)


def _member(value: Any, name: str) -> Any:
    if value is _MISSING:
        return _MISSING
    getter = _getter(value, name)
    if getter is not None and not is_of_library(_filename(getter)):
        return _returned(getter)
    try:
        member = getattr(value, name)
    except Exception:  # properties may raise anything
        return _MISSING
    return _returned(member.fget) if isinstance(member, property) else member


def _getter(value: Any, name: str) -> Any:
    """Return the function that reading a member would call, or None."""
    member = inspect.getattr_static(value, name, _MISSING)
    if member is _MISSING:
        return getattr(type(value), "__getattr__", None)
    if isinstance(member, cached_property):
        return member.func
    return member.fget if isinstance(member, property) else None


def _filename(function: Any) -> str:
    """Return the file of a function's source; those in C count as parts of the library."""
    code = getattr(function, "__code__", None)
    return __file__ if code is None else code.co_filename


def _returned(function: Any) -> Any:
    """Return the class of what a function returns, as its annotations have it."""
    if inspect.isclass(function):
        return function
    try:
        returned = function.__annotations__["return"]
        if isinstance(returned, str):
            name = returned.partition("[")[0]
            returned = function.__globals__.get(name) or getattr(wt, name)
    except Exception:  # annotations may be missing, or name what isn't imported
        return _MISSING
    returned = get_origin(returned) or returned
    return returned if inspect.isclass(returned) else _MISSING


def _item(container: Any, index: ast.expr) -> Any:
    if container is wt.Tensor or isinstance(container, wt.Tensor):
        return container  # its items are tensors
    if type(container) not in (bytes, dict, list, str, tuple):
        return _MISSING
    try:
        return container[ast.literal_eval(index)]
    except Exception:  # the index may be of any type, or out of range
        return _MISSING


def _names(before: str, namespace: Mapping[str, Any]) -> Iterator[Option]:
    for match in _DEFINED.finditer(before):
        name = match[1] or match[2]
        if name not in namespace:
            yield {"label": name, "type": "variable"}
    for name, value in (_imports(before) | dict(namespace)).items():
        yield {"label": name, "type": _kind(value)}
    for name in (*keyword.kwlist, *keyword.softkwlist):
        yield {"label": name, "type": "keyword"}
    for name, value in vars(builtins).items():
        yield {"label": name, "type": _kind(value)}


def _members(value: Any) -> Iterator[Option]:
    for name in _public_names(value) or dir(value):
        member = inspect.getattr_static(value, name, None)
        yield {"label": name, "type": _kind(member, is_member=not isinstance(value, ModuleType))}


def _public_names(value: Any) -> Sequence[str] | None:
    """Return the public names of one of webtensor's modules, or None."""
    if isinstance(value, ModuleType) and value.__name__.partition(".")[0] == "webtensor":
        return getattr(value, "__all__", None)
    return None


def _kind(value: Any, is_member: bool = False) -> str:
    if isinstance(value, ModuleType):
        return "namespace"
    if inspect.isclass(value):
        return "class"
    if isinstance(value, property):
        return "property"
    if callable(value) or isinstance(value, classmethod | staticmethod):
        return "method" if is_member else "function"
    return "property" if is_member else "variable"


def _look_up(path: str, before: str, namespace: Mapping[str, Any]) -> Any:
    """Return the object that a path of names means, or `_MISSING`."""
    root, *names = path.split(".")
    value = namespace.get(root, _MISSING)
    if value is _MISSING:
        value = _imports(before).get(root, getattr(builtins, root, _MISSING))
    for name in names:
        value = _member(value, name)
    return value


# -- modules ---------------------------------------------------------------------------------------


def _imports(before: str) -> dict[str, Any]:
    """Return what the import statements in a program import, as far as that is loaded."""
    imported: dict[str, Any] = {}
    for match in _IMPORT.finditer(before):
        try:
            (statement,) = ast.parse(match[0].strip()).body
        except (SyntaxError, ValueError):
            continue
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                imported[alias.asname or name] = _module(name)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            module = _module(statement.module)
            for alias in statement.names:
                value = getattr(module, alias.name, _MISSING)
                if value is _MISSING:
                    value = _module(f"{statement.module}.{alias.name}")
                imported[alias.asname or alias.name] = value
    return {name: value for name, value in imported.items() if value is not None}


def _module(name: str) -> ModuleType | None:
    """Return a module that is loaded, or one of webtensor's."""
    if name in sys.modules:
        return sys.modules[name]
    if name.partition(".")[0] == "webtensor":
        try:
            return importlib.import_module(name)
        except ImportError:
            return None
    return None


def _top_level_modules() -> Iterator[Option]:
    for name in sorted({module.name for module in pkgutil.iter_modules()} | set(sys.modules)):
        if "." not in name:
            yield {"label": name, "type": "namespace"}


def _submodules(module: ModuleType | None) -> Iterator[Option]:
    public = _public_names(module)
    for submodule in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if public is None or submodule.name in public:
            yield {"label": submodule.name, "type": "namespace"}


# -- calls -----------------------------------------------------------------------------------------


@dataclass
class _Call:
    """A bracket that is open at the cursor; `path` is empty if no name stands before it."""

    path: str
    position: int = 0  # of the argument at the cursor
    keyword: str = ""  # of the argument at the cursor


def _innermost_call(before: str) -> _Call | None:
    """Find the call whose arguments the cursor is in."""
    open_brackets: list[_Call] = []
    path = name = ""
    for token in _tokens(before):
        text = token.string
        if token.type == tokenize.NAME and not keyword.iskeyword(text):
            path = path + text if path.endswith(".") else text
            name = text
            continue
        if text == "." and path:
            path += "."
            continue
        if text in ("(", "[", "{"):
            open_brackets.append(_Call(path if text == "(" else ""))
        elif text in (")", "]", "}") and open_brackets:
            open_brackets.pop()
        elif text == "," and open_brackets:
            open_brackets[-1].position += 1
            open_brackets[-1].keyword = ""
        elif text == "=" and open_brackets:
            open_brackets[-1].keyword = name
        path = ""
    return open_brackets[-1] if open_brackets and open_brackets[-1].path else None


def _tokens(source: str) -> Iterator[tokenize.TokenInfo]:
    """Split source, which may end in the middle of a statement."""
    try:
        yield from tokenize.generate_tokens(io.StringIO(source).readline)
    except (tokenize.TokenError, SyntaxError):
        return


def _parameters(function: Any) -> list[inspect.Parameter] | None:
    if function is _MISSING or not callable(function):
        return None
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some built-in functions have no signature
        return None


def _active(call: _Call, parameters: list[inspect.Parameter]) -> int | None:
    """Return the index of the parameter that takes the argument at the cursor."""
    for index, parameter in enumerate(parameters):
        if call.keyword:
            if parameter.name == call.keyword:
                return index
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            return index
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            return None
        elif index == call.position:
            return index
    last = parameters[-1] if parameters else None
    if call.keyword and last is not None and last.kind is inspect.Parameter.VAR_KEYWORD:
        return len(parameters) - 1
    return None


def _short(parameter: inspect.Parameter) -> str:
    """Write a parameter without its annotation."""
    return str(parameter.replace(annotation=inspect.Parameter.empty))


def _keyword_arguments(before: str, namespace: Mapping[str, Any]) -> Iterator[Option]:
    call = _innermost_call(before)
    if call is None or call.keyword:
        return
    for parameter in _parameters(_look_up(call.path, before, namespace)) or ():
        if parameter.kind in (
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            inspect.Parameter.KEYWORD_ONLY,
        ):
            yield {"label": f"{parameter.name}=", "type": "property"}
