"""Runs the listings of a page of the documentation, in one namespace."""

import ast
import doctest
import sys
import traceback
from contextlib import redirect_stdout
from io import StringIO

from pyodide.code import CodeRunner

SHOWN = "_shown"
NAMESPACE = {"__name__": "__main__"}


async def run_listing(source, new_figure):
    """Run a listing, or the examples of a docstring, and return what it prints.

    Charts that statements evaluate to are drawn in elements that `new_figure` returns.
    """

    def shown(value):
        if value is None or not draw(value, new_figure):
            return value
        return None

    def show(value):
        sys.__displayhook__(shown(value))

    printed = StringIO()
    with redirect_stdout(printed):
        if source.startswith(">>> "):
            sys.displayhook = show
            for example in doctest.DocTestParser().get_examples(source):
                run_example(example)
        else:
            NAMESPACE[SHOWN] = shown
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            runner = CodeRunner(source, filename="<listing>", flags=flags)
            pass_values_to_shown(runner.ast)
            value = await runner.compile().run_async(NAMESPACE)
            if value is not None:
                printed.write(f"{value!r}\n")
    return printed.getvalue()


def run_example(example):
    """Run an example of a docstring, and print the error that it is to show."""
    try:
        exec(compile(example.source, "<example>", "single"), NAMESPACE)
    except Exception as error:
        if example.exc_msg is None:
            raise
        sys.stdout.write("".join(traceback.format_exception_only(error)))


def pass_values_to_shown(module):
    """Have statements of a listing that are expressions pass their values to `shown`."""
    for statement in module.body:
        if isinstance(statement, ast.Expr):
            statement.value = ast.Call(ast.Name(SHOWN, ast.Load()), [statement.value], [])
    ast.fix_missing_locations(module)


def draw(value, new_figure):
    """Draw a value, and tell whether it is a chart."""
    from webtensor.charts import Display
    from webtensor.visor.containers import drawing_function

    is_chart = isinstance(value, Display)
    if is_chart:
        drawing_function("run", new_figure())(value)
    return is_chart
