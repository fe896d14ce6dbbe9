"""Which browsers this machine has, and how each is started for WebGL and WebAssembly.

A browser is taken from an environment variable (`WEBTENSOR_CHROMIUM`, `WEBTENSOR_FIREFOX`), from
Playwright's own downloads, or from the system, in this order. WebKit is Playwright's where it was
downloaded, else WebKitGTK's MiniBrowser through WebDriver. WebGL is drawn by software unless
`WEBTENSOR_CHROMIUM_ARGUMENTS` says how Chromium reaches a GPU.
"""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserType, Error, Playwright
from selenium import webdriver

#: How long a page may take for what it does in moments, where other programs keep the processors
#: busy. Playwright's own limits are 5 s for expectations and 30 s for all else.
PATIENCE_MS = 120_000

# Of several such options the last counts, so Playwright's own features are named again.
#
# GWP-ASan watches a few allocations of some processes, and notes the stack of each, as the heap
# profiler does (below). Both read beyond the end of the stack on which a suspendable Python runs
# (JSPI), so that the page crashes; see docs/design/choices.md.
ENABLED_IN_CHROMIUM = (
    "CDPScreenshotNewSurface",
    "GwpAsanMalloc:ProcessSamplingProbability/0",
)
# For each window Chromium prepares two pages of its own for the address bar, which nobody sees,
# in a process that computes for more than a second.
DISABLED_IN_CHROMIUM = (
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "BlockOriginHeaderModificationOnRedirect",
    "DestroyProfileOnBrowserClose",
    "DialMediaRouteProvider",
    "GlobalMediaControls",
    "HeapProfilerReporting",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "OptimizationHints",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "Translate",
)
# ANGLE prepares pipelines when a program is linked, before any draw needs one. That costs
# SwiftShader more than it saves: without, op cases take a fifth less of the GPU process's time.
WITHOUT_PREPARED_PIPELINES = (
    "--disable-angle-features=warmUpPipelineCacheAtLink,supportsGraphicsPipelineLibrary"
)
_ENABLE = "--enable-features="
# Mesa draws for Firefox and WebKit, and compiles each program for the processor. To optimize what
# draws few texels takes longer than it saves. Its threads may wait for ever, so it gets none of its
# own; see docs/design/choices.md.
MESA_VARIABLES = {
    "LIBGL_ALWAYS_SOFTWARE": "1",
    "GALLIVM_PERF": "nopt",
    "LP_NUM_THREADS": "0",
}
FIREFOX_PREFERENCES: dict[str, str | float | bool] = {
    "webgl.force-enabled": True,
    "webgl.disabled": False,
    "gfx.webrender.software": True,
    "gfx.x11-egl.force-enabled": True,
}

SYSTEM_CHROMIUM = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
SYSTEM_FIREFOX = (
    "firefox-esr",
    "firefox",
    "/Applications/Firefox.app/Contents/MacOS/firefox",
)
WEBKIT_DRIVER = "WebKitWebDriver"


class BrowserMissingError(RuntimeError):
    """A browser that was asked for isn't on this machine; the message says how to get it."""

    def __init__(self, name: str) -> None:
        """Say which browser is missing."""
        super().__init__(f"{name} isn't installed: run `make browsers`")


@dataclass(frozen=True)
class WebKitGTK:
    """WebKitGTK's WebDriver and the MiniBrowser that it drives."""

    driver: Path
    browser: Path


def playwright_build(browser_type: BrowserType) -> Path | None:
    """Find the browser that Playwright downloaded, if it did."""
    executable = Path(browser_type.executable_path)
    return executable if executable.exists() else None


def system_browser(names: Sequence[str], variable: str | None = None) -> Path | None:
    """Find an installed browser by an environment variable, or by command names and paths."""
    chosen = os.environ.get(variable, "") if variable else ""
    for name in (chosen, *names):
        path = shutil.which(name) if name else None
        if path:
            return Path(path)
    return None


def system_chromium() -> Path | None:
    """Find the system's Chromium or Chrome."""
    return system_browser(SYSTEM_CHROMIUM, "WEBTENSOR_CHROMIUM")


def system_firefox() -> Path | None:
    """Find the system's Firefox."""
    return system_browser(SYSTEM_FIREFOX, "WEBTENSOR_FIREFOX")


def system_webkit() -> WebKitGTK | None:
    """Find WebKitGTK's driver and the newest MiniBrowser."""
    driver = shutil.which(WEBKIT_DRIVER)
    browsers = sorted(Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"))
    if driver is None or not browsers:
        return None
    return WebKitGTK(Path(driver), browsers[-1])


def chromium_arguments(*more: str) -> list[str]:
    """Return what Chromium is started with, `WEBTENSOR_CHROMIUM_ARGUMENTS` and `more` included."""
    extra = [*shlex.split(os.environ.get("WEBTENSOR_CHROMIUM_ARGUMENTS", "")), *more]
    enabled = [argument.removeprefix(_ENABLE) for argument in extra if argument.startswith(_ENABLE)]
    return [
        "--no-sandbox",
        _ENABLE + ",".join([*ENABLED_IN_CHROMIUM, *enabled]),
        f"--disable-features={','.join(DISABLED_IN_CHROMIUM)}",
        *(argument for argument in extra if not argument.startswith(_ENABLE)),
    ]


def patient(browser: Browser) -> Browser:
    """Let what is done in a browser's pages take as long as it may; see PATIENCE_MS."""
    browser.on("context", lambda context: context.set_default_timeout(PATIENCE_MS))
    return browser


def launch_chromium(playwright: Playwright, arguments: Sequence[str] = ()) -> Browser:
    """Start headless Chromium; WebGL comes from SwiftShader where there is no GPU."""
    all_arguments = chromium_arguments(*arguments)
    if "WEBTENSOR_CHROMIUM" not in os.environ and playwright_build(playwright.chromium):
        return patient(playwright.chromium.launch(args=all_arguments))
    executable = system_chromium()
    if executable is None:
        raise BrowserMissingError("Chromium")
    return patient(playwright.chromium.launch(executable_path=executable, args=all_arguments))


def launch_firefox(
    playwright: Playwright, preferences: Mapping[str, str | float | bool] | None = None
) -> Browser:
    """Start headless Firefox; on Linux its WebGL needs a display, real or virtual."""
    options: dict[str, Any] = {
        "firefox_user_prefs": {**FIREFOX_PREFERENCES, **(preferences or {})},
        "env": {**os.environ, **MESA_VARIABLES},
    }
    if "WEBTENSOR_FIREFOX" not in os.environ and playwright_build(playwright.firefox):
        return patient(playwright.firefox.launch(**options))
    executable = system_firefox()
    if executable is None:
        raise BrowserMissingError("Firefox")
    # A Firefox that isn't Playwright's own build is driven through WebDriver BiDi.
    try:
        return patient(
            playwright.firefox.launch(channel="moz-firefox", executable_path=executable, **options)
        )
    except Error as error:
        error.add_note(
            f"{executable} may be too old or too new for this Playwright; ESR 153 works, and so"
            " does Playwright's own: .venv/bin/playwright install firefox"
        )
        raise


def launch_playwright_webkit(playwright: Playwright) -> Browser | None:
    """Start Playwright's WebKit where it was downloaded."""
    return patient(playwright.webkit.launch()) if playwright_build(playwright.webkit) else None


def start_webkit_driver() -> webdriver.WebKitGTK:
    """Start WebKitGTK's MiniBrowser through WebDriver; it needs a display, real or virtual."""
    webkit = system_webkit()
    if webkit is None:
        raise BrowserMissingError("WebKit")
    options = webdriver.WebKitGTKOptions()
    options.binary_location = str(webkit.browser)
    options.add_argument("--automation")
    environment = {**os.environ, **MESA_VARIABLES}
    if sys.platform == "linux" and os.geteuid() == 0:
        environment["WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS"] = "1"
    service = webdriver.WebKitGTKService(str(webkit.driver), env=environment)
    return webdriver.WebKitGTK(options=options, service=service)
