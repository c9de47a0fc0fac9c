"""What it costs to be watched: throughput and processor time with a page open and without, in paired repeats."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import psutil

from bench.faults import EVENTS, MOST_PERCENT, lost_figure, percent
from bench.listening import Quiet, check_right
from bench.room import Figure, Room
from streamgauge.cli.watching import ServedPage, served
from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.measure.repeats import t_interval
from streamgauge.model import Trial

PAIRS = 8
LOOK_S = 5.0
Found = TypeVar("Found")


@dataclass
class Browser:
    """Reads the stream of a run as a page does, and throws it away."""

    address: str
    received: int = 0
    looked: int = 0
    """Samples for which the log was asked and the tail of the outputs read."""
    _gone: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Browser:
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._gone.set()
        self._thread.join()

    def _read(self) -> None:
        parts = urlsplit(self.address)
        with socket.create_connection((parts.hostname, parts.port), LOOK_S) as connection:
            connection.sendall(f"GET {parts.path}/live HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
            connection.settimeout(0.2)
            while not self._gone.is_set():
                with contextlib.suppress(TimeoutError):
                    found = connection.recv(65536)
                    if not found:
                        return
                    self.received += len(found)
                    self.looked += found.count(b'"watched":true')


@dataclass(frozen=True)
class Spent:
    """Processor time of the laboratory and its page, by the clock."""

    cpu_s: float
    at_s: float

    @classmethod
    def by(cls, pids: Sequence[int]) -> Spent:
        """What these processes have used until now, each with all its threads."""
        times = [psutil.Process(pid).cpu_times() for pid in pids]
        return cls(sum(each.user + each.system for each in times), time.monotonic())

    def share_since(self, began: Spent, cores: int) -> float:
        """The share of the machine that was used since."""
        return (self.cpu_s - began.cpu_s) / (cores * (self.at_s - began.at_s))


class EveryOther(Quiet):
    """Opens a page for one trial of every pair; a wrong answer, or a page that was told nothing, ends it."""

    def __init__(self, page: ServedPage) -> None:
        self._page, self._run = page, ""
        self._browser: Browser | None = None
        self._phases: dict[str, Spent] = {}
        self.found: list[dict[str, Any]] = []
        self.shares: list[float] = []
        """Of the machine, used by laboratory and page while each trial was measured."""

    def planned(self, run: str, trials: list[Trial]) -> None:
        """Remember which run is shown."""
        self._run = run

    def phase(self, number: int, trial: Trial, phase: str, done: float, total: float) -> None:
        """Watch a trial from its beginning, where it is its turn."""
        if is_watched(number) and self._browser is None:
            self._browser = Browser(self._page.address_of(self._run).partition("#")[0])
            self._browser.__enter__()
        if phase not in self._phases:
            self._phases[phase] = Spent.by([os.getpid(), self._page.pid])

    def finished(self, number: int, trial: Trial, record: dict[str, Any]) -> None:
        """Keep the record, and close the page."""
        check_right(trial, record)
        looked = 0
        if self._browser is not None:
            self._browser.__exit__()
            looked, self._browser = self._browser.looked, None
            if not looked:
                raise RuntimeError("the page was shown nothing of the log: what was measured is not watching")
        self.found.append(record)
        self.shares.append(self._phases["verifying"].share_since(self._phases["measuring"], os.cpu_count() or 1))
        self._phases.clear()
        words = f"watched ({looked} looks)" if looked else "unwatched"
        print(f"  {words}: {record['throughput']['events_per_s']:,.0f}/s, {self.shares[-1]:.2%} used", flush=True)


def watching(room: Room) -> None:
    """The cost of a page that is open, as a share of the throughput without one."""
    request = RunRequest(
        applications=("wordcount",),
        load="preloaded",
        events=EVENTS,
        repeat=2 * PAIRS,
        kafka=room.cluster.bootstrap,
        out=Path(room.folder / "runs"),
    )
    with _page(request.out) as page:
        listener = EveryOther(page)
        conduct_run(request, listener)
    room.figures += [watched_figure(listener.found), looking_figure(listener.shares)]


@contextlib.contextmanager
def _page(runs: Path) -> Iterator[ServedPage]:
    """A server as `--watch` starts it, over both kinds of trials: only whether somebody looks differs."""
    with served(runs) as page:
        assert isinstance(page, ServedPage)
        yield page


def is_watched(number: int) -> bool:
    """Whether the trial of that number, from 1, is watched: in every pair one is, now the second, now the first.

    A process grows warmer from trial to trial; with one order alone that would be taken for the cost.
    """
    pair, place = divmod(number - 1, 2)
    return (pair + place) % 2 == 1


def watched_figure(records: Sequence[dict[str, Any]]) -> Figure:
    """Throughput lost while a page watches, of records in the order of their trials."""
    return lost_figure("while a page watches", *_by_watching(records))


def looking_figure(shares: Sequence[float]) -> Figure:
    """Processor time that watching adds: on a full machine no more throughput than that is lost, and it varies less."""
    pairs = list(zip(*_by_watching(shares), strict=True))
    cost = t_interval([100 * (watched - without) for without, watched in pairs])
    return Figure(
        what="the same drains: processor time of laboratory and page added while a page watches, of the machine",
        seen=percent(cost),
        goal=f"≤ {MOST_PERCENT:g} %",
        reached=cost.mean <= MOST_PERCENT,
        raw="; ".join(f"{without:.2%} → {watched:.2%}" for without, watched in pairs),
    )


def _by_watching(found: Sequence[Found]) -> tuple[list[Found], list[Found]]:
    """What was found without a page and with one, of trials in their order."""
    numbered = list(enumerate(found, 1))
    return [each for n, each in numbered if not is_watched(n)], [each for n, each in numbered if is_watched(n)]
