"""Runs the listings of a page of the documentation, in one namespace."""

import doctest
from contextlib import redirect_stdout
from io import StringIO

from pyodide.code import eval_code_async

NAMESPACE = {"__name__": "__main__"}


async def run_listing(source):
    """Run a listing, or the examples of a docstring, and return what it prints."""
    printed = StringIO()
    with redirect_stdout(printed):
        if source.startswith(">>> "):
            for example in doctest.DocTestParser().get_examples(source):
                exec(compile(example.source, "<example>", "single"), NAMESPACE)
        else:
            value = await eval_code_async(source, NAMESPACE, filename="<listing>")
            if value is not None:
                printed.write(f"{value!r}\n")
    return printed.getvalue()
