"""Tests that run in real browsers: Python in a page, and the pages as visitors use them.

`browsers` starts browsers, `display` gives them a screen, `python_page` runs Python in a page's
Pyodide, `page_watch` notices console errors, and `conftest` turns these into fixtures.
"""
