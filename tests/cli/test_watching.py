"""The page beside a run: a process of its own that goes last, says its address, and ends with the command."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from streamgauge.cli import watching
from streamgauge.cli.watching import NICENESS, NoPage, served
from streamgauge.model.errors import UserError
from tests.lab.listening import Remembering
from tests.waiting import until

SERVES = "import sys, time; print('http://127.0.0.1:7/#token=abc', sys.argv[1:], flush=True); time.sleep(60)"
CHATTERS = "print('http://127.0.0.1:7/', flush=True)\nwhile True: print('x' * 1000)"


def program(text: str) -> Sequence[str]:
    return (sys.executable, "-c", text)


def children() -> list[psutil.Process]:
    return [each for each in psutil.Process().children() if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]


def test_the_run_is_watched_at_its_own_address_and_the_server_goes_last(tmp_path: Path) -> None:
    before = {each.pid for each in children()}
    listener = Remembering()
    with served(tmp_path, program(SERVES)) as page:
        new = [each for each in children() if each.pid not in before]
        own = psutil.Process().nice()
        assert max(each.nice() for each in new) == max(NICENESS, own)
        telling = page.told_to(listener)
        telling.planned("20260101-000000-abcd", [])
        telling.note("starting Kafka")
    assert listener.run == "20260101-000000-abcd"
    assert listener.notes[0].startswith("watch it at http://127.0.0.1:7/runs/20260101-000000-abcd#token=abc")
    assert f"--out', '{tmp_path}'" in listener.notes[0] and listener.notes[1] == "starting Kafka"
    assert [each for each in children() if each.pid not in before] == [], "it has ended with the command"


@pytest.mark.parametrize(("text", "words"), [("print('error: taken')", "error: taken"), ("", "its process ended")])
def test_a_page_that_cannot_be_served_is_a_mistake_in_a_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UserError, match=words), served(tmp_path, program(text)):
        raise AssertionError("there is no page")


def test_what_a_server_says_later_never_stops_it(tmp_path: Path) -> None:
    with served(tmp_path, program(CHATTERS)) as page:
        child: Any = page._child  # type: ignore[attr-defined]
        time.sleep(0.3)
        used = psutil.Process(child.pid).cpu_times().user
        until(lambda: psutil.Process(child.pid).cpu_times().user > used)


def test_it_stays_only_before_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(tmp_path, program(SERVES)) as page:
        slept: list[float] = []

        def interrupt(seconds: float) -> None:
            slept.append(seconds)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(watching.time, "sleep", interrupt)
            page.stay()
            assert not slept, "stdout is no terminal here"
            patch.setattr(watching.sys.stdout, "isatty", lambda: True)
            page.stay()
            assert slept


def test_a_run_that_cannot_begin_takes_its_page_along(tmp_path: Path) -> None:
    before = {each.pid for each in children()}
    runs = tmp_path / "runs"
    arguments = ["run", "wordcount", "--watch", "--kafka", "127.0.0.1:1", "--out", str(runs)]
    ended = subprocess.run(
        [sys.executable, "-m", "streamgauge.cli", *arguments], capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 5 and "no Kafka answers at 127.0.0.1:1" in ended.stderr
    (told,) = [line for line in ended.stderr.splitlines() if line.startswith("watch it at http://127.0.0.1:")]
    assert "/runs/" in told and "#token=" in told
    assert [each for each in children() if each.pid not in before] == [] and list(runs.iterdir()) == []


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(300)
def test_a_real_run_is_served_while_it_runs_and_the_page_ends_with_it(tmp_path: Path) -> None:
    arguments = ["run", "identity", "--load", "constant:200/s", "--for", "6s", "--warmup", "2s", "--watch"]
    arguments += ["--settling", "8s"]
    with subprocess.Popen(
        [sys.executable, "-m", "streamgauge.cli", *arguments, "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        assert command.stderr is not None
        told = next(line for line in command.stderr if line.startswith("watch it at "))
        address = told.removeprefix("watch it at ").strip().partition("#")[0]
        drain = threading.Thread(target=command.stderr.read, daemon=True)
        drain.start()
        with urllib.request.urlopen(f"{address}/live", timeout=120) as stream:
            events = stream.read().decode()
        assert command.wait(60) in (0, 4)
    assert '"what":"sample"' in events and '"watched":true' in events
    assert 'event: end\ndata: {"status":"complete"}' in events
    with pytest.raises(OSError):
        urllib.request.urlopen(address, timeout=5)


def test_without_watch_nothing_is_started() -> None:
    listener = Remembering()
    with served(None) as page:
        assert isinstance(page, NoPage) and page.told_to(listener) is listener
        page.stay()
