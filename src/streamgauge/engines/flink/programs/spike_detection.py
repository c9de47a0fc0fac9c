"""Spike detection: each reading against the average of its device's last ones.

A device's readings lie in one partition, so that the order in which they arrive is that of their offsets.
"""

from __future__ import annotations

from streamgauge.engines.flink import origin
from streamgauge.engines.flink.names import double
from streamgauge.engines.flink.program import Program, Result


def moving_average(*, window: int) -> Result:
    """Each reading and the average over a frame of rows of its device, itself included."""
    thousandths = "CAST(FLOOR(temperature * 1000e0 + 0.5e0) AS BIGINT)"
    readings = f"SELECT moteid, {thousandths} AS thousandths, arrived, {origin.text()} AS origin FROM readings"
    return Result(
        "SELECT moteid, CAST(thousandths AS DOUBLE) / 1000e0 AS `value`,"
        " CAST(SUM(thousandths) OVER latest AS DOUBLE) / (CAST(COUNT(*) OVER latest AS DOUBLE) * 1000e0) AS average,"
        f" origin FROM ({readings}) WINDOW latest AS"
        f" (PARTITION BY moteid ORDER BY arrived ROWS BETWEEN {window - 1} PRECEDING AND CURRENT ROW)"
    )


def spikes(*, window: int, threshold: float) -> Result:
    """The readings that lie too far from the average."""
    averaged = moving_average(window=window).sql
    far = f"ABS(`value` - average) > {double(threshold)} * average"
    return Result(f"SELECT moteid, `value`, average, origin FROM ({averaged}) WHERE {far}")


PROGRAM = Program("spike-detection", {"moving_average": moving_average, "spikes": spikes})
