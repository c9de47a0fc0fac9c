"""Quantiles of a span of time within a trial: from its raw samples, or from its counts where no more is kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from streamgauge.measure.quantiles import Quantiles, quantiles_of_counts
from streamgauge.store.tables import text_literal

_FAR = 2.0**62


@dataclass(frozen=True)
class Span:
    """Seconds of a trial, counted from its first measured event: from the first, up to and without the second."""

    from_s: float
    to_s: float

    @property
    def unbounded(self) -> bool:
        """Whether it holds the whole trial, whatever its length."""
        return math.isinf(self.from_s) and math.isinf(self.to_s)


@dataclass(frozen=True)
class SpanQuantiles:
    """Quantiles of a span; `exact` is False where it was rounded to the slots of stored counts."""

    quantiles: Quantiles
    exact: bool

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {**self.quantiles.as_dict(), "exact": self.exact}


def of_samples(
    connection: duckdb.DuckDBPyConnection, samples: Path, started_at_ms: float, span: Span, kind: str = "event"
) -> SpanQuantiles:
    """Quantiles of the samples of a kind whose event entered the log within the span."""
    # Counting first leaves a row per millisecond, whatever the number of samples; what is below 0 counts as 0.
    found = connection.execute(
        f"""
        select greatest(latency_ms, 0) as waited_ms, count(*) as n
        from read_parquet({text_literal(str(samples))})
        where kind = ? and at_ms >= ? and at_ms < ? group by waited_ms
        """,
        [kind, *_instants(started_at_ms, span)],
    ).fetchnumpy()
    return SpanQuantiles(quantiles_of_counts(found["waited_ms"], found["n"]), exact=True)


def of_counts(connection: duckdb.DuckDBPyConnection, latency: Path, span: Span, kind: str = "event") -> SpanQuantiles:
    """Quantiles of the slots of counts of a kind that begin within the span."""
    found = connection.execute(
        f"""
        select latency_ms, sum("count")::bigint as n from read_parquet({text_literal(str(latency))})
        where kind = ? and "second" >= ? and "second" < ? group by latency_ms
        """,
        [kind, _whole(span.from_s, math.floor), _whole(span.to_s, math.ceil)],
    ).fetchnumpy()
    return SpanQuantiles(quantiles_of_counts(found["latency_ms"], found["n"]), exact=False)


def _instants(started_at_ms: float, span: Span) -> tuple[int, int]:
    low, high = (_whole(started_at_ms + each * 1000, math.ceil) for each in (span.from_s, span.to_s))
    return low, high


def _whole(value: float, towards: Callable[[float], int]) -> int:
    """A bound as a whole number: compared with one, whole groups of rows are passed over unread."""
    return towards(min(max(value, -_FAR), _FAR))
