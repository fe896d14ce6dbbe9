"""What goes wrong in a page is seen: by the visitor in the page, and by the tests."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests_browser.python_page import PythonInPageError, PythonPage


@pytest.fixture
def unwatched_page(chromium: Browser) -> Iterator[Page]:
    """A page in which errors are expected."""
    context = chromium.new_context()
    yield context.new_page()
    context.close()


def test_exception_in_the_page_reaches_the_test(any_python_page: PythonPage):
    with pytest.raises(PythonInPageError, match="ZeroDivisionError"):
        any_python_page.run("1 / 0")


def test_console_errors_are_noticed(any_python_page: PythonPage):
    any_python_page.run("from js import console\nconsole.error('a complaint')")
    (error,) = any_python_page.take_errors()
    assert "a complaint" in error


def test_exceptions_of_tasks_are_noticed(any_python_page: PythonPage):
    any_python_page.run(
        """
        import asyncio
        import gc

        async def fail():
            raise ValueError("lost in a task")

        task = asyncio.ensure_future(fail())
        await asyncio.sleep(0.01)
        del task
        gc.collect()
        await asyncio.sleep(0.01)
        """
    )
    errors = any_python_page.take_errors()
    assert any("lost in a task" in error for error in errors), errors


@pytest.mark.parametrize("script", ["at_once.py", "in_a_task.py"])
def test_page_shows_an_exception(unwatched_page: Page, site_url: str, script: str):
    unwatched_page.goto(f"{site_url}/tests/failing/?run={script}")
    alert = unwatched_page.get_by_role("alert")
    expect(alert).to_contain_text("Something went wrong: ValueError: x has 3 axes")
    expect(alert).to_contain_text("helper.py")
    expect(alert.locator("pre")).to_have_attribute("tabindex", "0")


def test_page_shows_an_exception_in_an_event_handler(unwatched_page: Page, site_url: str):
    unwatched_page.goto(f"{site_url}/tests/failing/?run=in_a_handler.py")
    expect(unwatched_page).to_have_title("listening")
    unwatched_page.locator("main").click(force=True, position={"x": 0, "y": 0})
    expect(unwatched_page.get_by_role("alert")).to_contain_text("ValueError: x has 3 axes")


def test_page_says_which_file_is_missing(unwatched_page: Page, site_url: str):
    unwatched_page.goto(f"{site_url}/tests/failing/?run=absent.py")
    alert = unwatched_page.get_by_role("alert")
    expect(alert).to_have_text(re.compile(r"Something went wrong: \S*absent\.py [^:]+: 404.*"))
    expect(alert.locator("pre")).to_have_count(0)
