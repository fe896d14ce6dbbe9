"""Makes the tables of all symbols in `docs/tensorflow_js.md` from `docs/tfjs_map.toml`."""

import tomllib
from html import escape
from pathlib import Path

__all__ = ["tables_of_symbols"]

SECTION = """## {title}

<table class="symbols">
<thead><tr><th scope="col">TensorFlow.js</th><th scope="col">webtensor</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
"""
ROW = '<tr><th scope="row"><code>{theirs}</code></th><td>{ours}</td></tr>'
PREFIXES = {"top": "tf.", "tensorMethods": "tensor."}


def _ours(entry: str | dict[str, str]) -> str:
    if isinstance(entry, str):
        return f"<code>{escape(entry if entry.startswith('Tensor') else 'wt.' + entry)}</code>"
    return escape(entry["why"])


def tables_of_symbols(path: Path) -> str:
    """Return the tables of a map, each with a heading, in Markdown."""
    namespaces: dict[str, dict[str, str | dict[str, str]]] = tomllib.loads(path.read_text("utf-8"))
    sections = []
    for name, symbols in namespaces.items():
        prefix = PREFIXES.get(name, f"tf.{name}.")
        rows = [
            ROW.format(theirs=escape(prefix + symbol), ours=_ours(entry))
            for symbol, entry in symbols.items()
        ]
        title = f"`{prefix}*` ({len(symbols)})"
        sections.append(SECTION.format(title=title, rows="\n".join(rows)))
    return "\n".join(sections)
