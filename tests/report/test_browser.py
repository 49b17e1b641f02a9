"""The page in a real browser: no error, no request, no overflow on a phone, and both colour schemes.

Talks to Chromium's DevTools through a pipe, so that no driver has to be installed.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vqaudit.report.page import write_page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or "/usr/bin/chromium"
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
COMPLAINTS = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")

pytestmark = pytest.mark.skipif(
    not Path(CHROMIUM).exists(), reason="Chromium is not installed: apt-get install chromium"
)


class Browser:
    """One tab of a headless Chromium."""

    def __init__(self, profile: Path) -> None:
        here_out, self._write = os.pipe()
        self._read, here_in = os.pipe()
        # the browser reads commands from descriptor 3 and writes answers to descriptor 4
        shell = f'exec 3<&{here_out} 4>&{here_in}; exec "$@"'
        command = [CHROMIUM, *FLAGS, "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "browser", *command], pass_fds=(here_out, here_in), stderr=subprocess.DEVNULL
        )
        os.close(here_out)
        os.close(here_in)
        self._waiting, self._count, self._session = b"", 0, None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._count:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._waiting:
            chunk = os.read(self._read, 1 << 20)
            assert chunk, "the browser is gone"
            self._waiting += chunk
        message, self._waiting = self._waiting.split(b"\0", 1)
        told = json.loads(message)
        if "method" in told:
            self.events.append(told)
        return told

    def open(self, page: Path, *, width: int = 1280, scheme: str = "light") -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.call("Page.navigate", url=page.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._next()

    def told(self, script: str) -> Any:
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    @property
    def complaints(self) -> list[dict[str, Any]]:
        return [event["params"] for event in self.events if event["method"] in COMPLAINTS]

    @property
    def requests(self) -> list[str]:
        sent = [event["params"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [params["request"]["url"] for params in sent]

    def close(self) -> None:
        self._session = None
        self.call("Browser.close")
        os.close(self._write)
        os.close(self._read)
        self._process.wait(timeout=30)


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    made = Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def page(grid, tmp_path_factory) -> Path:
    return write_page([grid], tmp_path_factory.mktemp("page") / "page.html")


def test_a_page_that_fetches_and_fails_is_caught(browser: Browser, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text("<img src='missing.png'><script>nonsense()</script>", encoding="utf-8")
    browser.open(bad)
    assert len(browser.requests) > 1
    assert browser.complaints


def test_the_page_fetches_nothing_and_complains_of_nothing(browser: Browser, page: Path) -> None:
    for width, scheme in ((1280, "light"), (390, "dark")):
        browser.open(page, width=width, scheme=scheme)
        assert browser.requests == [page.as_uri()]
        assert browser.complaints == []


def test_nothing_overflows_a_phone_with_every_table_open(browser: Browser, page: Path) -> None:
    browser.open(page, width=390)
    browser.told("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.told("document.documentElement.scrollWidth") == 390
    overflowing = """[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, svg, pre')
        && e.getBoundingClientRect().right > 391).map(e => e.outerHTML.slice(0, 80))"""
    assert browser.told(overflowing) == []


def test_pictures_keep_their_size_on_a_phone(browser: Browser, page: Path) -> None:
    browser.open(page, width=390)
    widths = browser.told(
        "[...document.querySelectorAll('svg')].map(s => s.getBoundingClientRect().width / s.width.baseVal.value)"
    )
    assert widths
    assert min(widths) > 0.9, "text in pictures would be too small to read"


def test_light_and_dark_can_both_be_read(browser: Browser, page: Path) -> None:
    contrast = """(() => {
        const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => (v /= 255) <= .03928 ? v / 12.92
            : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
        const paper = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
            if (c !== 'rgba(0, 0, 0, 0)') return c; } };
        const ratio = e => { const a = light(getComputedStyle(e).color), b = light(paper(e));
            return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); };
        return Math.min(...[...document.querySelectorAll('main *:not(svg *), footer')].map(ratio)); })()"""
    papers = []
    for scheme in ("light", "dark"):
        browser.open(page, scheme=scheme)
        assert browser.told(contrast) >= 4.5
        papers.append(browser.told("getComputedStyle(document.documentElement).backgroundColor"))
    assert papers[0] != papers[1]


def test_hostile_text_runs_nothing(browser: Browser, folder, written_run, asked_items, tmp_path: Path) -> None:
    script = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"
    run = written_run(
        folder("hostile-browser"),
        items=asked_items(6),
        arms=[("direct", "grid")],
        mind=lambda asked: script if asked.rng.random() < 0.5 else 0,
        model=script,
    )
    path = write_page([run], tmp_path / "page.html")
    browser.open(path)
    assert browser.told("window.pwned === undefined")
    assert browser.told("document.querySelector('h1').textContent").startswith(script)
    assert browser.requests == [path.as_uri()]
    assert browser.complaints == []
