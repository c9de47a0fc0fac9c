"""The line of `make bench` on watching: pairs in both orders, and only what is shown is held against us."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from bench.run import MEASUREMENTS
from bench.watching import Browser, Spent, is_watched, looking_figure, watched_figure, watching

from tests.dashboard.serving import Served
from tests.dashboard.test_live import GrowingRun


def records(*per_s: float) -> list[dict[str, Any]]:
    return [{"throughput": {"events_per_s": rate}} for rate in per_s]


def test_of_every_pair_one_is_watched_and_the_order_changes() -> None:
    assert [is_watched(number) for number in range(1, 9)] == [False, True, True, False, False, True, True, False]
    assert MEASUREMENTS["watching"] is watching


def test_a_process_that_grows_warmer_is_no_cost_of_watching() -> None:
    line = watched_figure(records(100_000, 101_000, 102_000, 103_000))
    assert line.raw == "100 → 101 k/s; 103 → 102 k/s" and line.reached


def test_a_cost_that_is_shown_is_told() -> None:
    line = watched_figure(records(100_000, 96_900, 97_000, 100_000, 100_000, 97_100))
    assert not line.reached and line.seen.startswith("+3.00 ± 0.25")
    assert line.what.endswith("throughput lost while a page watches")


def test_processor_time_is_compared_pair_by_pair() -> None:
    line = looking_figure([0.010, 0.014, 0.016, 0.010, 0.020, 0.025])
    assert line.raw == "1.00% → 1.40%; 1.00% → 1.60%; 2.00% → 2.50%"
    assert line.reached and line.seen.startswith("+0.50 ±")
    assert not looking_figure([0.010, 0.021, 0.021, 0.010]).reached


def test_the_share_of_the_machine_is_that_of_all_its_cores() -> None:
    assert Spent(3.0, 20.0).share_since(Spent(2.0, 10.0), cores=2) == 0.05
    assert Spent.by([os.getpid()]).cpu_s > 0


def test_the_browser_of_the_bench_really_watches(tmp_path: Path) -> None:
    run = GrowingRun(tmp_path)
    run.begin()
    page = Served(tmp_path)
    try:
        with Browser(f"{page.address}runs/{run.writer.id}") as browser:
            deadline = time.monotonic() + 10
            while browser.looked < 3 and time.monotonic() < deadline:
                run.sample()
                time.sleep(0.1)
            assert run.live.watched()
        assert browser.looked >= 3 and browser.received > 300
    finally:
        page.close()
