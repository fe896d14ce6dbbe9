"""How Sphinx makes the site's documentation; `web/docs_site.py` runs it.

Pages are the Markdown of this folder, and those that `web/docs_site.py` writes beside them.
"""

import re
from inspect import Parameter, Signature, signature
from typing import Any

from sphinx.application import Sphinx

from webtensor import __version__

project = "webtensor"
author = "The webtensor authors"
copyright = author
version = release = __version__
html_title = f"webtensor {version}"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
smartquotes = False
suppress_warnings = ["misc.highlighting_failure"]  # HTML in which scripts are Python
myst_heading_anchors = 3
nitpicky = True
nitpick_ignore_regex = [("py:class", ".*")]  # types in signatures of properties
toc_object_entries = False  # with them, navigation takes half of the time; pages list their names
pygments_style = "a11y-light"
pygments_dark_style = "a11y-dark"

html_theme = "furo"
html_favicon = "_static/icon.svg"
templates_path = ["_templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "home.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_static_path = ["_static"]
html_css_files = ["docs.css"]
html_js_files = [("run_blocks.js", {"type": "module"})]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"top_of_page_buttons": []}

autodoc_inherit_docstrings = False
autodoc_class_signature = "mixed"
autodoc_member_order = "alphabetical"
napoleon_numpy_docstring = False

#: A star that begins no emphasis, as in ``(batch, *sizes)``.
LONE_STAR = re.compile(r"(?<![\w*`\\])(\*+)(?=\w)(?![^*]*\w\*)")


def short_signature(
    app: Sphinx, kind: str, name: str, member: Any, options: Any, text: str, returns: str
) -> tuple[str, None] | None:
    """Leave the types out of a signature: the descriptions of arguments say more."""
    try:
        parameters = list(signature(member).parameters.values())
    except (TypeError, ValueError):
        return None
    if parameters and parameters[0].name in ("self", "cls"):
        del parameters[0]
    plain = [parameter.replace(annotation=Parameter.empty) for parameter in parameters]
    return str(Signature(plain)), None


def escape_stars(
    app: Sphinx, kind: str, name: str, member: Any, options: Any, lines: list[str]
) -> None:
    """Escape stars that begin no emphasis in a docstring, outside of literals and examples."""
    if kind in ("attribute", "property"):
        lines.insert(0, "")  # or Napoleon takes what is before a colon in the first line for a type
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = line.split("``")
            parts[::2] = [LONE_STAR.sub(r"\\\1", part) for part in parts[::2]]
            lines[number] = "``".join(parts)


def setup(app: Sphinx) -> None:
    """Connect the functions above."""
    app.connect("autodoc-process-signature", short_signature)
    app.connect("autodoc-process-docstring", escape_stars, priority=400)
