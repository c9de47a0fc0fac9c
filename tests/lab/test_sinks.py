"""Results in a store beside the log: written there, read back from there, judged, and cleaned away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import redis

from streamgauge.lab.planning import plan
from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.log.broker import EmbeddedBroker
from streamgauge.model import LogError, UserError
from tests.lab.listening import Remembering

REQUEST = RunRequest(applications=("ad-analytics",), load="preloaded", events=4_000, warmup_s=0, timeout_s=120)


class Peeking(Remembering):
    """Looks into Redis while the trial's results are still there."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        self.names: set[str] = set()

    def phase(self, number: int, trial: Any, phase: str, done: float, total: float) -> None:
        """Remember the names of what is there."""
        with redis.Redis.from_url(self._url, decode_responses=True) as client:
            self.names |= set(client.scan_iter("*"))


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(300)
def test_results_go_to_redis_and_the_verdict_comes_from_there(
    broker: EmbeddedBroker, redis_url: str, tmp_path: Path
) -> None:
    listener = Peeking(redis_url)
    conduct_run(replace(REQUEST, sink=redis_url, kafka=broker.bootstrap, out=tmp_path), listener)
    (record,) = listener.records
    assert record["status"] == "done", record["error"]
    assert record["verdict"]["correct"], record["verdict"]
    assert record["verdict"]["seen"] >= record["verdict"]["expected"] > 0
    hashes = [name for name in listener.names if name.count(":") >= 2]
    assert len(hashes) >= record["verdict"]["expected"]
    with redis.Redis.from_url(redis_url) as client:
        assert not client.keys("streamgauge-*")


def test_an_engine_without_batches_has_a_gap_for_a_store(
    redis_url: str, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    listener = Remembering()
    engines = ("spark-realtime", "spark-continuous")
    request = replace(REQUEST, engines=engines, sink=redis_url, kafka=broker.bootstrap, out=tmp_path)
    conduct_run(replace(request, applications=("identity",)), listener)
    assert [r["gap"]["reason"] for r in listener.records] == [
        f"{engine} writes to the log alone: a store is written batch by batch" for engine in engines
    ]


def test_a_store_that_is_none_is_named_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'mysql' is no store that results can be written to"):
        plan(replace(REQUEST, sink="mysql://localhost/db"))
    with pytest.raises(LogError, match=r"no Redis answers at redis://127\.0\.0\.1:1"):
        conduct_run(replace(REQUEST, sink="redis://127.0.0.1:1", out=tmp_path), Remembering())
    assert not list(tmp_path.iterdir())
