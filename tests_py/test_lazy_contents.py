"""Tables of contents name what their modules have, and what type checkers are shown."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import pytest

import webtensor as wt
from webtensor.lazy_contents import lazy_contents
from webtensor.ops.contents import CONTENTS

#: Lines of webtensor's modules that may be loaded: a page reads, compiles and runs each of them.
MAX_LINES = {
    "import webtensor": 12_000,
    """
import webtensor as wt
from webtensor import keras
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, "relu"), keras.layers.Dense(1)])
model.compile("adam", "mse", metrics=["mae"])
model.fit(wt.ones((8, 4)), wt.ones((8, 1)), verbose=0)
""": 26_750,
}
COUNT = """
import sys
files = [
    module.__file__ for name, module in list(sys.modules.items())
    if name.partition(".")[0] == "webtensor" and module.__file__
]
print(sum(len(open(file).readlines()) for file in files))
"""


@pytest.mark.parametrize("program", MAX_LINES, ids=["import", "fitted model"])
def test_few_lines_are_loaded(program: str) -> None:
    answer = subprocess.check_output([sys.executable, "-c", program + COUNT], text=True)
    assert int(answer) <= MAX_LINES[program]


@pytest.mark.parametrize(
    "call", ["x + x", "abs(x)", "wt.where(True, x, x)", "x[:, None] @ x[None]"]
)
def test_complex_tensors_load_what_computes_with_them(call: str) -> None:
    program = f"import webtensor as wt\nx = wt.tensor([1 + 2j])\nprint(({call}).shape)"
    assert subprocess.check_output([sys.executable, "-c", program], text=True).startswith("(1,")


@pytest.mark.parametrize("module", CONTENTS)
def test_modules_of_ops_have_what_the_table_says(module: str) -> None:
    loaded = import_module(f"webtensor.ops.{module}")
    for name in CONTENTS[module]:
        assert name in loaded.__all__ or not name.startswith("_")
        assert hasattr(wt.ops, name)


def shown_to_type_checkers(package: ModuleType, modules: bool = True) -> set[str]:
    """Names that a package imports under ``TYPE_CHECKING``, with or without its own modules."""
    names: set[str] = set()
    for statement in ast.parse(Path(package.__file__ or "").read_text()).body:
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            for line in statement.body:
                assert isinstance(line, ast.ImportFrom)
                if not modules and line.module == package.__name__:
                    continue
                for alias in line.names:
                    if alias.name == "*":
                        names |= set(import_module(str(line.module)).__all__)
                    else:
                        names.add(alias.asname or alias.name)
    return names


PACKAGES = [
    "webtensor.data",
    "webtensor",
    "webtensor.audio",
    "webtensor.autodiff",
    "webtensor.browser",
    "webtensor.charts",
    "webtensor.convert",
    "webtensor.engine",
    "webtensor.io",
    "webtensor.keras",
    "webtensor.keras.applications",
    "webtensor.keras.callbacks",
    "webtensor.keras.layers",
    "webtensor.keras.losses",
    "webtensor.keras.metrics",
    "webtensor.keras.models",
    "webtensor.keras.optimizers",
    "webtensor.keras.utils",
    "webtensor.nn",
    "webtensor.ops",
    "webtensor.random",
    "webtensor.text",
    "webtensor.vision",
    "webtensor.visor",
]


@pytest.mark.parametrize("name", PACKAGES)
def test_no_name_is_that_of_a_module(name: str) -> None:
    """Importing the module would put it in place of what has its name."""
    package = import_module(name)
    modules = {module.name for module in iter_modules(getattr(package, "__path__", ()))}
    assert not shown_to_type_checkers(package, modules=False) & modules


@pytest.mark.parametrize("name", PACKAGES)
def test_type_checkers_see_what_is_loaded(name: str) -> None:
    package = import_module(name)
    shown = shown_to_type_checkers(package)
    for public_name in shown:
        assert getattr(package, public_name) is not None or public_name == "newaxis"
    assert shown <= set(dir(package))
    lazy = package.__dir__()
    missing = [name for name in lazy if name not in shown and name not in vars(package)]
    assert not missing


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'webtensor.ops' has no attribute 'matmull'"):
        wt.ops.matmull  # type: ignore[attr-defined]  # noqa: B018


def test_a_name_is_looked_up_once() -> None:
    package = ModuleType("a_package")
    sys.modules["a_package"] = package
    try:
        load, names = lazy_contents("a_package", {"path": ["join"]}, base="os")
        assert "join" in names()
        assert load("join") is vars(package)["join"]
    finally:
        del sys.modules["a_package"]
