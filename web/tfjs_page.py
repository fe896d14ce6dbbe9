"""Makes the documentation page "Coming from TensorFlow.js" of `docs/tfjs_map.toml`."""

import tomllib
from html import escape
from pathlib import Path

__all__ = ["tfjs_page"]

PAGE = """# Coming from TensorFlow.js

Every public symbol of TensorFlow.js 4.22 and its counterpart here, or the reason why there is none.
Names are those of the Python array API standard where it has the function, and TensorFlow.js's in
`snake_case` elsewhere. Functions of the same name do the same, with few exceptions:
[differences from TensorFlow.js](differences_from_tfjs.md) lists them. The guide
[Charts](guides/charts.md) has the counterparts of tfjs-vis.

{sections}
"""
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


def tfjs_page(path: Path) -> str:
    """Return the page of a map, in Markdown."""
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
    return PAGE.format(sections="\n".join(sections))
