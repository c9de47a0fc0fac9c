"""Traffic flow, which can end after any stage: an interval join, then sums per second, then changes over three seconds.

The join is over the observed minute, which both topics carry: an event waits for its other half for seven days of that
time. Sums per second are a group that answers every pair. The changes come from windows of three seconds that slide by
one: each pair enters three of them, and an aggregate over all rows of a window so far answers, without taking back.
"""

from __future__ import annotations

from streamgauge.engines.flink import origin
from streamgauge.engines.flink.names import divided
from streamgauge.engines.flink.program import EventTime, Program, Result
from streamgauge.engines.flink.wire import RAW

_OBSERVED = EventTime("observed_at", "INTERVAL '7' DAY")


def _copies(view: str, spatial_scale: int) -> str:
    """SQL: the view with `scaled_id` and `copy`: scaled, each event stands for as many points, told apart by name."""
    if spatial_scale == 1:
        named = "" if view.endswith(RAW) else ", measurement_id AS scaled_id"
        return f"SELECT *, 0 AS `copy`{named} FROM {view}"
    # A constant array would be joined as a table of its own, in one task: this one is made of the event.
    numbers = ", ".join(f"in_offset + {copy}" for copy in range(spatial_scale))
    copies = (
        f"SELECT *, CAST(numbered - in_offset AS INT) AS `copy`"
        f" FROM {view} CROSS JOIN UNNEST(ARRAY[{numbers}]) AS copies (numbered)"
    )
    if view.endswith(RAW):
        return copies
    named = "CASE WHEN `copy` = 0 THEN measurement_id ELSE CAST(`copy` AS STRING) || '/' || measurement_id END"
    return f"SELECT *, {named} AS scaled_id FROM ({copies})"


def _origin() -> str:
    return origin.text(f"(part_no * {origin.ORDINAL_STRIDE} + `copy`)")


def ingest(*, spatial_scale: int) -> Result:
    """The payloads of both topics."""
    halves = (
        f"SELECT `raw` AS payload, {_origin()} AS origin FROM ({_copies(f'{each}{RAW}', spatial_scale)})"
        for each in ("counts", "speeds")
    )
    return Result(" UNION ALL ".join(halves))


def parse(*, spatial_scale: int) -> Result:
    """The fields that are computed with: a flow or a speed, and what it was measured of."""
    fields = "scaled_id AS measurement_id, lane, observed_at"
    counts = f"SELECT {fields}, flow, CAST(NULL AS DOUBLE) AS speed, {_origin()} AS origin"
    speeds = f"SELECT {fields}, CAST(NULL AS BIGINT) AS flow, speed, {_origin()} AS origin"
    return Result(
        f"{counts} FROM ({_copies('counts', spatial_scale)})"
        f" UNION ALL {speeds} FROM ({_copies('speeds', spatial_scale)})"
    )


def _pairs(spatial_scale: int, columns: str) -> str:
    """SQL: each flow `c` with the speed `s` of the same instant, point and lane."""
    return (
        f"SELECT {columns} FROM ({_copies('counts', spatial_scale)}) AS c"
        f" JOIN ({_copies('speeds', spatial_scale)}) AS s"
        " ON c.scaled_id = s.scaled_id AND c.lane = s.lane AND c.event_time = s.event_time"
    )


def _of_the_later(column: str) -> str:
    """SQL: a column of the later event of a pair; of a tie, of the speed."""
    return f"CASE WHEN s.append_ms >= c.append_ms THEN s.{column} ELSE c.{column} END"


def join(*, spatial_scale: int) -> Result:
    """Both sides of each pair, when the second has come."""
    places = ", ".join(f"{_of_the_later(each)} AS {each}" for each in ("append_ms", "in_partition", "in_offset"))
    columns = f"s.scaled_id AS measurement_id, s.lane AS lane, s.observed_at AS observed_at, c.flow, s.speed, {places}"
    pairs = _pairs(spatial_scale, f"{columns}, s.`copy` AS part_no")
    return Result(f"SELECT measurement_id, lane, observed_at, flow, speed, {origin.text()} AS origin FROM ({pairs})")


def _of_seconds(spatial_scale: int) -> str:
    """SQL: each pair as its point, the second of the later event, the flow and the speed in whole hundredths."""
    second = f"{_of_the_later('append_ms')} AS append_ms"
    place = f"{_of_the_later(origin.PLACE)} AS {origin.PLACE}"
    arrived = "PROCTIME() AS paired"
    hundredths = "CAST(FLOOR(s.speed * 100e0 + 0.5e0) AS BIGINT) AS hundredths"
    columns = f"s.scaled_id AS measurement_id, {second}, {place}, {arrived}, c.flow AS flow, {hundredths}"
    return (
        f"SELECT measurement_id, {divided('append_ms - MOD(append_ms, 1000)', 1000)} AS at_second, flow, hundredths,"
        f" paired, {origin.PLACE} FROM ({_pairs(spatial_scale, columns)})"
    )


def tumbling(*, spatial_scale: int) -> Result:
    """Sums per point and second."""
    sums = (
        "SELECT measurement_id, at_second, SUM(flow) AS flow, COUNT(*) AS lanes, SUM(hundredths) AS speed_sum,"
        f" {origin.LATEST} FROM ({_of_seconds(spatial_scale)}) GROUP BY measurement_id, at_second"
    )
    return Result(
        "SELECT measurement_id, at_second AS `second`, flow, lanes, speed_sum,"
        f" CAST(speed_sum AS DOUBLE) / (CAST(lanes AS DOUBLE) * 100e0) AS mean_speed, latest FROM ({sums})",
        updates=True,
    )


def sliding(*, spatial_scale: int) -> Result:
    """Relative changes against one and two seconds before, for every second that has a pair."""
    aged = (
        "SELECT measurement_id, last_second, last_second - at_second AS age, flow, hundredths, paired,"
        f" {origin.PLACE} FROM ({_of_seconds(spatial_scale)})"
        " CROSS JOIN UNNEST(ARRAY[at_second, at_second + 1, at_second + 2]) AS seconds (last_second)"
    )
    sums = ", ".join(
        f"SUM(CASE WHEN age = {age} THEN flow END) OVER seen AS flow_{age},"
        f" SUM(CASE WHEN age = {age} THEN hundredths END) OVER seen AS speed_sum_{age},"
        f" COUNT(CASE WHEN age = {age} THEN 1 END) OVER seen AS lanes_{age}"
        for age in (0, 1, 2)
    )
    seen = (
        f"SELECT measurement_id, last_second, {sums}, MAX({origin.PLACE}) OVER seen AS latest FROM ({aged})"
        " WINDOW seen AS (PARTITION BY measurement_id, last_second ORDER BY paired"
        " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    )
    known = ", ".join(
        f"CAST(flow_{age} AS DOUBLE) AS flow_{age}d,"
        f" CAST(speed_sum_{age} AS DOUBLE) / (CAST(NULLIF(lanes_{age}, 0) AS DOUBLE) * 100e0) AS mean_{age}"
        for age in (0, 1, 2)
    )
    figures = f"SELECT measurement_id, last_second, flow_0, {known}, latest FROM ({seen}) WHERE lanes_0 > 0"
    return Result(
        "SELECT measurement_id, last_second AS `second`, flow_0 AS flow, mean_0 AS mean_speed,"
        f" {_change('flow_0d', 'flow_1d')} AS flow_change_2s, {_change('flow_0d', 'flow_2d')} AS flow_change_3s,"
        f" {_change('mean_0', 'mean_1')} AS speed_change_2s, {_change('mean_0', 'mean_2')} AS speed_change_3s,"
        f" latest FROM ({figures})"
    )


def _change(now: str, before: str) -> str:
    return f"({now} - {before}) / NULLIF({before}, 0e0)"


PROGRAM = Program(
    "traffic-flow",
    {"ingest": ingest, "parse": parse, "join": join, "tumbling": tumbling, "sliding": sliding},
    event_times={"counts": _OBSERVED, "speeds": _OBSERVED},
)
