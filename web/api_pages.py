"""Writes the pages of the API reference: one for each public namespace, which Sphinx completes.

A page lists names; Sphinx takes what it says about them from their docstrings. An object of several
names is described in one place, and listed with a link to it in the others.
"""

from collections.abc import Iterable, Iterator
from importlib import import_module
from inspect import getdoc, isclass, ismodule, isroutine
from types import ModuleType

from webtensor.engine import Tensor, Variable
from webtensor.ops.contents import CONTENTS, NAMESPACES

__all__ = ["api_pages"]

INDEX = """\
API reference
=============

Every public function and class, with its arguments, its errors and an example, which is a test of
the library. ``wt`` stands for ``webtensor``, as in ``import webtensor as wt``, and ``keras`` for
``webtensor.keras``, as in ``from webtensor import keras``; ``wt.layers``, ``wt.optimizers`` and the
like are those of ``keras``. The search finds names, and so does the :ref:`index <genindex>`.

.. toctree::
   :maxdepth: 1

{pages}
"""
KERAS = "webtensor.keras"
#: Namespaces of further names for what is described elsewhere.
ALIASES = ("webtensor.nn", "webtensor.random")
#: Namespaces of namespaces, which have no page themselves.
CONTAINERS = (f"{KERAS}.datasets", f"{KERAS}.legacy")


def api_pages() -> dict[str, str]:
    """Return the text of each page by its name."""
    modules = dict(_namespaces())
    homes: dict[int, str] = {}
    for path in sorted(modules, key=lambda path: (path in ALIASES, path in ("webtensor", KERAS))):
        members = {name: getattr(modules[path], name) for name in _public_names(modules[path])}
        for name in sorted(members, key=lambda name: members[name].__name__ != name):
            homes.setdefault(id(members[name]), f"{path}.{name}")
    pages = {path: _page(path, module, homes) for path, module in modules.items()}
    return {**pages, "index": INDEX.format(pages="\n".join(f"   {path}" for path in pages))}


def _public_names(module: ModuleType) -> list[str]:
    """Return the names of a namespace's functions and classes."""
    names = getattr(module, "__all__", None) or dir(module)
    return [
        name
        for name in sorted(set(names), key=str.lower)
        if not name.startswith("_") and _is_described(getattr(module, name))
    ]


def _is_described(member: object) -> bool:
    origin = str(getattr(member, "__module__", None))
    return (isclass(member) or isroutine(member)) and origin.startswith("webtensor")


def _is_method(member: object) -> bool:
    return isroutine(member) or isinstance(member, property | classmethod | staticmethod)


def _namespaces() -> Iterator[tuple[str, ModuleType]]:
    library = import_module("webtensor")
    yield "webtensor", library
    others = {"audio", "browser", "data", "io", "nn", "random", "text", "train", "vision", "visor"}
    for name in sorted({*NAMESPACES, *others, "wasm", "webgl"}):
        yield from _with_inner_namespaces(f"webtensor.{name}", getattr(library, name))
    yield from _with_inner_namespaces(KERAS, library.keras)


def _with_inner_namespaces(path: str, module: ModuleType) -> Iterator[tuple[str, ModuleType]]:
    if path not in CONTAINERS:
        yield path, module
    for name in getattr(module, "__all__", ()):
        member = getattr(module, name)
        if ismodule(member) and hasattr(member, "__all__") and member.__all__ != ["TABLE"]:
            yield from _with_inner_namespaces(f"{path}.{name}", member)


def _page(path: str, module: ModuleType, homes: dict[int, str]) -> str:
    title = path.removeprefix("webtensor.") if path.startswith(KERAS) else f"wt{path[9:]}"
    summary = (getdoc(module) or "").partition("\n\n")[0]
    return "\n".join(
        [
            title,
            "=" * len(title),
            "",
            summary,
            "",
            f".. py:module:: {path}",
            "",
            *_sections(path, module, homes),
        ]
    )


def _sections(path: str, module: ModuleType, homes: dict[int, str]) -> Iterator[str]:
    names = _public_names(module)
    if path != "webtensor":
        yield from _entries(path, module, names, homes)
        return
    families = {
        family.replace("_", " "): [name for name in names if name in members]
        for family, members in CONTENTS.items()
    }
    listed = {name for members in families.values() for name in members}
    unlisted = {"tensors, gradients and backends": [name for name in names if name not in listed]}
    for family, members in {**unlisted, **families}.items():
        if members:
            title = family[0].upper() + family[1:]
            yield from (title, "-" * len(title), "")
            yield from _entries(path, module, members, homes)


def _entries(
    path: str, module: ModuleType, names: Iterable[str], homes: dict[int, str]
) -> Iterator[str]:
    links = (f":py:obj:`{name} <{homes[id(getattr(module, name))]}>`" for name in names)
    yield from (" · ".join(links), "")
    aliases = []
    for name in names:
        member = getattr(module, name)
        home = homes[id(member)]
        if home != f"{path}.{name}":
            aliases.append(f"- ``{name}`` is :py:obj:`{home}`.")
        elif isclass(member):
            yield f".. autoclass:: {home}"
            if own := sorted(_own_members(member, homes)):
                yield f"   :members: {', '.join(own)}"
            yield ""
        else:
            yield from (f".. autofunction:: {home}", "")
    yield from (*aliases, "")


def _own_members(described: type, homes: dict[int, str]) -> set[str]:
    """Return a class's public members, without those that its described bases have as well.

    Methods that have the names of functions are left out, too: the functions are described.
    """
    functions = dir(import_module("webtensor")) if described in (Tensor, Variable) else ()
    members: set[str] = set()
    for base in described.__mro__:
        if base.__module__.startswith("webtensor") and (base is described or id(base) not in homes):
            members |= {
                name
                for name, value in vars(base).items()
                if not name.startswith("_")
                and _is_method(value)
                and getattr(value, "__doc__", None)
            }
    inherited = {name for base in described.__mro__[1:] if id(base) in homes for name in dir(base)}
    return members - inherited - set(functions)
