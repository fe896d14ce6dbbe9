"""How much of the library a page reads, compiles and runs, if it takes nothing from a snapshot."""

from collections.abc import Iterator

import pytest

from tests_browser.python_page import PythonPage
from tests_py.test_lazy_contents import MAX_LINES
from web.build import ROOT

#: Pages compute on it where WebGL is drawn by software, as in tests.
ON_WASM = "wt.set_backend('wasm')"
LIST = """
import sys
[
    module.__file__ for name, module in list(sys.modules.items())
    if name.partition(".")[0] == "webtensor" and getattr(module, "__file__", None)
]
"""


@pytest.fixture
def plain_page(chromium_python: PythonPage) -> Iterator[PythonPage]:
    """The page, started without a snapshot; it is loaded anew afterwards."""
    with chromium_python.loaded_with("?start=plain") as page:
        yield page


def test_few_lines_are_loaded(plain_page: PythonPage):
    for program, most in MAX_LINES.items():
        on_wasm = program.replace("import webtensor as wt", f"import webtensor as wt\n{ON_WASM}")
        files = plain_page.run(on_wasm + LIST)
        sources = [
            ROOT / "pkg" / "webtensor" / file.split("/webtensor/", 1)[1].replace(".pyc", ".py")
            for file in files
        ]
        assert sum(len(source.read_text("utf-8").splitlines()) for source in sources) <= most
