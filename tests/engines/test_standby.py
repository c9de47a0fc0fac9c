"""A standby meets what a driver that was killed left of an earlier one, and leaves nothing itself."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from streamgauge.engines.spark import standby
from streamgauge.engines.spark.live_segment import LiveSegment, Standby
from streamgauge.engines.spark.standby import BATCHES, COMPARED, Standbys, no_faster
from streamgauge.paradigms.paradigm import Paradigm
from tests.engines.fake_spark import FakeProgress, FakeQuery, commit_batch, segment


class Topics:
    """A log with an input, in which a topic cannot be made twice."""

    def __init__(self, *names: str) -> None:
        self.names = {"in", *names}
        self.made: list[str] = []

    def topics(self) -> set[str]:
        return set(self.names)

    def create_topic(self, name: str, partitions: int) -> None:
        assert name not in self.names
        self.made.append(name)
        self.names.add(name)

    def delete_topics(self, names: list[str]) -> None:
        self.names -= set(names)

    def end_offsets(self, topic: str) -> dict[int, int]:
        return {0: 1000}


@pytest.mark.parametrize("left", [False, True])
def test_a_segment_is_warmed_up_whatever_a_killed_driver_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: bool
) -> None:
    monkeypatch.setattr(standby, "_warmed", set())
    one = segment(tmp_path, [])
    checkpoint = Path(f"{one.checkpoint}-standby")
    log: Any = Topics(*(["out-standby"] if left else []))
    if left:
        commit_batch(checkpoint, 7)
    seen: list[list[Path]] = []

    def start(_: LiveSegment, where: Standby) -> Any:
        seen.append(sorted(Path(where.checkpoint).glob("*/*")))
        for number in range(BATCHES):
            commit_batch(Path(where.checkpoint), number)
        query = FakeQuery(Paradigm.OPERATION_STREAM, None, [])
        query.told = [
            FakeProgress(batchId=number, durationMs={"addBatch": 100, "triggerExecution": 150})
            for number in range(2 * COMPARED)
        ]
        return query

    standbys = Standbys(log, [one], ("wordcount",), start)
    standbys.begin()
    deadline = time.monotonic() + 5
    while standbys._thread.is_alive() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert seen == [[]], "it begins without a checkpoint"
    assert one.warm[Paradigm.OPERATION_STREAM]
    assert log.made == ([] if left else ["out-standby"])
    assert log.names == {"in"} and not checkpoint.exists()


def test_it_is_over_when_batches_get_no_faster() -> None:
    cold = [900.0, 500.0, *([300.0] * (COMPARED - 2))]
    assert not no_faster(cold + [290.0] * (COMPARED - 1)), "too few to compare"
    assert not no_faster(cold + [200.0] * COMPARED)
    assert no_faster(cold + [290.0] * COMPARED)
    assert no_faster([150.0] * 3 * COMPARED)
