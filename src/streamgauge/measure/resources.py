"""What broker, publisher and job used while the measured events ran: CPU, memory, network, heap and GC."""

from __future__ import annotations

from typing import Any

import duckdb

from streamgauge.store.tables import Table, attach, detach

COMPONENTS = ("broker", "publisher", "job")


def summarise_resources(
    connection: duckdb.DuckDBPyConnection, samples: Table, start_ms: int, end_ms: int, job_cores: int
) -> dict[str, dict[str, Any]]:
    """Figures per component over samples with start_ms ≤ at_ms ≤ end_ms; the job's CPU also as a share of its cores.

    Samples: at_ms, component, cpu_cores, rss_bytes, rx_bytes, tx_bytes, heap_used_bytes, heap_max_bytes, gc_count,
    gc_ms. Network and GC are running totals; where one falls, the process was restarted and counts from 0.
    """
    attach(connection, "resource_sample", samples)
    cursor = connection.execute(_SUMMARY, {"start_ms": start_ms, "end_ms": end_ms})
    names = [column[0] for column in cursor.description or []]
    rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    detach(connection, "resource_sample")
    found: dict[str, dict[str, Any]] = {name: {"samples": 0} for name in COMPONENTS}
    for row in rows:
        found[row.pop("component")] = row
    job = found["job"]
    mean = job.get("cpu_cores_mean")
    job["cores"] = job_cores
    job["cpu_share"] = mean / job_cores if mean is not None and job_cores > 0 else None
    low, high = job.get("cpu_cores_p5"), job.get("cpu_cores_p95")
    job["cpu_spread"] = (high - low) / job_cores if low is not None and job_cores > 0 else None
    return found


def cpu_s_per_million(job: dict[str, Any], events_per_s: float | None) -> float | None:
    """CPU seconds of the job for a million events at the rate that it kept."""
    cores = job.get("cpu_cores_mean")
    return cores * 1e6 / events_per_s if cores is not None and events_per_s else None


def _growth(column: str) -> str:
    grown = f"case when {column} >= last_{column} then {column} - last_{column} else {column} end"
    return f"sum({grown}) filter (last_{column} is not null)"


_TOTALS = ("rx_bytes", "tx_bytes", "gc_count", "gc_ms")

_SUMMARY = f"""
    with sample as (
        select *, {", ".join(f"lag({name}) over in_time as last_{name}" for name in _TOTALS)}
        from resource_sample where at_ms between $start_ms and $end_ms
        window in_time as (partition by component order by at_ms)
    )
    select component, count(*) as samples,
           avg(cpu_cores) as cpu_cores_mean, max(cpu_cores) as cpu_cores_max,
           quantile_disc(cpu_cores, 0.05) as cpu_cores_p5, quantile_disc(cpu_cores, 0.95) as cpu_cores_p95,
           avg(rss_bytes) as rss_bytes_mean, max(rss_bytes) as rss_bytes_max,
           {_growth("rx_bytes")} * 1000 / nullif(max(at_ms) - min(at_ms), 0) as rx_bytes_per_s,
           {_growth("tx_bytes")} * 1000 / nullif(max(at_ms) - min(at_ms), 0) as tx_bytes_per_s,
           min(heap_used_bytes) as heap_used_bytes_min, avg(heap_used_bytes) as heap_used_bytes_mean,
           max(heap_used_bytes) as heap_used_bytes_max, max(heap_max_bytes) as heap_max_bytes,
           ({_growth("gc_count")})::bigint as gc_count, ({_growth("gc_ms")})::bigint as gc_ms
    from sample group by component order by component
"""
