"""Write `docs/standards.md`."""

from tests_py.standards.report import PAGE, page

PAGE.write_text(page(), "utf-8")
print(f"wrote {PAGE}")
