"""A headless Chromium, spoken to through pipes; for tests of pages."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]
PATIENCE = 60
CODES = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39}


class Browser:
    """One page of a browser. Its complaints are in `complaints`; the addresses it asks for, in `requests`."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._buffer = b""
        self._last = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                return answer["result"]

    def open(
        self, path: Path, width: int = 1200, height: int = 900, scheme: str = "light", script: bool = True
    ) -> None:
        self.complaints.clear()
        self.requests.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=path.as_uri())
        until = time.monotonic() + PATIENCE
        while self("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < until, f"{path} does not load"
            time.sleep(0.02)

    def __call__(self, expression: str) -> Any:
        """Return the value of an expression on the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, *keys: str) -> None:
        for key in keys:
            text = key if len(key) == 1 else {"Enter": "\r"}.get(key, "")
            code = CODES.get(key, 0)
            self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            assert select.select([self._read], [], [], PATIENCE)[0], "the browser says nothing"
            received = os.read(self._read, 1 << 16)
            assert received, "the browser is gone"
            self._buffer += received
        message, _, self._buffer = self._buffer.partition(b"\0")
        event: dict[str, Any] = json.loads(message)
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(parameters["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        return event


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A fresh browser; the test is skipped where none is installed."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip(f"no browser is installed: none of {', '.join(NAMES)}")
    theirs, write = os.pipe()
    read, back = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # The browser reads from descriptor 3 and writes to 4.
        redirected = f'exec "$0" "$@" 3</dev/fd/{theirs} 4>/dev/fd/{back}'
        process = subprocess.Popen(
            ["sh", "-c", redirected, program, *FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(theirs, back),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(back)
        try:
            yield Browser(write, read)
        finally:
            os.close(write)
            os.close(read)
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def findings_of_axe(browser: Browser) -> list[str]:
    """Return what axe finds on the open page: rules of accessibility that it breaks, with the first element of each."""
    script = os.environ.get("TOKDFA_AXE")
    if not script:
        pytest.skip("TOKDFA_AXE is unset: it names axe.min.js")
    browser(Path(script).read_text(encoding="utf-8") + "; 0")
    found: list[str] = browser(
        "axe.run().then((r) => r.violations.map((v) => v.id + ' ' + v.nodes[0].html.slice(0, 80)))"
    )
    return found
