"""Builds the documentation: the Markdown of `docs/`, and pages made of the code, as HTML by Sphinx.

Sphinx's warnings are errors. Scripts and styles that its theme writes into pages are moved to
files, since the site's Content-Security-Policy allows no others.

The word after the language of a listing says where it runs: `python` in CPython and in browsers,
`python cpython` and `python browser` only there; `tests_py/test_docs.py` runs them, and readers can
run those that browsers can. `file=`, `append=` and `insert=` name the file of a listing.
"""

import hashlib
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from web.api_pages import api_pages
from web.tfjs_tables import tables_of_symbols

__all__ = ["DOCS", "build_docs"]

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
#: Pages whose texts are elsewhere.
PROJECT_PAGES = {
    "changelog.md": ROOT / "CHANGELOG.md",
    "contributing.md": ROOT / "CONTRIBUTING.md",
    "security.md": ROOT / "SECURITY.md",
}
LISTING = re.compile(r"^```python ([^\n]+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: What the theme writes, and what keyboards and screen readers need.
ACCESSIBLE = {
    'role="heading">': 'role="heading" aria-level="2">',
    "<pre>": '<pre tabindex="0">',
    '<th class="head"><p></p></th>': "<td></td>",
    '<th class="stub">': '<th scope="row" class="stub">',
    '<div id="search-results">': '<h1>Search</h1>\n<div id="search-results">',
    '<aside class="sidebar-drawer"': '<aside aria-label="All pages" class="sidebar-drawer"',
    '<aside class="toc-drawer': '<aside aria-label="This page" class="toc-drawer',
}
CAPTIONS = {"append": "Append to", "file": "File", "insert": "Insert into", "after": "after"}
OUTPUT = re.compile(r"^```output\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)
STYLE_ATTRIBUTE = re.compile(r'(<[^<>]* )style="([^"]*)"')


def build_docs(work: Path) -> Path:
    """Build in the folder `work`, which keeps what later builds reuse; return the HTML's folder."""
    source, doctrees, output = (work / name for name in ("source", "doctrees", "html"))
    _write_sources(source)
    shutil.rmtree(output, ignore_errors=True)
    options = ["--builder", "html", "--quiet", "--fail-on-warning", "--jobs", "auto"]
    folders = [f"--conf-dir={DOCS}", f"--doctree-dir={doctrees}", str(source), str(output)]
    command = [sys.executable, "-m", "sphinx", *options, *folders]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        shutil.rmtree(doctrees, ignore_errors=True)  # the next build is to warn again
        sys.exit(f"Building the documentation failed:\n{result.stdout}{result.stderr}")
    _finish_pages(output)
    for name in (".buildinfo", "objects.inv"):
        (output / name).unlink(missing_ok=True)
    return output


def _write_sources(folder: Path) -> None:
    """Write the sources of all pages; Sphinx reads only files again that are written."""
    texts = {
        path.relative_to(DOCS).as_posix(): path.read_text("utf-8") for path in DOCS.rglob("*.md")
    }
    for name, path in PROJECT_PAGES.items():
        texts[name] = path.read_text("utf-8").replace("](docs/", "](")
    texts["tensorflow_js.md"] += "\n" + tables_of_symbols(DOCS / "tfjs_map.toml")
    texts |= {f"api/{name}.rst": text for name, text in api_pages().items()}
    files = {name: _with_classes(text).encode() for name, text in texts.items()}
    for path in [*DOCS.glob("pictures/*"), *DOCS.glob("examples/**/*.py")]:
        files[path.relative_to(DOCS).as_posix()] = path.read_bytes()
    for name, content in files.items():
        file = folder / name
        if not file.exists() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    for file in folder.rglob("*.*"):
        if file.relative_to(folder).as_posix() not in files:
            file.unlink()


def _with_classes(text: str) -> str:
    """Turn the words after a listing's language into its class in HTML and a caption."""

    def with_class(match: re.Match[str]) -> str:
        words = [word.partition("=") for word in shlex.split(match[1])]
        caption = " ".join(f"{CAPTIONS[key]} {value}" for key, _, value in words if value)
        option = f":caption: {caption}\n" if caption else ""
        code = match[2].lstrip("\n")
        return f"```{{code-block}} python\n:class: {words[0][0]}\n{option}\n{code}```"

    text = LISTING.sub(with_class, text)
    return OUTPUT.sub(r"```{code-block} text\n:class: printed\n\n\1```", text)


def _finish_pages(folder: Path) -> None:
    """Move scripts, styles and style attributes to files, and name what screen readers need."""
    moved = folder / "_static" / "moved"
    moved.mkdir()
    attributes: dict[str, str] = {}

    def as_file(content: str, suffix: str) -> str:
        name = hashlib.sha256(content.encode()).hexdigest()[:12] + suffix
        (moved / name).write_text(content, "utf-8")
        return name

    for page in folder.rglob("*.html"):
        statics = "../" * (len(page.relative_to(folder).parts) - 1) + "_static/moved/"

        def link(match: re.Match[str], statics: str = statics) -> str:
            if match[1] == "script":
                return f'<script src="{statics}{as_file(match[2], ".js")}"></script>'
            return f'<link rel="stylesheet" href="{statics}{as_file(match[2], ".css")}" />'

        def attribute(match: re.Match[str]) -> str:
            number = attributes.setdefault(match[2], str(len(attributes)))
            return f'{match[1]}data-style="{number}"'

        text = INLINE.sub(link, page.read_text("utf-8"))
        text = STYLE_ATTRIBUTE.sub(attribute, text)
        for written, accessible in ACCESSIBLE.items():
            text = text.replace(written, accessible)
        sheet = f'<link rel="stylesheet" href="{statics}attributes.css" />\n  </head>'
        page.write_text(text.replace("</head>", sheet, 1), "utf-8")
    rules = [f'[data-style="{number}"] {{ {style} }}' for style, number in attributes.items()]
    (moved / "attributes.css").write_text("\n".join(rules) + "\n", "utf-8")
