"""The sampler on real processes: what it counts, and that an end is no error."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from streamgauge.watch.cadence import Cadence
from streamgauge.watch.network import NetworkMeter
from streamgauge.watch.sampler import SCHEMA, Sampler
from tests.waiting import until


def network_is_measured() -> bool:
    meter = NetworkMeter()
    meter.add("me", [os.getpid()])
    measured = bool(meter.read({"me": [os.getpid()]}))
    meter.close()
    return measured


def test_components_are_sampled_apart(actor: Callable[[], Any]) -> None:
    busy, idle = actor(), actor()
    busy("used"), idle("used")
    sampler = Sampler({"busy": busy.pid, "idle": idle.pid}, interval_s=0.05)
    sampler.start()
    busy("burn", 0.4)
    until(lambda: sampler.latest().keys() == {"busy", "idle"})
    table = sampler.stop()
    assert table.schema == SCHEMA
    rows = table.to_pylist()
    cores = {name: [r["cpu_cores"] for r in rows if r["component"] == name] for name in ("busy", "idle")}
    assert max(cores["busy"]) > 0
    assert sum(cores["idle"]) < sum(cores["busy"])
    assert all(r["rss_bytes"] > 1 << 20 for r in rows)
    assert all(r["heap_used_bytes"] is None and r["gc_count"] is None for r in rows)
    assert table["at_ms"].to_pylist() == sorted(table["at_ms"].to_pylist())
    assert sampler.own_cost_s > 0


def test_cpu_over_all_samples_is_what_the_process_used(actor: Callable[[], Any]) -> None:
    busy = actor()
    before_s = busy("used")
    sampler = Sampler({"busy": busy.pid}, interval_s=0.1)
    sampler.start()
    until(lambda: "busy" in sampler.latest())
    busy("burn", 0.5)
    ended_at_ms = time.time() * 1000
    until(lambda: sampler.latest()["busy"].at_ms > ended_at_ms)
    rows = sampler.stop().to_pylist()
    total_s = sum(b["cpu_cores"] * (b["at_ms"] - a["at_ms"]) / 1000 for a, b in pairwise(rows))
    assert total_s == pytest.approx(busy("used") - before_s, abs=0.06)


def test_an_end_is_no_error_and_a_removed_component_is_no_more_sampled(actor: Callable[[], Any]) -> None:
    ends, removed, stays = actor(), actor(), actor()
    sampler = Sampler({"ends": ends.pid, "removed": removed.pid}, interval_s=0.02)
    sampler.start()
    until(lambda: sampler.latest().keys() == {"ends", "removed"})
    ends.end()
    sampler.remove("removed")
    sampler.remove("unheard of")
    sampler.add("stays", stays.pid)
    until(lambda: sampler.latest().keys() == {"stays"})
    table = sampler.stop()
    assert set(table["component"].to_pylist()) == {"ends", "removed", "stays"}
    assert sampler.stop().equals(table)


@pytest.mark.skipif(not network_is_measured(), reason="bytes per process are not measured here")
def test_a_restarted_component_continues_its_totals(actor: Callable[[], Any]) -> None:
    server, first, second = actor(), actor(), actor()
    port = server("listen", "127.0.0.1")
    sampler = Sampler({"job": first.pid}, interval_s=0.02)
    sampler.start()
    for number, job in enumerate((first, second)):
        if job is second:
            sampler.remove("job")
            sampler.add("job", second.pid)
        job("connect", "127.0.0.1", port)
        server("accept")
        job("send", 0, 30_000)
        server("receive", number, 30_000)
        sent = 30_000 * (number + 1)
        until(lambda sent=sent: "job" in sampler.latest() and (sampler.latest()["job"].tx_bytes or 0) >= sent)
    totals = sampler.stop()["tx_bytes"].to_pylist()
    assert totals == sorted(totals)
    assert totals[-1] == pytest.approx(60_000, abs=4)


def test_a_jvm_below_a_python_process_is_found(actor: Callable[[], Any], java: list[str]) -> None:
    job = actor()
    sampler = Sampler({"job": job.pid}, interval_s=0.05)
    sampler.start()
    job("run", *java)
    collected_at_ms = time.time() * 1000
    until(lambda: "job" in sampler.latest() and sampler.latest()["job"].at_ms > collected_at_ms)
    latest = sampler.latest()["job"]
    job("end", 0)
    until(lambda: "job" in sampler.latest() and sampler.latest()["job"].heap_used_bytes is None)
    sampler.stop()
    assert latest.heap_max_bytes is not None
    assert latest.heap_used_bytes is not None
    assert 8 << 20 <= latest.heap_used_bytes <= latest.heap_max_bytes
    assert latest.gc_count is not None
    assert latest.gc_count >= 1
    assert latest.gc_ms is not None
    assert latest.gc_ms > 0


def test_a_failure_in_the_thread_is_raised_at_stop_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = Sampler({}, interval_s=0.01)
    monkeypatch.setattr(sampler, "_sample", lambda: 1 / 0)
    sampler.start()
    until(lambda: sampler._cadence.failure is not None)
    with pytest.raises(ZeroDivisionError):
        sampler.stop()


def test_a_cadence_that_was_never_started_can_be_stopped() -> None:
    Cadence(lambda: None, 1.0, "idle").stop()
