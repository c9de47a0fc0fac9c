"""Resource samples summed up over the measured window."""

import pyarrow as pa
import pytest

from streamgauge.measure.resources import summarise_resources

NAMES = ("cpu_cores", "rss_bytes", "rx_bytes", "tx_bytes", "heap_used_bytes", "heap_max_bytes", "gc_count", "gc_ms")
TYPES = {name: pa.int64() for name in NAMES} | {"cpu_cores": pa.float64(), "gc_ms": pa.float64()}


def samples_of(rows: list[tuple]) -> pa.Table:
    columns = {"at_ms": [r[0] for r in rows], "component": [r[1] for r in rows]}
    table = pa.table(columns)
    for at, name in enumerate(NAMES, 2):
        table = table.append_column(name, pa.array([r[at] for r in rows], TYPES[name]))
    return table


def test_figures_are_of_the_window_and_totals_are_differences(connection) -> None:
    samples = samples_of(
        [
            (500, "job", 9.0, 900, 0, 0, 900, 1000, 0, 0.0),
            (1000, "job", 1.0, 100, 1_000, 50, 10, 1000, 4, 40.0),
            (2000, "job", 2.0, 300, 3_000, 70, 30, 1000, 6, 70.0),
            (3000, "job", 1.5, 200, 5_000, 90, 20, 1000, 7, 75.0),
            (2000, "broker", 0.5, 50, None, None, None, None, None, None),
        ]
    )
    found = summarise_resources(connection, samples, 1000, 3000, job_cores=2)
    job = found["job"]
    assert (job["cpu_cores_mean"], job["cpu_cores_max"], job["cpu_share"]) == (1.5, 2.0, 0.75)
    assert (job["cpu_cores_p5"], job["cpu_cores_p95"], job["cpu_spread"]) == (1.0, 2.0, 0.5)
    assert (job["rss_bytes_mean"], job["rss_bytes_max"]) == (200, 300)
    assert (job["rx_bytes_per_s"], job["tx_bytes_per_s"]) == (2_000, 20)
    assert (job["heap_used_bytes_min"], job["heap_used_bytes_mean"], job["heap_used_bytes_max"]) == (10, 20, 30)
    assert (job["gc_count"], job["gc_ms"], job["samples"]) == (3, 35, 3)
    assert found["broker"]["cpu_cores_mean"] == 0.5
    assert found["broker"]["rx_bytes_per_s"] is None
    assert found["publisher"] == {"samples": 0}


def test_a_restarted_process_counts_from_nothing(connection) -> None:
    rows = [(t * 1000, "job", 1.0, 1, rx, 0, 1, 1, 0, 0.0) for t, rx in enumerate([100, 300, 50, 150])]
    found = summarise_resources(connection, samples_of(rows), 0, 3000, job_cores=1)
    assert found["job"]["rx_bytes_per_s"] == pytest.approx((200 + 50 + 100) / 3)
