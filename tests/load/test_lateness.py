"""Lateness is counted exactly, in any order of blocks, and decides whether the schedule was kept."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.load import lateness
from streamgauge.load.lateness import LatenessCounts
from streamgauge.load.process import lateness_in, progress_in

events = st.lists(st.tuples(st.integers(0, 10**11), st.integers(0, 10**10)), min_size=1, max_size=60)


def _counted(pairs: list[tuple[int, int]], block: int) -> LatenessCounts:
    counts = LatenessCounts()
    for start in range(0, len(pairs), block):
        part = np.array(pairs[start : start + block], dtype=np.int64)
        counts.add(part[:, 0], part[:, 0] + part[:, 1])
    return counts


@given(events, st.integers(1, 60), st.sampled_from([0.5, 0.9, 0.99, 1.0]))
@settings(deadline=None)
def test_counts_and_quantiles_are_exact(pairs: list[tuple[int, int]], block: int, share: float) -> None:
    counts = _counted(pairs, block)
    expected = Counter((due // 10**9, late // 10**6) for due, late in pairs)
    assert {(r["second"], r["lateness_ms"]): r["count"] for r in counts.table().to_pylist()} == expected
    late_ms = sorted(late // 10**6 for _, late in pairs)
    rank = int(np.ceil(share * len(pairs) - 1e-9))
    assert counts.quantile_ms(share) == late_ms[rank - 1]
    assert np.isclose(counts.mean_ms, np.mean([late for _, late in pairs]) / 1e6)
    assert counts.max_ms == max(late for _, late in pairs) / 1e6


def test_merging_changes_nothing() -> None:
    pairs = [(k * 10**7, k % 5 * 10**6) for k in range(1000)]
    assert _counted(pairs, 1).table().equals(_counted(pairs, 1000).table())


def test_falling_behind_is_told() -> None:
    punctual = _counted([(k * 10**6, 10**5) for k in range(1000)], 100)
    assert punctual.kept_up()[0]
    often_late = _counted([(k * 10**6, 60 * 10**6 if k > 900 else 0) for k in range(1000)] + [(10**9, 0)], 100)
    assert not often_late.kept_up()[0]
    late_at_the_end = _counted([(k * 10**6, 0) for k in range(1000)] + [(10**9, 101 * 10**6)], 100)
    kept, reason = late_at_the_end.kept_up()
    assert not kept and "the last event 101 ms late" in reason and str(lateness.LARGEST_P99_MS) in reason


def test_the_counts_are_written_as_parquet(tmp_path: Path) -> None:
    _counted([(0, 0), (0, 10**6), (10**9, 0)], 2).write(tmp_path / "new" / "lateness.parquet")
    assert pq.read_table(tmp_path / "new" / "lateness.parquet").to_pylist() == [
        {"second": 0, "lateness_ms": 0, "count": 1},
        {"second": 0, "lateness_ms": 1, "count": 1},
        {"second": 1, "lateness_ms": 0, "count": 1},
    ]


def test_nothing_sent_is_no_lateness(tmp_path: Path) -> None:
    counts = LatenessCounts()
    counts.write(tmp_path / "none.parquet")
    assert pq.read_table(tmp_path / "none.parquet").num_rows == 0
    assert counts.quantile_ms(0.99) == 0 and counts.mean_ms == 0


def test_the_warm_up_is_counted_but_not_judged() -> None:
    counts = LatenessCounts(judged_from_s=2)
    due = np.array([1_000_000_000, 2_000_000_000, 3_000_000_000], dtype=np.int64)
    counts.add(due, due + np.array([900_000_000, 4_000_000, 6_000_000]))
    assert len(counts.table()) == 3
    assert (counts.events, counts.mean_ms, counts.max_ms, counts.quantile_ms(0.99)) == (2, 5.0, 6.0, 6)
    assert counts.kept_up()[0]


def test_the_newest_lateness_is_told_with_the_progress(tmp_path: Path) -> None:
    path = tmp_path / "publishing.json"
    assert lateness_in(None) == 0.0 and lateness_in(str(path)) == 0.0
    path.write_text('{"published": 5, "elapsed_s": 1.5, "start_ns": 1, "late_ms": 12.5}')
    assert lateness_in(str(path)) == 12.5 and progress_in(str(path)) == (5, 1.5)
