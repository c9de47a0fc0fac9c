"""What event latency is made of (DO7): outside wait, batch wait, scheduling, processing and transmission."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from streamgauge.measure.answering import Answered
from streamgauge.measure.figures import COMPONENTS
from streamgauge.measure.window import Window
from streamgauge.store.tables import attach, detach, one_row, text_literal

FEWEST_COVERED = 0.9
"""Of fewer samples than this share in known batches nothing is said."""
ADDS_UP_WITHIN = 0.1
JITTER_MS = 5
"""Where even the fastest output of a second took longer than the fastest of all by more than this, events queued."""


@dataclass(frozen=True)
class Components:
    """Means in milliseconds, and the mean event latency that they should add up to."""

    outside: float
    batch_wait: float
    scheduling: float
    processing: float
    transmission: float
    latency: float
    covered: float
    """Share of the samples whose batch is known."""

    @property
    def sum(self) -> float:
        """What the components add up to."""
        return float(sum(getattr(self, name) for name in COMPONENTS))

    @property
    def adds_up(self) -> bool:
        """Whether the sum is the measured latency, within a tenth of it or 1 ms, the log's step."""
        return abs(self.sum - self.latency) <= max(ADDS_UP_WITHIN * self.latency, 1.0)

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values, times in milliseconds."""
        known = {f"{k}_ms" if k != "covered" else k: v for k, v in asdict(self).items()}
        return {**known, "sum_ms": self.sum, "adds_up": self.adds_up}


@dataclass(frozen=True)
class _Part:
    """Sums over the samples of one answer."""

    samples: int
    covered: int
    latency: float
    waits: tuple[float, float, float]
    """Outside wait, batch wait and scheduling, summed over the covered samples."""
    inside: float
    """Mean time from when rows were computed, or the event came, to the append of an output."""
    queued: float
    """What of it was queueing, where the query takes events as they come."""


def measure_components(
    connection: duckdb.DuckDBPyConnection,
    answered: Sequence[Answered],
    batches: pa.Table,
    window: Window,
    round_trip_ms: float,
    *,
    flowing: bool,
) -> Components | None:
    """Mean components over the measured samples of all answers; None where too few of them lie in known batches.

    `batches` is what `batches_of` gives; `flowing` says that a query takes events as they come.
    """
    attach(connection, "engine_batch", batches)
    try:
        parts = [_part(connection, each, window, flowing) for each in answered if each.events is not None]
    finally:
        detach(connection, "engine_batch")
    samples, covered = sum(p.samples for p in parts), sum(p.covered for p in parts)
    if covered == 0 or covered < FEWEST_COVERED * samples:
        return None
    outside, batch_wait, scheduling = (sum(p.waits[i] for p in parts) / covered for i in range(3))
    queued = sum(p.queued * p.covered for p in parts) / covered
    inside = max(sum(p.inside * p.covered for p in parts) / covered - queued, 0.0)
    transmission = min(round_trip_ms, inside)
    return Components(
        outside=outside + queued,
        batch_wait=batch_wait,
        scheduling=scheduling,
        processing=inside - transmission,
        transmission=transmission,
        latency=sum(p.latency for p in parts) / samples,
        covered=covered / samples,
    )


def _part(connection: duckdb.DuckDBPyConnection, each: Answered, window: Window, flowing: bool) -> _Part:
    in_batch = f"""
        asof left join (select * from engine_batch where query = {text_literal(each.answer.stage)}) b
          on b."partition" = e."partition" and b.start_offset <= e."offset"
    """
    samples = one_row(
        connection,
        f"""
        select count(*), count(*) filter (known), coalesce(sum(greatest(answered_ms - append_ms, 0)), 0),
               {_summed("greatest(closed_before_ms - append_ms, 0)")},
               {_summed("greatest(opened_ms - greatest(append_ms, closed_before_ms), 0)")},
               {_summed("greatest(adding_ms - greatest(append_ms, opened_ms, closed_before_ms), 0)")}
        from (select e.*, b.*, e."offset" < coalesce(b.end_offset, 0) as known from {each.events} e {in_batch}
              where e."index" >= {window.warmup_events})
        """,
    )
    rest = f"""
        select b.batch, floor((e.append_ms - {window.start_ms}) / 1000)::bigint as second,
               greatest(o.append_ms - greatest(e.append_ms, b.adding_ms), 0) as inside
        from {each.outputs} o
        join input_event e on e."partition" = o.origin_partition and e."offset" = o.origin_offset
        {in_batch}
        where e."index" >= {window.warmup_events} and e."offset" < b.end_offset
    """
    inside = _inside(connection, each, in_batch, rest, window)
    queued = _queued(connection, each, rest, window) if flowing else 0.0
    return _Part(int(samples[0]), int(samples[1]), float(samples[2]), _three(samples[3:]), inside, queued)


def _summed(expression: str) -> str:
    return f"coalesce(sum({expression}) filter (known), 0)"


def _three(sums: tuple[Any, ...]) -> tuple[float, float, float]:
    outside, batch_wait, scheduling = (float(value) for value in sums)
    return outside, batch_wait, scheduling


def _inside(connection: duckdb.DuckDBPyConnection, each: Answered, in_batch: str, rest: str, window: Window) -> float:
    """The mean over the outputs of each batch, batches weighed by their samples."""
    (mean,) = one_row(
        connection,
        f"""
        select sum(n * inside) / sum(n) from (
            select b.batch, count(*) as n from {each.events} e {in_batch}
            where e."index" >= {window.warmup_events} and e."offset" < b.end_offset group by b.batch)
        join (select batch, avg(inside) as inside from ({rest}) group by batch) using (batch)
        """,
    )
    return float(mean or 0.0)


def _queued(connection: duckdb.DuckDBPyConnection, each: Answered, rest: str, window: Window) -> float:
    """The mean over samples of how much longer than the trial's fastest even the fastest output of their second took.

    A query that keeps up answers some event of every second at once, also where it pauses; one that is behind none.
    """
    rows = connection.execute(
        f"""
        select fastest, n from (select second, min(inside) as fastest from ({rest}) group by second)
        join (select floor((append_ms - {window.start_ms}) / 1000)::bigint as second, count(*) as n
              from {each.events} where "index" >= {window.warmup_events} group by 1) using (second)
        """
    ).fetchall()
    if not rows:
        return 0.0
    fastest, n = np.array(rows, np.float64).T
    beyond = np.maximum(fastest - fastest.min() - JITTER_MS, 0)
    return float(np.average(beyond, weights=n))
