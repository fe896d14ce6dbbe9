"""The library's JavaScript: files that a page may register, and that may be evaluated as well."""

import re
from pathlib import Path

import pytest

import webtensor as wt

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "pkg" / "webtensor"
ENTRY = PACKAGE / "javascript.js"
#: Those that run in the thread that Python runs in.
MODULES = sorted({*PACKAGE.rglob("*.js")} - {ENTRY, PACKAGE / "backends" / "wasm" / "thread.js"})


def test_versions_agree() -> None:
    assert f'export const version = "{wt.__version__}";' in ENTRY.read_text("utf-8")


def test_every_module_is_registered_by_the_name_of_its_file() -> None:
    exports = re.findall(r'export \{ default as (\w+) \} from "\./(.+)";', ENTRY.read_text("utf-8"))
    assert dict(exports) == {
        module.stem: module.relative_to(PACKAGE).as_posix() for module in MODULES
    }


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_a_module_exports_one_function_and_imports_nothing(module: Path) -> None:
    text = module.read_text("utf-8")
    assert re.findall(r"^export\b.*$", text, re.M) == re.findall(
        r"^export default function \w+\(.*\) \{$", text, re.M
    )
    assert text.count("export ") == 1
    assert not re.search(r"^import\b|import\.meta", text, re.M)
