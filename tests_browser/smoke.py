"""Trains on the digits page in headless Chromium, on each backend: `python -m tests_browser.smoke`.

Prints one JSON line: test accuracy, seconds of training and the longest task of the page's thread
per backend; whether the same initial weights gave the same predictions on all; and the milliseconds
from navigation to the first prediction. Exits with status 1, and says why on standard error, below
97 % on either or where predictions differ.
"""

import json
import sys
from contextlib import closing
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from tests_browser.browsers import launch_chromium
from tests_browser.digits_page import DigitsPage
from tests_browser.page_watch import PageWatch
from web.build import build_site
from web.serve import serve

BACKENDS = ("webgl", "wasm")
MARK = 0.97


def train_on(browser: Browser, site_url: str, backend: str) -> tuple[dict[str, Any], list[str]]:
    """Open the page in a fresh context and train; return the page's facts and its errors."""
    with closing(browser.new_context()) as context:
        page = context.new_page()
        watch = PageWatch(page)
        digits = DigitsPage(page, site_url, f"?backend={backend}")
        digits.train()
        return digits.facts, watch.take_errors()


def failures(all_facts: dict[str, dict[str, Any]]) -> list[str]:
    """List what falls short."""
    lines = [
        f"{backend}: {facts['accuracy']:.1%} of the test digits are right, wanted {MARK:.0%}"
        for backend, facts in all_facts.items()
        if facts["accuracy"] < MARK
    ]
    lines += [
        f"{backend}: the page computed on {facts['backend']}"
        for backend, facts in all_facts.items()
        if facts["backend"] != backend
    ]
    if not same_initial_predictions(all_facts):
        lines.append("the same initial weights gave different predictions on the backends")
    return lines


def same_initial_predictions(all_facts: dict[str, dict[str, Any]]) -> bool:
    """Tell whether all backends agreed before training."""
    first, *others = (facts["initial_predictions"] for facts in all_facts.values())
    return all(other == first for other in others)


def summary(all_facts: dict[str, dict[str, Any]], browser_version: str) -> dict[str, Any]:
    """Return what is printed."""
    shown = ("accuracy", "seconds", "longest_task_ms")
    return {
        **{name: {key: round(facts[key], 4) for key in shown} for name, facts in all_facts.items()},
        "same_initial_predictions": same_initial_predictions(all_facts),
        "first_prediction_ms": {
            name: facts["first_prediction_ms"] for name, facts in all_facts.items()
        },
        "browser": f"chromium {browser_version}",
    }


def main() -> None:
    """Run the smoke test."""
    all_facts: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    with (
        serve(build_site()) as site_url,
        sync_playwright() as playwright,
        closing(launch_chromium(playwright)) as browser,
    ):
        for backend in BACKENDS:
            all_facts[backend], errors = train_on(browser, site_url, backend)
            problems += [f"{backend}: {error}" for error in errors]
        print(json.dumps(summary(all_facts, browser.version)), flush=True)
    problems += failures(all_facts)
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
