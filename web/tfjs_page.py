"""Makes the documentation page "Coming from TensorFlow.js" of `docs/tfjs_map.toml`."""

import tomllib
from html import escape
from pathlib import Path

__all__ = ["tfjs_page"]

PAGE = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Coming from TensorFlow.js – webtensor</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="../shared/style.css" />
  </head>
  <body>
    <header>
      <h1>Coming from TensorFlow.js</h1>
      <p class="lead">
        Every public symbol of TensorFlow.js 4.22 and its counterpart here, or the reason why there
        is none. Names are those of the Python array API standard where it has the function, and
        TensorFlow.js's in snake_case elsewhere. <a href="../">All of webtensor</a>
      </p>
      <p>{contents}</p>
    </header>
    <main>
{sections}
    </main>
  </body>
</html>
"""
SECTION = """      <section class="panel" aria-labelledby="{name}">
        <h2 id="{name}">{title}</h2>
        <table class="facts symbols">
          <thead><tr><th scope="col">TensorFlow.js</th><th scope="col">webtensor</th></tr></thead>
          <tbody>
{rows}
          </tbody>
        </table>
      </section>"""
ROW = '            <tr><th scope="row"><code>{theirs}</code></th><td>{ours}</td></tr>'
PREFIXES = {"top": "tf.", "tensorMethods": "tensor."}


def _ours(entry: str | dict[str, str]) -> str:
    if isinstance(entry, str):
        return f"<code>{escape(entry if entry.startswith('Tensor') else 'wt.' + entry)}</code>"
    return escape(entry["why"])


def tfjs_page(path: Path) -> str:
    """Return the page of a map."""
    namespaces: dict[str, dict[str, str | dict[str, str]]] = tomllib.loads(path.read_text("utf-8"))
    sections = []
    for name, symbols in namespaces.items():
        prefix = PREFIXES.get(name, f"tf.{name}.")
        rows = [
            ROW.format(theirs=escape(prefix + symbol), ours=_ours(entry))
            for symbol, entry in symbols.items()
        ]
        title = f"{prefix}* ({len(symbols)})"
        sections.append(SECTION.format(name=name, title=escape(title), rows="\n".join(rows)))
    contents = " · ".join(f'<a href="#{name}">{escape(name)}</a>' for name in namespaces)
    return PAGE.format(contents=contents, sections="\n".join(sections))
