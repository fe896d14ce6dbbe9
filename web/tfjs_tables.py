"""Makes the tables of all symbols in `docs/tensorflow_js.md` from `docs/tfjs_map.toml`."""

import re
import tomllib
from pathlib import Path

__all__ = ["tables_of_symbols"]

#: The search of the documentation finds text of lists, but not of HTML.
SECTION = """## {title}

```{{list-table}}
:class: symbols
:header-rows: 1
:stub-columns: 1

* - TensorFlow.js
  - webtensor
{rows}
```
"""
ROW = "* - `{theirs}`\n  - {ours}"
MARKUP = re.compile(r"([\\`*_{}\[\]<>#|$~])")
PREFIXES = {"top": "tf.", "tensorMethods": "tensor."}


def _ours(entry: str | dict[str, str]) -> str:
    if isinstance(entry, str):
        return f"`{entry if entry.startswith('Tensor') else 'wt.' + entry}`"
    return MARKUP.sub(r"\\\1", entry["why"])


def tables_of_symbols(path: Path) -> str:
    """Return the tables of a map, each with a heading, in Markdown."""
    namespaces: dict[str, dict[str, str | dict[str, str]]] = tomllib.loads(path.read_text("utf-8"))
    sections = []
    for name, symbols in namespaces.items():
        prefix = PREFIXES.get(name, f"tf.{name}.")
        rows = [
            ROW.format(theirs=prefix + symbol, ours=_ours(entry))
            for symbol, entry in symbols.items()
        ]
        title = f"`{prefix}*` ({len(symbols)})"
        sections.append(SECTION.format(title=title, rows="\n".join(rows)))
    return "\n".join(sections)
