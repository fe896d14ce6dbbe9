"""Sees that browsers are there: `python -m tests_browser.install_browsers`, or only those named.

Browsers that the system or Playwright has are used as they are. What is missing comes from
`apt-get` on Debian as root, and from `playwright install` elsewhere. Exits with a message that says
what is missing when neither works.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests_browser.browsers import (
    playwright_build,
    system_chromium,
    system_firefox,
    system_webkit,
)

BROWSERS = ("chromium", "firefox", "webkit")
DEBIAN_PACKAGES = {
    "chromium": ("chromium",),
    "firefox": ("firefox-esr",),
    "webkit": ("webkit2gtk-driver",),
    "xvfb": ("xvfb", "xauth"),
}


def missing_programs(requested: Collection[str]) -> list[str]:
    """Name which of the `requested` browsers, and of what they need, this machine lacks."""
    with sync_playwright() as playwright:
        missing = [
            name
            for name, system, browser_type in (
                ("chromium", system_chromium, playwright.chromium),
                ("firefox", system_firefox, playwright.firefox),
                ("webkit", system_webkit, playwright.webkit),
            )
            if name in requested and not playwright_build(browser_type) and not system()
        ]
    needs_display = set(requested) != {"chromium"} and sys.platform == "linux"
    if needs_display and not os.environ.get("DISPLAY") and not shutil.which("Xvfb"):
        missing.append("xvfb")
    return missing


def is_debian_root() -> bool:
    """Tell whether apt-get can install packages here."""
    return (
        sys.platform == "linux" and os.geteuid() == 0 and Path("/etc/debian_version").exists()
    ) and shutil.which("apt-get") is not None


def install_with_apt(names: list[str]) -> None:
    """Install the Debian packages for `names`."""
    packages = [package for name in names for package in DEBIAN_PACKAGES[name]]
    print(f"Installing {' '.join(packages)} with apt-get", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=False, env=environment)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    subprocess.run(command, check=False, env=environment, stdout=subprocess.DEVNULL)


def install_with_playwright(names: list[str]) -> None:
    """Let Playwright download its own builds of the browsers among `names`."""
    browsers = [name for name in names if name != "xvfb"]
    if browsers:
        subprocess.run([sys.executable, "-m", "playwright", "install", *browsers], check=False)


def main() -> None:
    """Install what is missing, and say what is still missing then."""
    requested = sys.argv[1:] or BROWSERS
    missing = missing_programs(requested)
    if missing and is_debian_root():
        install_with_apt(missing)
        missing = missing_programs(requested)
    if missing:
        install_with_playwright(missing)
        missing = missing_programs(requested)
    if missing:
        sys.exit(
            f"Missing for the browser tests: {', '.join(missing)}. Install the browsers with your"
            " system's package manager, or with `.venv/bin/playwright install`."
        )


if __name__ == "__main__":
    main()
